"""The density of a grouped grid, summed over rectangles."""

from typing import NamedTuple

import numpy as np

from hushgrid.answering.grids import Cells, Span, cells_of, spans_of
from hushgrid.answering.nested_grids import NestedSurface
from hushgrid.answering.surface import SMALLEST_SLICE
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.grid import DIVIDED, GroupedGrid
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.two_level import combined_variances


@compiled
def fraction(index: int, cells: Span) -> float:
    """Covered fraction of one column or row."""
    first, last, begin, end = cells
    if index == first:
        return begin
    return end if index == last else 1.0


class Groups(NamedTuple):
    """Groups of cells.

    Parameters
    ----------
    of_cells : array of int, shape (cells,)
        Group of each cell, negative where it has none.
    sizes, member_variances, variances : array, shape (groups,)
        Cells of each group, variance of the measurement of each of them, and of the group's estimate.
    """

    of_cells: Indices
    sizes: Floats
    member_variances: Floats
    variances: Floats


@compiled
def vary_on_groups(rects: Floats, first: int, stop: int, cells: Cells, groups: Groups, noise: Floats) -> None:
    """Add the noise variance of grouped cells.

    As for the leaves of a cell in `vary_on_nested`: with weights w on the k members of a group, W their sum, it is
    ``V_member (sum w**2 - W**2/k) + (W/k)**2 V_group``.
    """
    sizes = groups.sizes
    sums, squares = np.zeros(len(sizes)), np.zeros(len(sizes))
    met = np.empty(len(sizes), np.int64)
    for number in range(first, stop):
        across, along = spans_of(rects, number, cells)
        meetings = 0
        for row in range(along[0], min(along[1], cells.rows - 1) + 1):
            for column in range(across[0], min(across[1], cells.columns - 1) + 1):
                group = groups.of_cells[row * cells.columns + column]
                weight = fraction(column, across) * fraction(row, along)
                if group < 0 or weight == 0.0:
                    continue
                if sums[group] == 0.0:
                    met[meetings] = group
                    meetings += 1
                sums[group] += weight
                squares[group] += weight * weight
        for meeting in range(meetings):
            group = met[meeting]
            share = sums[group] / sizes[group]
            noise[number] += groups.member_variances[group] * max(squares[group] - share * sums[group], 0.0)
            noise[number] += share * share * groups.variances[group]
            sums[group] = squares[group] = 0.0


class GroupedSurface:
    """The density of a grouped grid.

    Two-level inference was applied to divided cells and their leaves, and to groups and their cells.
    """

    def __init__(self, evidence: Evidence, counts: Floats) -> None:
        grouped, measurements = evidence.partition, evidence.measurements
        assert isinstance(grouped, GroupedGrid)
        grid = grouped.nested.grid
        starts, sizes = grouped.offsets[:-1], np.diff(grouped.offsets)
        leaf_variances = measurements.leaves.variances[starts]
        block_variances = combined_variances(measurements.region_values.variances, leaf_variances, sizes)
        blocks = grouped.block_groups
        order = np.argsort(blocks[blocks != DIVIDED])
        by_group = (values[blocks != DIVIDED][order] for values in (sizes, leaf_variances, block_variances))
        self._cells = cells_of(grid)
        self._groups = Groups(np.asarray(grouped.groups), *(values.astype(np.float64) for values in by_group))
        divided = np.flatnonzero(grouped.groups == DIVIDED)
        cell_variances, cell_leaf_variances = np.zeros((2, grid.cells))
        cell_variances[divided] = block_variances[blocks == DIVIDED]
        cell_leaf_variances[divided] = leaf_variances[blocks == DIVIDED]
        nested_counts = np.empty(grouped.cells)
        nested_counts[grouped.leaf_order] = counts
        # Grouped cells have no noise of their own here: `vary_on_groups` adds it.
        self._nested = NestedSurface(
            grouped.nested, nested_counts, cell_variances=cell_variances, leaf_variances=cell_leaf_variances
        )

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        return self._nested.counts(rects)

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each."""
        noise, spread = self._nested.variances(rects)

        def work(first: int, stop: int) -> None:
            vary_on_groups(rects, first, stop, self._cells, self._groups, noise)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return noise, spread
