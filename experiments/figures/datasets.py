"""The data sets, and the sizes suggested and found best on them (figure 2 and Table II of the paper)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from experiments.datasets import DATASETS
from experiments.estimate import MISSING, Estimate
from experiments.figures.exhibit import DASH, TIMES, Exhibit, Table, number, span
from experiments.figures.means import MADE_UP, PAPER_NAMES, Means, Scene, dataset_label, dataset_order
from experiments.figures.style import empty, in_style, tiles
from experiments.figures.variant import Variant
from experiments.trial import Row
from hushgrid.errors import InputError

PIXELS = 200  # of the longer side of a picture
BEST_WITHIN = 1.10  # sizes whose relative error is within this factor of the lowest count as best
PAPER: dict[tuple[str, float], tuple[int, tuple[int, int], tuple[int, int]]] = {  # UG suggested, UG actual, AG actual
    ("road", 1.0): (400, (96, 192), (32, 48)),
    ("checkin", 1.0): (316, (192, 384), (48, 96)),
    ("landmark", 1.0): (300, (256, 512), (64, 128)),
    ("storage", 1.0): (30, (32, 64), (12, 32)),
    ("road", 0.1): (126, (48, 128), (10, 32)),
    ("checkin", 0.1): (100, (64, 128), (16, 48)),
    ("landmark", 0.1): (95, (64, 128), (32, 64)),
    ("storage", 0.1): (10, (10, 32), (10, 16)),
}


@in_style
def draw_points(rows: list[Row]) -> Figure:
    """One picture a data set that was run: points per pixel, dark where there are many."""
    names = sorted({row["dataset"] for row in rows if row.get("dataset") in DATASETS}, key=dataset_order)
    if not names:
        return empty("no data set was run")
    figure, places = tiles(len(names), columns=5, height=2.9)
    for axes, name in zip(places, names, strict=True):
        _density(axes, name)
    return figure


def size_table(rows: list[Row]) -> Table:
    """Domain and query sizes of each data set that was run."""
    names = sorted({row["dataset"] for row in rows if row.get("dataset") in DATASETS}, key=dataset_order)
    return Table(
        headings=(
            "data set",
            "in the paper",
            "points",
            "domain, degrees",
            "largest query q6",
            "smallest query q1",
            "q6 / domain",
        ),
        lines=tuple(_line(name) for name in names),
    )


def _line(name: str) -> tuple[str, ...]:
    domain, (width, height) = DATASETS[name].domain, DATASETS[name].largest_query
    share = width * height / (domain.width * domain.height)
    stands_for = PAPER_NAMES.get(name, DASH) + " (made up)" * (name in MADE_UP)
    return (
        *(name, stands_for, f"{DATASETS[name].size:,}", f"{domain.width:g} {TIMES} {domain.height:g}"),
        *(f"{width:g} {TIMES} {height:g}", f"{width / 32:g} {TIMES} {height / 32:g}", f"{share:.0%}"),
    )


def _density(axes: Axes, name: str) -> None:
    dataset = DATASETS[name]
    west, south, east, north = dataset.domain.bounds
    longer = max(east - west, north - south)
    bins = [round(PIXELS * (east - west) / longer), round(PIXELS * (north - south) / longer)]
    axes.set_title(dataset_label(name).replace(" (", "\n("))
    axes.grid(visible=False)
    try:
        points = dataset.points()
    except InputError:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "points not at hand", ha="center", va="center", transform=axes.transAxes)
        return
    counts, _ = np.histogramdd(points, bins=bins, range=[(west, east), (south, north)])
    picture = np.ma.masked_equal(counts.T, 0)
    axes.imshow(
        picture,
        origin="lower",
        extent=(west, east, south, north),
        cmap="viridis_r",
        norm=LogNorm(vmin=1, vmax=max(2, counts.max())),
        interpolation="nearest",
        aspect=1 / np.cos(np.radians((south + north) / 2)),
    )
    axes.tick_params(labelsize=8)


def side_table(rows: list[Row]) -> Table:
    """Suggested size and best range of UG and AG for each set and budget, beside what the paper found on its own."""
    means = Means(rows)
    return Table(
        headings=(
            *("data set", "ε", "UG suggested", "UG best", "error, suggested / best"),
            *("AG m₁ suggested", "AG m₁ best", "error, suggested / best"),
            *("paper's UG suggested", "paper's UG best", "paper's AG m₁ best"),
        ),
        lines=tuple(_sides(means, scene) for scene in means.paper_scenes()),
    )


def _sides(means: Means, scene: Scene) -> tuple[str, ...]:
    paper = PAPER.get((PAPER_NAMES.get(scene.dataset, ""), scene.epsilon))
    return (
        *(dataset_label(scene.dataset), f"{scene.epsilon:g}"),
        number(means.suggested_side(scene), "d"),
        span(means.best_range(scene, "ug", "side", within=BEST_WITHIN)),
        _to_best(means, scene, "ug", "side").text(),
        number(means.suggested_first_side(scene), "d"),
        span(means.best_range(scene, "ag", "first_side", within=BEST_WITHIN)),
        _to_best(means, scene, "ag", "first_side").text(),
        *((str(paper[0]), span(paper[1]), span(paper[2])) if paper else (DASH,) * 3),
    )


def _to_best(means: Means, scene: Scene, method: str, parameter: str) -> Estimate:
    """Relative error at the suggested size, relative to that at the best."""
    best = means.best(scene, method, parameter)
    return means.estimate(scene, Variant.of(method)) / means.estimate(scene, best) if best else MISSING


DATASETS_SHOWN = Exhibit(
    title="The data sets",
    source="Figure 2 and Table II",
    caption="Points per pixel on a log scale, dark where there are many.",
    draw=draw_points,
    table=size_table,
)


GRID_SIZES = Exhibit(
    title="Suggested sizes and sizes that did best",
    source="Table II",
    caption="Best are the sizes about the one of lowest mean relative error that come within 10 % of it. The "
    "paper's own programs appear to take the domain from the data. We do not, because it would reveal the "
    "outermost points; on us_chains a domain that fits the data lowers UG's error 1.3 to 1.5 times.",
    table=side_table,
)
