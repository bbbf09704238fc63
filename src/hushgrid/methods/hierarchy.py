"""Hierarchies: grids over a base grid, with least squares.

H_{b,d} has a given branching and number of grids. Reference: Hay, Rastogi, Miklau, Suciu: "Boosting the Accuracy of
Differentially Private Histograms Through Consistency", VLDB 2010; on a grid, Qardaji, Yang, Li, ICDE 2013, section V,
"effect of adding hierarchies". Aliases: H_{2,3} with side 360 has grids of 90, 180 and 360 cells a side.

HB is the hierarchy of lowest variance. Reference: Qardaji, Yang, Li: "Understanding Hierarchical Methods for
Differentially Private Histograms", VLDB 2013, whose criterion is the mean variance over all range queries; in two
dimensions and after least squares it is derived in docs/privacy/hierarchies.md. Aliases: H_b with the best b.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT, check_cells
from hushgrid.geometry.guidelines import LARGEST_SIDE, clamp_side, guideline_side
from hushgrid.methods.method import Examples, check_positive, check_side, check_whole, record
from hushgrid.methods.pyramids import base_cells, base_grid, grid_sides, measure_levels, nodes_of_pyramid, pyramid
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class Hierarchy:
    """A grid and coarser grids made of its cells.

    Each is measured with the same budget, and all are made to agree.

    Parameters
    ----------
    side : int, optional
        Cells per side of the finest grid, a multiple of ``branching ** (levels - 1)``; by default Guideline 1's,
        rounded up to one.
    branching : int
        Cells per side that a cell of the next finer grid is to a cell of a grid (b).
    levels : int
        Number of grids (d).
    c : float
        Constant of Guideline 1.

    Privacy
    -------
    The noisy size sizes the grids. The cells of each grid are disjoint, so a record changes one count of each of the d
    grids, and each grid gets a d-th of what the size has left of ε.
    """

    name: ClassVar[str] = "hierarchy"
    title: ClassVar[str] = "Hierarchy"
    gist: ClassVar[str] = "grids on grids, each counted, which favours large areas"
    examples: ClassVar[Examples] = Examples(small={"side": 8}, large={"side": 64})
    side: int | None = None
    branching: int = 2  # H_{2,3} is the paper's first hierarchy of more than two levels
    levels: int = 3
    c: float = 10.0  # Qardaji et al. 2013, Guideline 1

    def __post_init__(self) -> None:
        check_side(self.side, name="side")
        check_whole(self.branching, name="branching", low=2, high=LARGEST_SIDE)
        check_whole(self.levels, name="levels", low=1, high=LARGEST_SIDE.bit_length())
        check_positive(self.c, name="c")
        check_unit(self.unit)
        if self.side is not None:
            check_multiple(self.side, self.unit)
            nodes = nodes_of_pyramid(grid_sides(self.side, self.branching, self.levels))
            check_cells(nodes, what=f"Hierarchy of {nodes:,} cells")

    @classmethod
    def paper(cls, branching: int = 2, levels: int = 3) -> Self:
        """H_{b,d} on the paper's base grid of 360 a side."""
        return cls(side=360, branching=branching, levels=levels)

    @property
    def unit(self) -> int:
        """Finest cells along a side of a coarsest cell."""
        return int(self.branching ** (self.levels - 1))

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a hierarchy of grids."""
        if self.side is None:
            wanted = guideline_side(budget.noisy_size(counter), budget.epsilon, c=self.c)
            side, notes = round_up(wanted, self.unit, most_cells=budget.most_cells())
        else:
            side, notes = self.side, ()
        tree = pyramid(counter.domain, grid_sides(side, self.branching, self.levels))
        true_counts = counter.count(base_grid(tree))[base_cells(tree)]
        return Synopsis.infer(
            tree,
            measure_levels(budget, tree, true_counts, [Fraction(1, self.levels)] * self.levels),
            inference="least-squares",
            claim=budget.claim(),
            method=record(self, *notes),
        )


def round_up(wanted: int, unit: int, *, most_cells: int = GUIDELINE_CELL_LIMIT) -> tuple[int, tuple[str, ...]]:
    """The side wanted, rounded up to a multiple, and notes.

    There is a note if the side was clamped.

    Examples
    --------
    >>> round_up(361, 4)
    (364, ())
    """
    return clamp_side(math.ceil(wanted / unit) * unit, multiple_of=unit, most_cells=most_cells)


def check_unit(unit: int) -> None:
    """Refuse hierarchies whose coarsest cell would not fit."""
    if unit > LARGEST_SIDE:
        msg = (
            f"branching ** (levels - 1) must be at most {LARGEST_SIDE:,}, got {unit:,}. "
            "Pass a smaller branching or fewer levels."
        )
        raise ArgumentError(msg)


def check_multiple(side: int, unit: int) -> None:
    """Refuse a side that the coarser grids do not divide."""
    below = side // unit * unit
    if side != below:
        near = [str(multiple) for multiple in (below, below + unit) if multiple > 0]
        msg = f"side must be a multiple of branching ** (levels - 1) = {unit}, such as {' or '.join(near)}; got {side}."
        raise ArgumentError(msg)


@dataclass(frozen=True, kw_only=True)
class OptimalHierarchy:
    """A grid, and coarser ones that pay for their budget.

    Often there is one coarser grid, or none.

    Parameters
    ----------
    side : int, optional
        Cells per side of the finest grid; only grids that divide it are considered. By default Guideline 1's, rounded
        to the nearest side that the best grids divide.
    c : float
        Constant of Guideline 1.

    Privacy
    -------
    The noisy size sizes the grids, and their branching follows from the side alone. A record changes one count of each
    of the d grids, and each grid gets a d-th of what the size has left of ε.
    """

    name: ClassVar[str] = "hb"
    title: ClassVar[str] = "HB"
    gist: ClassVar[str] = "grids on grids with the least error for areas of all sizes"
    examples: ClassVar[Examples] = Examples(small={"side": 16}, large={"side": 64})
    side: int | None = None
    c: float = 10.0  # Qardaji et al. 2013 (ICDE), Guideline 1

    def __post_init__(self) -> None:
        check_side(self.side, name="side")
        check_positive(self.c, name="c")
        if self.side is not None:
            nodes = nodes_of_pyramid(dividing_grids(self.side))
            check_cells(nodes, what=f"Hierarchy of {nodes:,} cells")

    @classmethod
    def paper(cls) -> Self:
        """The default: the paper's criterion leaves nothing to choose."""
        return cls()

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish the best hierarchy of grids."""
        if self.side is None:
            wanted = guideline_side(budget.noisy_size(counter), budget.epsilon, c=self.c)
            sides, notes = nearest_grids(wanted, most_cells=budget.most_cells())
        else:
            sides, notes = dividing_grids(self.side), ()
        tree = pyramid(counter.domain, sides)
        true_counts = counter.count(base_grid(tree))[base_cells(tree)]
        return Synopsis.infer(
            tree,
            measure_levels(budget, tree, true_counts, [Fraction(1, len(sides))] * len(sides)),
            inference="least-squares",
            claim=budget.claim(),
            method=record(self, *notes, f"cells a side, grid by grid: {', '.join(map(str, sides))}"),
        )


def nearest_grids(wanted: int, *, most_cells: int = GUIDELINE_CELL_LIMIT) -> tuple[list[int], tuple[str, ...]]:
    """Sides of the best grids near the side wanted, and notes.

    There is a note if the side was clamped.

    Examples
    --------
    >>> nearest_grids(316)
    ([45, 315], ())
    """
    side, notes = clamp_side(wanted, most_cells=most_cells)
    branching, levels = min(hierarchies(side), key=lambda hierarchy: mean_variance(side, *hierarchy))
    unit = branching ** (levels - 1)
    coarsest = min(round(side / unit), math.isqrt(most_cells) // unit)
    return grid_sides(coarsest * unit, branching, levels), notes


def dividing_grids(side: int) -> list[int]:
    """Sides of the best grids that divide this one.

    Examples
    --------
    >>> dividing_grids(360), dividing_grids(317)
    ([45, 360], [317])
    """
    dividing = ((branching, levels) for branching, levels in hierarchies(side) if side % branching ** (levels - 1) == 0)
    return grid_sides(side, *min(dividing, key=lambda hierarchy: mean_variance(side, *hierarchy)))


def hierarchies(side: int) -> Iterator[tuple[int, int]]:
    """Every branching and number of grids that fit.

    The coarsest grid has at least one cell; the flat hierarchy comes first.

    Examples
    --------
    >>> list(hierarchies(4))
    [(1, 1), (2, 2), (3, 2), (4, 2), (2, 3)]
    """
    yield 1, 1
    for levels in range(2, side.bit_length() + 1):
        for branching in range(2, side + 1):
            if branching ** (levels - 1) > side:
                break
            yield branching, levels


def mean_variance(side: int, branching: int, levels: int) -> float:
    """Mean noise variance of rectangles after least squares.

    The unit is the variance of a count measured with all of the budget; with an equal share of it, the variance is
    ``levels**2``. The grids need not divide each other: their sides are ``side / branching**k``.

    Examples
    --------
    >>> mean_variance(100, 1, 1) > mean_variance(100, 5, 2)
    True
    """
    children = branching**2
    own = float(levels**2)
    below, total, cells = own, 0.0, float(side)
    for _ in range(levels - 1):
        coarser = cells / branching
        total += below * (mean_energy(cells) ** 2 - children * mean_energy(coarser) ** 2)
        below = 1 / (1 / own + 1 / (children * below))
        cells = coarser
    return total + below * mean_energy(cells) ** 2


def mean_energy(cells: float) -> float:
    """Mean sum of squared shares that an interval covers.

    The sum is over equal cells along an axis, the mean over intervals whose ends are uniform on it.

    Examples
    --------
    >>> mean_energy(1) == 1 / 6
    True
    """
    return (cells - 1) / 3 + 1 / (6 * cells)
