"""AG with the size of its first level varied (first and second column of figure "ag0_param" of the paper)."""

from matplotlib.figure import Figure

from experiments.figures.means import Means, Scene
from experiments.figures.pairs import draw_pairs
from experiments.figures.series import Series, shades
from experiments.figures.style import in_style
from experiments.figures.variant import Variant
from experiments.trial import Row

RANKS = ("AG, best m₁", "AG, second best m₁", "AG, third best m₁")


@in_style
def draw(rows: list[Row]) -> Figure:
    """Lines of the best UG, Privlet on its grid and the three best AG; candlesticks of AG over m₁."""
    means = Means(rows)
    return draw_pairs(means, means.paper_scenes(), lines=_lines, sticks=_sticks)


def _lines(means: Means, scene: Scene) -> list[Series]:
    sizes = means.sizes(scene, "ag", "first_side").values()
    leaders = zip(RANKS, sorted(sizes, key=lambda variant: means.value(scene, variant)), strict=False)
    ranked = [*reversed(shades([*reversed(list(leaders))]))]
    best = means.best(scene, "ug", "side")
    if best is None:
        return ranked
    rivals = [("UG, best size", best), ("Privlet, same size", Variant.of("privlet", side=best["side"]))]
    return [*(Series(label=label, variant=rival) for label, rival in rivals if means.has(scene, rival)), *ranked]


def _sticks(means: Means, scene: Scene) -> list[Series]:
    sizes = means.near_best(scene, "ag", "first_side")
    sticks = shades([(f"AG {side}", variant) for side, variant in sizes.items()])
    suggested = Variant.of("ag")
    if sticks and means.has(scene, suggested):
        sticks.append(Series(label=f"suggested: {means.suggested_first_side(scene)}", variant=suggested))
    return sticks
