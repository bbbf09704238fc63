"""Final comparison: six methods of the paper (figures "compare" and "absolute"), and what came since."""

from matplotlib.figure import Figure

from experiments.figures.exhibit import Exhibit
from experiments.figures.means import Means, Scene
from experiments.figures.series import PALEST, Series
from experiments.figures.style import candlesticks, draw_pairs, empty, in_style, label_first, panels, plain_log, tiles
from experiments.figures.variant import Variant
from experiments.trial import Row

NEWCOMERS = ("hb", "privtree", "dawa", "staq", "auto")  # beyond the paper
UNTUNED = ("KD-hybrid", "UG, suggested", "AG, suggested")  # what a user gets without looking at the truth
EPSILONS = (0.01, 0.1, 1.0)


def contenders(means: Means, scene: Scene) -> list[Series]:
    """The paper's six methods, in its order, and KD-hybrid as we have it, as far as they were run."""
    best_ug, best_ag = means.best(scene, "ug", "side"), means.best(scene, "ag", "first_side")
    wanted = (
        ("KD-hybrid", Variant.of("kd-hybrid-paper"), 0.0),
        ("KD-hybrid, ours", Variant.of("kd-hybrid"), PALEST / 2),
        ("UG, best size", best_ug, PALEST / 2),
        ("Privlet, that size", Variant.of("privlet", side=best_ug["side"]) if best_ug else None, 0.0),
        ("AG, best m₁", best_ag, PALEST / 2),
        ("UG, suggested", Variant.of("ug"), 0.0),
        ("AG, suggested", Variant.of("ag"), 0.0),
    )
    return [
        Series(label=label, variant=variant, white=white)
        for label, variant, white in wanted
        if variant and means.has(scene, variant)
    ]


def newcomers(means: Means, scene: Scene) -> list[Series]:
    """Methods that the paper could not know."""
    wanted = [Variant.of(name) for name in NEWCOMERS]
    return [Series(label=variant.label, variant=variant) for variant in wanted if means.has(scene, variant)]


@in_style
def draw_relative(rows: list[Row]) -> Figure:
    """For each set and budget, lines by query size and candlesticks over all sizes."""
    means = Means(rows)
    return draw_pairs(means, means.paper_scenes(), lines=contenders, sticks=contenders)


@in_style
def draw_absolute(rows: list[Row]) -> Figure:
    """Candlesticks on a log axis, because absolute errors have large ranges."""
    means = Means(rows)
    scenes = [scene for scene in means.paper_scenes() if contenders(means, scene)]
    if not scenes:
        return empty("not run")
    figure, places = tiles(len(scenes), height=3.2)
    for axes, scene in zip(places, scenes, strict=True):
        candlesticks(axes, means, scene, contenders(means, scene), error="absolute")
        axes.set_title(scene.title, loc="left")
        plain_log(axes)
    label_first(places, "absolute error")
    return figure


@in_style
def draw_beyond(rows: list[Row]) -> Figure:
    """Candlesticks of what a user gets without tuning, one row a set, one column a budget, on a log axis."""
    means = Means(rows)
    scenes = [scene for scene in means.paper_scenes(epsilons=EPSILONS) if newcomers(means, scene)]
    if not scenes:
        return empty("not run")
    datasets = list(dict.fromkeys(scene.dataset for scene in scenes))
    epsilons = sorted({scene.epsilon for scene in scenes})
    figure, grid = panels(len(datasets), len(epsilons), height=3.0)
    for line, dataset in zip(grid, datasets, strict=True):
        line[0].set_ylabel("relative error")
        for axes, epsilon in zip(line, epsilons, strict=True):
            scene = Scene(dataset=dataset, epsilon=epsilon)
            if scene not in scenes:
                axes.set_axis_off()
                continue
            candlesticks(axes, means, scene, _untuned(means, scene))
            axes.set_title(scene.label, loc="left")
            plain_log(axes)
    return figure


def _untuned(means: Means, scene: Scene) -> list[Series]:
    return [*(stick for stick in contenders(means, scene) if stick.label in UNTUNED), *newcomers(means, scene)]


RELATIVE = Exhibit(
    title="Final comparison, relative error",
    source="Section V-D, figure compare",
    caption="Paler: the same method with the size of lowest observed error.",
    draw=draw_relative,
)


ABSOLUTE = Exhibit(
    title="Final comparison, absolute error",
    source="Section V-D, figure absolute",
    caption="The same methods on a log axis.",
    draw=draw_absolute,
)


BEYOND = Exhibit(
    title="Final comparison with newer methods and a smaller budget",
    caption="Every method as it comes, without looking at the truth.",
    draw=draw_beyond,
)
