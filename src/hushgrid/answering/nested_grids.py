"""The density of nested grids, summed over rectangles.

Inside leaves it is flat, or sloped.

Each first-level cell has a summed-area table of its leaves, one after the other in a flat array. Only the cells on the
rim of a rectangle are entered.
"""

from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from hushgrid.answering.grids import Cells, cells_of, covered_cells, position, separable_sum, spans_of, squared, weight
from hushgrid.answering.sloped_trees import share_below
from hushgrid.answering.surface import SMALLEST_SLICE, spread, summed_area
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.grid import NestedGrid
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.two_level import combined_variances, nested_slopes


@compiled
def block_sum(table: Floats, columns: int, left: int, right: int, bottom: int, top: int) -> float:
    """Sum of a block of whole cells.

    Columns `left` to `right` and rows `bottom` to `top` are half-open.
    """
    if left >= right or bottom >= top:
        return 0.0
    width = columns + 1
    upper = table[top * width + right] - table[top * width + left]
    total: float = upper - (table[bottom * width + right] - table[bottom * width + left])
    return total


@compiled
def next_on_rim(column: int, row: int, right: int, bottom: int, top: int) -> int:
    """Next column among a block's border cells.

    Inner rows have only their two ends.
    """
    if row in (bottom, top) or column == right:
        return column + 1
    return right


class NestedCells(NamedTuple):
    """Where the cells of both levels lie.

    Parameters
    ----------
    cells : Cells
        Of the first level.
    column_edges, row_edges : arrays, shape (columns + 1,) and (rows + 1,)
        Of the first level.
    sides, column_scales, row_scales : arrays, shape (cells,)
        Of the leaves in each cell.
    offsets, table_starts : arrays, shape (cells + 1,)
        Where the leaves of each cell start, and its summed-area tables.
    """

    cells: Cells
    column_edges: Floats
    row_edges: Floats
    sides: Indices
    column_scales: Floats
    row_scales: Floats
    offsets: Indices
    table_starts: Indices


@compiled
def block_cut(rects: Floats, number: int, cells: Cells) -> tuple[int, int, int, int]:
    """Block of cells that a rectangle touches.

    Returns first and last column, first and last row.
    """
    across, along = spans_of(rects, number, cells)
    return across[0], min(across[1], cells.columns - 1), along[0], min(along[1], cells.rows - 1)


@compiled
def count_on_nested(
    rects: Floats, first: int, stop: int, nested: NestedCells, cell_table: Floats, leaf_tables: Floats, out: Floats
) -> None:
    """Estimated counts of the rectangles `first` to `stop`.

    Whole first-level cells are summed from their own table, those on the rim from the tables of their leaves.
    """
    cells, column_edges, row_edges, sides, column_scales, row_scales, _, table_starts = nested
    columns = cells.columns
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        left, right, bottom, top = block_cut(rects, number, cells)
        total = block_sum(cell_table, columns, left + 1, right, bottom + 1, top)
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * columns + column
                side = sides[cell]
                across = covered_cells(low_x, high_x, column_edges[column], column_scales[cell], side)
                along = covered_cells(low_y, high_y, row_edges[row], row_scales[cell], side)
                total += separable_sum(leaf_tables, table_starts[cell], side, side, across, along)
                column = next_on_rim(column, row, right, bottom, top)
        out[number] = total


class NestedNoise(NamedTuple):
    """What makes variances on a nested grid.

    Parameters
    ----------
    cell_variances, leaf_variances : arrays, shape (cells,)
        Of each first-level cell's estimate, and of the measurement of each of its leaves.
    cell_table, spread_tables : arrays
        Summed-area tables of `cell_variances`, and of the variance scales of the points inside leaves.
    """

    cell_variances: Floats
    leaf_variances: Floats
    cell_table: Floats
    spread_tables: Floats


