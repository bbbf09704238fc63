"""DAG, the differentiated adaptive grid.

Reference: a section of the source of Qardaji, Yang, Li: "Differentially Private Grids for Geospatial Data", ICDE 2013,
that was left out of print ("The Differentiated Adaptive Grids Approach").
Aliases: none.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import DIVIDED, Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.guidelines import SMALLEST_FIRST_SIDE, clamp_first_side, clamp_sides, leaf_sides
from hushgrid.inference.measurements import Measurements, NoisyValues, Regions
from hushgrid.methods.method import Examples, check_positive, check_side, record
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis


def connected_groups(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Group of each chosen cell, -1 for the others.

    Cells that share an edge are in one group. Groups are numbered in the order of their first cells. Each cell takes
    the smallest number of its neighbours until nothing changes, in sweeps along all four directions.

    Examples
    --------
    >>> connected_groups(np.array([[True, False, True], [True, False, True], [False, True, False]]))
    array([[ 0, -1,  1],
           [ 0, -1,  1],
           [-1,  2, -1]])
    """
    far = chosen.size
    labels = np.where(chosen, np.arange(far).reshape(chosen.shape), far)
    while True:
        before = labels.copy()
        for view in (labels, labels[::-1], labels.T, labels.T[::-1]):
            for low, high in pairwise(view):
                np.minimum(high, low, out=high, where=(high < far) & (low < far))
        if np.array_equal(labels, before):
            break
    return np.where(chosen, np.searchsorted(np.unique(labels[chosen]), labels), -1)


@dataclass(frozen=True, kw_only=True)
class DifferentiatedGrid:
    """AG whose sparse cells are measured together.

    Parameters
    ----------
    first_side : int, optional
        First-level cells per side; by default half of Guideline 1's side, at least 10.
    alpha : float, or anything exact
        Share of the budget for the first level.
    c, c2 : float
        Constants of Guidelines 1 and 2.
    groups : "adjacent" or "all"
        Whether sparse cells are grouped with those they touch, or all into one group, as the authors wrote.

    Privacy
    -------
    The noisy size, the first-level counts (α) and then, with 1 - α, the counts of leaves of divided cells and of groups
    of undivided ones: disjoint, and a function of released first-level counts. Every record is in one cell of each.
    """

    name: ClassVar[str] = "dag"
    title: ClassVar[str] = "DAG"
    gist: ClassVar[str] = "a coarse grid divided again where many points are; sparse cells are counted together"
    examples: ClassVar[Examples] = Examples(small={"first_side": 3}, large={"first_side": 30})
    first_side: int | None = None
    alpha: Exactable = 0.5
    c: float = 10.0  # Guideline 1
    c2: float = 5.0  # Guideline 2
    groups: Literal["adjacent", "all"] = "adjacent"

    def __post_init__(self) -> None:
        check_side(self.first_side, name="first_side")
        exact_share(self.alpha, name="alpha")
        check_positive(self.c, name="c")
        check_positive(self.c2, name="c2")
        if self.groups not in ("adjacent", "all"):
            msg = f"groups must be 'adjacent' or 'all', got groups={self.groups!r}."
            raise ArgumentError(msg)

    @classmethod
    def paper(cls) -> Self:
        """As the authors wrote it: all sparse cells in one group."""
        return cls(groups="all")

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a differentiated adaptive grid."""
        alpha = exact_share(self.alpha, name="alpha")
        side, notes = (self.first_side, ()) if self.first_side else self._guideline(counter, budget)
        grid = Grid(domain=counter.domain, rows=side, columns=side)
        cells = budget.measure(counter.count(grid), alpha, purpose="first level")
        wanted = leaf_sides(cells.values, (1 - alpha) * budget.epsilon, c2=self.c2)
        nested = NestedGrid(grid=grid, sides=clamp_sides(wanted, limit=budget.most_cells()))
        if not np.array_equal(wanted, nested.sides):
            notes = (*notes, f"the guideline's leaf sides were scaled down to fit {budget.most_cells():,} cells")
        grouped = group_sparse_cells(nested, adjacent=self.groups == "adjacent")
        second = budget.measure(second_level(grouped, counter.count(grouped)), 1 - alpha, purpose="leaves and groups")
        return Synopsis.infer(
            grouped,
            arrange(grouped, cells, second),
            inference="two-level",
            claim=budget.claim(),
            method=record(self, *notes),
        )

    def _guideline(self, counter: Counter, budget: Budget) -> tuple[int, tuple[str, ...]]:
        wanted = differentiated_first_side(budget.noisy_size(counter), budget.epsilon, c=self.c)
        return clamp_first_side(wanted, most_cells=budget.most_cells())


def differentiated_first_side(size: int, epsilon: Fraction, *, c: float = 10.0) -> int:
    """First-level cells per side: half of sqrt(N ε / c), at least 10.

    Examples
    --------
    >>> differentiated_first_side(1_000_000, Fraction(1))
    158
    """
    return max(SMALLEST_FIRST_SIDE, math.floor(math.sqrt(max(size, 0) * float(epsilon) / c) / 2 + 0.5))


def group_sparse_cells(nested: NestedGrid, *, adjacent: bool) -> GroupedGrid:
    """Groups of the cells that are not divided."""
    sparse = nested.sides == 1
    if adjacent:
        groups = connected_groups(sparse.reshape(nested.grid.rows, nested.grid.columns)).ravel()
    else:
        groups = np.where(sparse, 0, DIVIDED)
    return GroupedGrid(nested=nested, groups=groups)


def second_level(grouped: GroupedGrid, true_counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """True counts of the second level, block by block.

    Each leaf of a divided cell has one, and each group.
    """
    divided = np.repeat(grouped.block_groups == DIVIDED, np.diff(grouped.offsets))
    first_of_group = np.zeros(len(true_counts), bool)
    first_of_group[grouped.offsets[:-1]] = True
    wanted = np.flatnonzero(divided | first_of_group)
    return np.add.reduceat(true_counts, wanted)


def arrange(grouped: GroupedGrid, cells: NoisyValues, second: NoisyValues) -> Measurements:
    """Both levels as measurements of leaves and regions.

    In a group, the cells are the leaves and the group is their region.
    """
    divided = grouped.block_groups == DIVIDED
    sizes = np.diff(grouped.offsets)
    taken = np.where(divided, sizes, 1)  # values of `second` that each block has
    starts = np.cumsum(taken) - taken
    first_cells = np.cumsum(np.where(divided, 1, sizes)) - np.where(divided, 1, sizes)
    in_order = cells.values[grouped.cell_order]
    rates = (*cells.rates, *second.rates)  # first level, second level
    leaf_divided = np.repeat(divided, sizes)
    leaf_values = np.empty(grouped.cells, np.int64)
    leaf_values[leaf_divided] = second.values[np.repeat(divided, taken)]
    leaf_values[~leaf_divided] = in_order[np.repeat(~divided, np.where(divided, 1, sizes))]
    return Measurements(
        leaves=NoisyValues(values=leaf_values, rates=rates, rate_index=leaf_divided.astype(np.int32)),
        regions=Regions.between(grouped.offsets),
        region_values=NoisyValues(
            values=np.where(divided, in_order[first_cells], second.values[starts]),
            rates=rates,
            rate_index=(~divided).astype(np.int32),
        ),
    )
