"""KD-standard, KD-hybrid and UG over sizes (figure "kd1" of the paper)."""

from matplotlib.figure import Figure

from experiments.figures.means import Means, Scene
from experiments.figures.pairs import draw_pairs
from experiments.figures.series import PALEST, Series, shades
from experiments.figures.style import in_style
from experiments.figures.variant import PAPER, Variant
from experiments.trial import Row


@in_style
def draw(rows: list[Row]) -> Figure:
    """For each set and budget, lines by query size and candlesticks over all sizes."""
    means = Means(rows)
    return draw_pairs(means, means.paper_scenes(), lines=_lines, sticks=_sticks)


def _lines(means: Means, scene: Scene) -> list[Series]:
    sizes, best = list(means.near_best(scene, "ug", "side").values()), means.best(scene, "ug", "side")
    if best is None:
        return _trees(means, scene)
    chosen = [("UG, smallest size shown", sizes[0]), ("UG, best size", best), ("UG, largest size shown", sizes[-1])]
    return [*_trees(means, scene), *shades(chosen)]


def _sticks(means: Means, scene: Scene) -> list[Series]:
    sizes = [(f"UG {side}", variant) for side, variant in means.near_best(scene, "ug", "side").items()]
    return [*_trees(means, scene), *shades(sizes)]


def _trees(means: Means, scene: Scene) -> list[Series]:
    trees = [Variant.of(name) for tree in ("kd", "kd-hybrid") for name in (f"{tree}-paper", tree)]
    return [
        Series(label=variant.label, variant=variant, white=0.0 if variant.method.endswith(PAPER) else PALEST / 2)
        for variant in trees
        if means.has(scene, variant)
    ]