@compiled
def vary_on_nested(
    rects: Floats, first: int, stop: int, nested: NestedCells, given: NestedNoise, noise: Floats, spread: Floats
) -> None:
    """Variances after two-level inference.

    With weights w on the k leaves of a first-level cell, W their sum, the estimate is ``sum (w - W/k) u + (W/k) v'``;
    its two parts are uncorrelated, so its variance is ``V_leaf (sum w**2 - W**2/k) + (W/k)**2 V_cell``.
    """
    cells, column_edges, row_edges, sides, column_scales, row_scales, _, table_starts = nested
    cell_variances, leaf_variances, cell_table, tables = given
    columns = cells.columns
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        left, right, bottom, top = block_cut(rects, number, cells)
        noise_sum = block_sum(cell_table, columns, left + 1, right, bottom + 1, top)
        spread_sum = 0.0
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * columns + column
                side, start = sides[cell], table_starts[cell]
                leaves = side * side
                across = covered_cells(low_x, high_x, column_edges[column], column_scales[cell], side)
                along = covered_cells(low_y, high_y, row_edges[row], row_scales[cell], side)
                across_squared, along_squared = squared(across), squared(along)
                share = weight(across) * weight(along) / leaves
                squares = weight(across_squared) * weight(along_squared)
                noise_sum += leaf_variances[cell] * max(squares - share * share * leaves, 0.0)
                noise_sum += share * share * cell_variances[cell]
                spread_sum += separable_sum(tables, start, side, side, across, along)
                spread_sum -= separable_sum(tables, start, side, side, across_squared, along_squared)
                column = next_on_rim(column, row, right, bottom, top)
        noise[number] = noise_sum
        spread[number] = max(spread_sum, 0.0)


@compiled
def nested_tables(values: Floats, sides: Indices, offsets: Indices, table_starts: Indices, out: Floats) -> None:
    """Fill one summed-area table for each first-level cell.

    They follow one another in `out`, a flat array of zeros.
    """
    for cell in range(len(sides)):
        side = sides[cell]
        width = side + 1
        for row in range(side):
            running = 0.0
            for column in range(side):
                running += values[offsets[cell] + row * side + column]
                here = table_starts[cell] + (row + 1) * width + column + 1
                out[here] = out[here - width] + running


