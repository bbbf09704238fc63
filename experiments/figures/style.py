"""The look of every figure: its settings, panels, candlesticks, lines by query size, and files."""

import io
import math
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from matplotlib import rc_context, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from PIL import Image

from experiments.figures.means import QUERY_SIZES, Means, Scene
from experiments.figures.series import INK, Series
from experiments.trial import Row

PAGE_WIDTH = 12.0  # inches
DPI = 150
COLOURS = 256  # of a PNG
LOOK: Any = {  # matplotlib's type is one of all its names
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.labelsize": 10,
    "axes.edgecolor": "#666666",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "text.color": INK,
    "figure.facecolor": "white",
    "pdf.fonttype": 42,
}
LOG_DIGITS = {8.0: (1, 1.5, 2, 3, 5, 7), 200.0: (1, 2, 5), math.inf: (1,)}  # labelled on log axes, by range
CANDLE = ("p25", "median", "p75", "p95", "mean")
BRACKET: Any = {"color": "black", "elinewidth": 1.0, "capsize": 3.0, "capthick": 1.0, "zorder": 4}
Chooser = Callable[[Means, Scene], list[Series]]


def in_style(draw: Callable[[list[Row]], Figure]) -> Callable[[list[Row]], Figure]:
    """A drawing in the look of this file, whatever the reader's own settings are."""

    @wraps(draw)
    def styled(rows: list[Row]) -> Figure:
        with rc_context({**rcParamsDefault, **LOOK}):
            return draw(rows)

    return styled


def panels(rows: int, columns: int, *, height: float = 2.7) -> tuple[Figure, list[list[Axes]]]:
    """A figure as wide as a page with a table of panels, each about `height` inches high."""
    layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, wspace=0.03, hspace=0.04)
    figure = Figure(figsize=(PAGE_WIDTH, height * rows + 0.5), layout=layout)
    FigureCanvasAgg(figure)
    return figure, [list(line) for line in figure.subplots(rows, columns, squeeze=False)]


def tiles(number: int, *, columns: int = 4, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """A figure with a number of panels, line by line; places left over stay blank."""
    across = min(columns, number)
    figure, grid = panels(-(-number // across), across, height=height)
    places = [axes for line in grid for axes in line]
    for axes in places[number:]:
        axes.set_axis_off()
    return figure, places[:number]


def label_first(places: Sequence[Axes], label: str) -> None:
    """Name the vertical axis of the panels at the left."""
    for axes in places:
        place = axes.get_subplotspec()
        if place and place.is_first_col():
            axes.set_ylabel(label)


def empty(message: str) -> Figure:
    """A figure that says what was not run."""
    figure, [[axes]] = panels(1, 1, height=0.6)
    axes.set_axis_off()
    axes.text(0.5, 0.5, message, ha="center", va="center", color="#666666", fontsize=11)
    return figure


def candlesticks(axes: Axes, means: Means, scene: Scene, sticks: Sequence[Series], *, error: str = "relative") -> None:
    """Profile of the errors of each series: 25 % to 95 % a line, median to 75 % a box, the mean a black bar.

    The mean has a bracket of one standard error to both sides.
    """
    for place, stick in enumerate(sticks):
        p25, median, p75, p95, mean = (means.value(scene, stick.variant, f"{error}_{name}") for name in CANDLE)
        deviation = means.estimate(scene, stick.variant, f"{error}_mean").error
        axes.vlines(place, p25, p95, color=stick.colour, linewidth=1.8)
        axes.bar(place, p75 - median, bottom=median, width=0.62, color=stick.colour, zorder=2)
        axes.hlines(mean, place - 0.4, place + 0.4, color="black", linewidth=2.2, zorder=3)
        axes.errorbar(place, mean, yerr=deviation, **BRACKET)
    labels = [stick.label for stick in sticks]
    axes.set_xticks(range(len(sticks)), labels, rotation=55, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.7, len(sticks) - 0.3)


def query_lines(axes: Axes, means: Means, scene: Scene, lines: Sequence[Series], *, error: str = "relative") -> None:
    """Mean error by query size with its standard error, one line a series."""
    places = range(1, len(QUERY_SIZES) + 1)
    for line in lines:
        errors = [means.estimate(scene, line.variant, f"{error}_mean", queries) for queries in QUERY_SIZES]
        axes.errorbar(
            places,
            [each.value for each in errors],
            yerr=[each.error for each in errors],
            label=line.label,
            color=line.colour,
            marker=line.marker,
            markersize=5,
            linewidth=1.6,
            elinewidth=1.0,
        )
    axes.set_xticks(places, QUERY_SIZES)
    axes.set_xlabel("query size")


def shared_legend(figure: Figure, axes: Sequence[Axes], *, columns: int = 6) -> None:
    """One legend above all panels, with each label once, in the order of the fullest panel."""
    found = sorted((place.get_legend_handles_labels() for place in axes), key=lambda entry: -len(entry[1]))
    entries = {
        label: handle for handles, labels in reversed(found) for handle, label in zip(handles, labels, strict=True)
    }
    ordered = list(dict.fromkeys(label for _, labels in found for label in labels))
    if entries:
        figure.legend([entries[label] for label in ordered], ordered, loc="outside upper center", ncols=columns)


def plain_log(axes: Axes, *, across: bool = False) -> None:
    """A log axis labelled with plain numbers, more of them in each decade where there are few decades."""
    (axes.set_xscale if across else axes.set_yscale)("log")
    axis = axes.xaxis if across else axes.yaxis
    low, high = axis.get_data_interval()
    finest = next(digits for decades, digits in LOG_DIGITS.items() if high < decades * low or decades == math.inf)
    axis.set_major_locator(LogLocator(subs=finest))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG and PDF, without the date, so that the same rows give the same bytes.

    The PNG has a palette, which makes it a third of the size; a drawing has few colours.
    """
    with rc_context(LOOK):
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi=DPI)
        with Image.open(drawn) as picture:
            few = picture.convert("RGB").quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(folder / f"{name}.png", optimize=True)
        figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})


def draw_pairs(means: Means, scenes: Sequence[Scene], *, lines: Chooser, sticks: Chooser) -> Figure:
    """Pairs of panels by relative error, two budgets side by side; scenes without anything to show are left out."""
    shown = [scene for scene in scenes if sticks(means, scene)]
    if not shown:
        return empty("not run")
    datasets = list(dict.fromkeys(scene.dataset for scene in shown))
    epsilons = sorted({scene.epsilon for scene in shown})
    figure, grid = panels(len(datasets), 2 * len(epsilons), height=3.0)
    for row, dataset in enumerate(datasets):
        for column, epsilon in enumerate(epsilons):
            left, right = grid[row][2 * column : 2 * column + 2]
            scene = Scene(dataset=dataset, epsilon=epsilon)
            if scene not in shown:
                left.set_axis_off()
                right.set_axis_off()
                continue
            query_lines(left, means, scene, lines(means, scene))
            candlesticks(right, means, scene, sticks(means, scene))
            left.set_title(scene.label, loc="left")
            left.set_ylabel("relative error")
            for axes in (left, right):
                axes.set_ylim(bottom=0)
    shared_legend(figure, [axes for line in grid for axes in line])
    return figure
