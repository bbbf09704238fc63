"""Illustration of the data sets: where their points are (figure 2 of the paper)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from experiments.datasets import DATASETS
from experiments.figures.means import MADE_UP, PAPER_NAMES, dataset_label, dataset_order
from experiments.figures.style import empty, in_style, tiles
from experiments.figures.symbols import DASH, TIMES
from experiments.figures.table import Table
from experiments.trial import Row
from hushgrid.errors import InputError

PIXELS = 200  # of the longer side of a picture


@in_style
def draw(rows: list[Row]) -> Figure:
    """One picture a data set that was run: points per pixel, dark where there are many."""
    names = sorted({row["dataset"] for row in rows if row.get("dataset") in DATASETS}, key=dataset_order)
    if not names:
        return empty("no data set was run")
    figure, places = tiles(len(names), columns=5, height=2.9)
    for axes, name in zip(places, names, strict=True):
        _density(axes, name)
    return figure


def table(rows: list[Row]) -> Table:
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
