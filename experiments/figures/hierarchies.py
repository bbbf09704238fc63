"""Hierarchies and Privlet on a base grid (figure "hie_flat" of the paper)."""

from matplotlib.figure import Figure

from experiments.figures.means import Means, Scene
from experiments.figures.series import PALEST, Series
from experiments.figures.style import candlesticks, empty, in_style, label_first, plain_log, tiles
from experiments.figures.variant import Variant
from experiments.suites.hierarchies import PAPER_SIDE, base_side
from experiments.trial import Row


def flat(side: int) -> Variant:
    """UG on a grid."""
    return Variant.of("ug", side=side)


def wavelet(side: int) -> Variant:
    """Privlet on a grid."""
    return Variant.of("privlet", side=side)


@in_style
def draw(rows: list[Row]) -> Figure:
    """Candlesticks of the best UG, UG and Privlet on the base grid and the paper's, and every hierarchy."""
    means = Means(rows)
    scenes = [scene for scene in means.paper_scenes() if hierarchies(means, scene)]
    if not scenes:
        return empty("no hierarchy was run")
    figure, places = tiles(len(scenes), height=3.4)
    for axes, scene in zip(places, scenes, strict=True):
        candlesticks(axes, means, scene, _sticks(means, scene))
        axes.set_title(scene.title, loc="left")
        plain_log(axes)
    label_first(places, "relative error")
    return figure


def hierarchies(means: Means, scene: Scene) -> list[Variant]:
    """Hierarchies on the base grid, by branching and depth."""
    found = [variant for variant in means.variants(scene, "hierarchy") if variant["side"] == base_side(scene.dataset)]
    return sorted(found, key=lambda variant: (int(str(variant["branching"])), int(str(variant["levels"]))))


def _sticks(means: Means, scene: Scene) -> list[Series]:
    grids = [one(side) for side in sorted({base_side(scene.dataset), PAPER_SIDE}) for one in (flat, wavelet)]
    wanted = [variant for variant in (*grids, *hierarchies(means, scene)) if means.has(scene, variant)]
    sticks = [Series(label=variant.label, variant=variant) for variant in wanted]
    best = means.best(scene, "ug", "side")
    return [Series(label=f"best {best.label}", variant=best, white=PALEST / 2), *sticks] if best else sticks
