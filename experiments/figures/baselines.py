"""Trees, hierarchies and Privlet against flat grids (figures "kd1" and "hie_flat" of the paper)."""

from matplotlib.figure import Figure

from experiments.figures.exhibit import CANDLESTICK, TIMES, Exhibit
from experiments.figures.means import Means, Scene
from experiments.figures.series import PALEST, Series, shades
from experiments.figures.style import candlesticks, draw_pairs, empty, in_style, label_first, plain_log, tiles
from experiments.figures.variant import PAPER, Variant
from experiments.suites.hierarchies import PAPER_SIDE, base_side
from experiments.trial import Row


@in_style
def draw_trees(rows: list[Row]) -> Figure:
    """For each set and budget, lines by query size and candlesticks over all sizes."""
    means = Means(rows)
    return draw_pairs(means, means.paper_scenes(), lines=_tree_lines, sticks=_tree_sticks)


def _tree_lines(means: Means, scene: Scene) -> list[Series]:
    sizes, best = list(means.near_best(scene, "ug", "side").values()), means.best(scene, "ug", "side")
    if best is None:
        return _trees(means, scene)
    chosen = [("UG, smallest size shown", sizes[0]), ("UG, best size", best), ("UG, largest size shown", sizes[-1])]
    return [*_trees(means, scene), *shades(chosen)]


def _tree_sticks(means: Means, scene: Scene) -> list[Series]:
    sizes = [(f"UG {side}", variant) for side, variant in means.near_best(scene, "ug", "side").items()]
    return [*_trees(means, scene), *shades(sizes)]


def _trees(means: Means, scene: Scene) -> list[Series]:
    trees = [Variant.of(name) for tree in ("kd", "kd-hybrid") for name in (f"{tree}-paper", tree)]
    return [
        Series(label=variant.label, variant=variant, white=0.0 if variant.method.endswith(PAPER) else PALEST / 2)
        for variant in trees
        if means.has(scene, variant)
    ]


def flat(side: int) -> Variant:
    """UG on a grid."""
    return Variant.of("ug", side=side)


def wavelet(side: int) -> Variant:
    """Privlet on a grid."""
    return Variant.of("privlet", side=side)


@in_style
def draw_hierarchies(rows: list[Row]) -> Figure:
    """Candlesticks of the best UG, UG and Privlet on the base grid and the paper's, and every hierarchy."""
    means = Means(rows)
    scenes = [scene for scene in means.paper_scenes() if hierarchies(means, scene)]
    if not scenes:
        return empty("no hierarchy was run")
    figure, places = tiles(len(scenes), height=3.4)
    for axes, scene in zip(places, scenes, strict=True):
        candlesticks(axes, means, scene, _hierarchy_sticks(means, scene))
        axes.set_title(scene.title, loc="left")
        plain_log(axes)
    label_first(places, "relative error")
    return figure


def hierarchies(means: Means, scene: Scene) -> list[Variant]:
    """Hierarchies on the base grid, by branching and depth."""
    found = [variant for variant in means.variants(scene, "hierarchy") if variant["side"] == base_side(scene.dataset)]
    return sorted(found, key=lambda variant: (int(str(variant["branching"])), int(str(variant["levels"]))))


def _hierarchy_sticks(means: Means, scene: Scene) -> list[Series]:
    grids = [one(side) for side in sorted({base_side(scene.dataset), PAPER_SIDE}) for one in (flat, wavelet)]
    wanted = [variant for variant in (*grids, *hierarchies(means, scene)) if means.has(scene, variant)]
    sticks = [Series(label=variant.label, variant=variant) for variant in wanted]
    best = means.best(scene, "ug", "side")
    return [Series(label=f"best {best.label}", variant=best, white=PALEST / 2), *sticks] if best else sticks


TREES = Exhibit(
    title="KD-standard, KD-hybrid and UG over sizes",
    source="Section V-B, figure kd1",
    caption=f"Sizes of UG whose error is at most three times the lowest. {CANDLESTICK}",
    draw=draw_trees,
)


HIERARCHIES = Exhibit(
    title="Hierarchies and Privlet on a base grid",
    source="Section V-B, figure hie_flat",
    caption=f"H b,d has d grids, a cell of one b {TIMES} b cells of the next. The base grid, 288 or 144, "
    "is in proportion to the suggested size as the paper's 360; UG and Privlet are shown on 360 as well. The "
    "axis is logarithmic, because Privlet would flatten the rest.",
    draw=draw_hierarchies,
)