class NestedSurface:
    """The density of a nested grid.

    Two-level inference was applied.

    Parameters
    ----------
    nested : NestedGrid
    counts : array, shape (leaves,)
        Estimated counts.
    cell_variances, leaf_variances : array, shape (first-level cells,)
        Variance of each cell's estimate, and of the measurement of each of its leaves.
    """

    def __init__(self, nested: NestedGrid, counts: Floats, *, cell_variances: Floats, leaf_variances: Floats) -> None:
        grid = nested.grid
        self._nested = nested
        self._counts = counts
        self._shape = (grid.rows, grid.columns)
        self._cells = NestedCells(
            *(cells_of(grid), grid.column_edges, grid.row_edges),
            *(nested.sides, nested.column_scales, nested.row_scales),
            *(nested.offsets, np.concatenate([[0], np.cumsum((nested.sides + 1) ** 2)])),
        )
        self._leaf_variances = leaf_variances
        self._cell_variances = cell_variances

    @classmethod
    def of(cls, evidence: Evidence, counts: Floats) -> Self:
        """Surface of a release of AG."""
        nested, measurements = evidence.partition, evidence.measurements
        assert isinstance(nested, NestedGrid)
        leaf_variances = measurements.leaves.variances[nested.offsets[:-1]]
        cell_variances = combined_variances(measurements.region_values.variances, leaf_variances, nested.sides**2)
        return cls(nested, counts, cell_variances=cell_variances, leaf_variances=leaf_variances)

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        out = np.empty(len(rects))
        cell_table, leaf_tables = self._count_tables

        def work(first: int, stop: int) -> None:
            count_on_nested(rects, first, stop, self._cells, cell_table, leaf_tables, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each."""
        noise, spread = np.empty((2, len(rects)))

        def work(first: int, stop: int) -> None:
            vary_on_nested(rects, first, stop, self._cells, self._noise, noise, spread)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return noise, spread

    @cached_property
    def _count_tables(self) -> tuple[Floats, Floats]:
        totals = np.add.reduceat(self._counts, self._nested.offsets[:-1])
        return summed_area(totals.reshape(self._shape)), self._leaf_tables(self._counts)

    @cached_property
    def _noise(self) -> NestedNoise:
        cell_table = summed_area(self._cell_variances.reshape(self._shape))
        spread_tables = self._leaf_tables(spread(self._counts))
        return NestedNoise(self._cell_variances, self._leaf_variances, cell_table, spread_tables)

    def _leaf_tables(self, values: Floats) -> Floats:
        tables = np.zeros(self._cells.table_starts[-1])
        nested_tables(values, self._nested.sides, self._nested.offsets, self._cells.table_starts, tables)
        return tables


@compiled
def shares_of_leaf(low: float, high: float, leaf: int, slope: float) -> tuple[float, float]:
    """Share of a leaf between two positions.

    Positions are in units of leaves. Returns the share by extent and the share by mass.
    """
    start, end = max(low - leaf, 0.0), min(high - leaf, 1.0)
    return end - start, share_below(end, slope) - share_below(start, slope)


@compiled
def tilt_on_nested(
    rects: Floats, first: int, stop: int, nested: NestedCells, counts: Floats, slopes: Floats, out: Floats
) -> None:
    """Add what slopes change to flat counts.

    Only the leaves that a rectangle cuts can change it.
    """
    cells, column_edges, row_edges, sides, column_scales, row_scales, offsets, _ = nested
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        left, right, bottom, top = block_cut(rects, number, cells)
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * cells.columns + column
                side, edge, scale = sides[cell], column_edges[column], column_scales[cell]
                begin, end = position(low_x, edge, scale, side), position(high_x, edge, scale, side)
                edge, scale = row_edges[row], row_scales[cell]
                below, above = position(low_y, edge, scale, side), position(high_y, edge, scale, side)
                out[number] += tilt_of_cell(begin, end, below, above, side, offsets[cell], counts, slopes)
                column = next_on_rim(column, row, right, bottom, top)


@compiled
def tilt_of_cell(
    begin: float, end: float, below: float, above: float, side: int, start: int, counts: Floats, slopes: Floats
) -> float:
    """What slopes change inside one first-level cell.

    The covered part is in units of leaves. The cell's leaves begin at `start`.
    """
    left, right = min(int(begin), side - 1), min(int(end), side - 1)
    bottom, top = min(int(below), side - 1), min(int(above), side - 1)
    total = 0.0
    for row in range(bottom, top + 1):
        column = left
        while column <= right:
            leaf = start + row * side + column
            width, mass_across = shares_of_leaf(begin, end, column, slopes[leaf, 0])
            height, mass_along = shares_of_leaf(below, above, row, slopes[leaf, 1])
            total += counts[leaf] * (mass_across * mass_along - width * height)
            column = next_on_rim(column, row, right, bottom, top)
    return total


class SlopedNestedSurface(NestedSurface):
    """The density of a nested grid, sloped inside leaves.

    Inside a leaf it is linear along x times linear along y.

    At the place (U, V) of a leaf, both from 0 to 1, it is the leaf's mean density times
    ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``. Variances are those of flat leaves.
    """

    @cached_property
    def slopes(self) -> Floats:
        """Slopes gx and gy, shape (leaves, 2).

        They are learned from the counts of all leaves, and lie between -1 and 1.
        """
        leaf_variances = np.repeat(self._leaf_variances, self._nested.sides**2)
        return nested_slopes(self._nested, self._counts, leaf_variances, super().counts)

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        out = super().counts(rects)
        slopes = self.slopes

        def work(first: int, stop: int) -> None:
            tilt_on_nested(rects, first, stop, self._cells, self._counts, slopes, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out
