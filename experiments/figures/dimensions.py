"""Hierarchies in one, two and three dimensions (Section IV-C of the paper, where the third is a conjecture)."""

from collections import defaultdict
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.dimensions import border_share
from experiments.estimate import Estimate
from experiments.figures.exhibit import Exhibit, Table
from experiments.figures.series import BLUE, ORANGE, VERMILION
from experiments.figures.style import in_style, plain_log, shared_legend, tiles
from experiments.trial import ALL_SIZES, Row

COLOURS = {1: BLUE, 2: ORANGE, 3: VERMILION}  # of dimensions
MARKERS = {1: "o", 2: "s", 3: "^"}
GROUP = 4  # cells that share a larger one, as in the paper's example
CELLS = [10**exponent for exponent in range(2, 8)]


@dataclass(frozen=True, kw_only=True, order=True)
class Cube:
    """A number of cells in so many dimensions, and a budget."""

    cells: int
    epsilon: float
    dimensions: int


Errors = dict[tuple[int, int], Estimate]  # mean relative error by branching and number of grids; (any, 1) is flat


def cubes(rows: list[Row]) -> dict[Cube, Errors]:
    """Means over runs of the rows of dimensions."""
    groups: dict[Cube, dict[tuple[int, int], dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if "dimensions" in row and row["queries"] == ALL_SIZES:
            cube = Cube(cells=row["cells"], epsilon=row["epsilon"], dimensions=row["dimensions"])
            groups[cube][row["branching"], row["levels"]][row["seed"]] = row["relative_mean"]
    return {
        cube: {shape: Estimate.of(errors) for shape, errors in sorted(groups[cube].items())}
        for cube in sorted(groups)
        if any(levels == 1 for _, levels in groups[cube])
    }


def flat_error(errors: Errors) -> Estimate:
    """Error of the flat grid."""
    return next(error for (_, levels), error in errors.items() if levels == 1)


def best_hierarchy(errors: Errors, *branchings: int) -> tuple[tuple[int, int], Estimate] | None:
    """The hierarchy of some branchings, or of any, with the lowest error; and that error."""
    found = [
        ((branching, levels), error)
        for (branching, levels), error in errors.items()
        if levels > 1 and (not branchings or branching in branchings)
    ]
    return min(found, key=lambda one: one[1], default=None)


@in_style
def draw(rows: list[Row]) -> Figure:
    """The share of the domain on a query's border, and what hierarchies gain over a flat grid of as many cells."""
    found = cubes(rows)
    scenes = sorted({(cube.cells, cube.epsilon) for cube in found})
    figure, [first, *places] = tiles(1 + len(scenes), columns=3, height=3.1)
    _borders(first)
    for axes, (cells, epsilon) in zip(places, scenes, strict=True):
        for cube, errors in found.items():
            if (cube.cells, cube.epsilon) == (cells, epsilon):
                _gains(axes, cube, errors)
        axes.axhline(1, color="black", linewidth=0.9)
        axes.set_title(f"{cells:,} cells, ε = {epsilon:g}", loc="left")
        axes.set_xlabel("number of grids, one above the other")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("relative error / that of a flat grid")
        plain_log(axes)
    shared_legend(figure, [first])
    return figure


def table(rows: list[Row]) -> Table:
    """The flat grid and the best hierarchy in each number of dimensions."""
    return Table(
        headings=("cells", "ε", "dimensions", "flat", "best hierarchy", "its branching and grids", "best / flat"),
        lines=tuple(
            (
                *(f"{cube.cells:,}", f"{cube.epsilon:g}", str(cube.dimensions), flat_error(errors).short),
                *(best[1].short, "{}, {}".format(*best[0]), (best[1] / flat_error(errors)).text()),
            )
            for cube, errors in cubes(rows).items()
            if (best := best_hierarchy(errors))
        ),
    )


def _borders(axes: Axes) -> None:
    for dimensions, colour in COLOURS.items():
        shares = [border_share(dimensions, cells=cells, group=GROUP) for cells in CELLS]
        label = f"{dimensions} dimension" + "s" * (dimensions > 1)
        axes.plot(CELLS, shares, color=colour, marker=MARKERS[dimensions], label=label)
    axes.set_xscale("log")
    axes.set_title("border of a query, 2d (b/M)^(1/d) for b = 4", loc="left")
    axes.set_xlabel("number of cells, M")
    axes.set_ylabel("share of the domain")
    plain_log(axes)


def _gains(axes: Axes, cube: Cube, errors: Errors) -> None:
    colour, marker = COLOURS[cube.dimensions], MARKERS[cube.dimensions]
    flat = flat_error(errors)
    binary = {levels: error / flat for (branching, levels), error in errors.items() if branching == 2}
    ratios, bars = [one.value for one in binary.values()], [one.error for one in binary.values()]
    axes.errorbar(list(binary), ratios, yerr=bars, color=colour, marker=marker, markersize=5)
    wider = [(levels, error / flat) for (branching, levels), error in errors.items() if branching > 2]
    levels, ratios = [level for level, _ in wider], [ratio.value for _, ratio in wider]
    axes.scatter(levels, ratios, color=colour, marker=marker, alpha=0.35, s=22)


DIMENSIONS = Exhibit(
    title="Hierarchies in one, two and three dimensions",
    source="Section IV-C",
    caption="Lines: each grid twice as fine, along every axis, as the one above. Pale marks: wider branching. "
    "Below 1 the hierarchy is better than one flat grid with as many cells. Bars are standard errors.",
    draw=draw,
    table=table,
)
