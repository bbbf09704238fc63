"""The density of nested grids, flat or sloped inside leaves, summed over rectangles.

Each first-level cell has a summed-area table of its leaves, one after the other in a flat array. Only the cells on the
rim of a rectangle are entered.
"""

from functools import cached_property
from typing import Self

import numpy as np

from hushgrid.answering.grids import covered_cells, position, separable_sum, squared, weight
from hushgrid.answering.sloped_trees import share_below
from hushgrid.answering.surface import SMALLEST_SLICE, spread, summed_area
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.grid import NestedGrid
from hushgrid.inference.least_squares import Evidence
from hushgrid.inference.two_level import combined_variances, nested_slopes


@compiled
def block_sum(table: Floats, columns: int, left: int, right: int, bottom: int, top: int) -> float:
    """Sum of whole cells, columns `left` to `right` and rows `bottom` to `top`, half-open."""
    if left >= right or bottom >= top:
        return 0.0
    width = columns + 1
    upper = table[top * width + right] - table[top * width + left]
    total: float = upper - (table[bottom * width + right] - table[bottom * width + left])
    return total


@compiled
def next_on_rim(column: int, row: int, right: int, bottom: int, top: int) -> int:
    """Column after `column` among the border cells of a block: inner rows have only their two ends."""
    if row in (bottom, top) or column == right:
        return column + 1
    return right


@compiled
def count_on_nested(
    rects: Floats,
    first: int,
    stop: int,
    west: float,
    south: float,
    columns: int,
    rows: int,
    column_scale: float,
    row_scale: float,
    column_edges: Floats,
    row_edges: Floats,
    sides: Indices,
    column_scales: Floats,
    row_scales: Floats,
    cell_table: Floats,
    leaf_tables: Floats,
    table_starts: Indices,
    out: Floats,
) -> None:
    """Estimated counts: whole first-level cells from their own table, those on the rim from their leaves' tables."""
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        across = covered_cells(low_x, high_x, west, column_scale, columns)
        along = covered_cells(low_y, high_y, south, row_scale, rows)
        left, right = across[0], min(across[1], columns - 1)
        bottom, top = along[0], min(along[1], rows - 1)
        total = block_sum(cell_table, columns, left + 1, right, bottom + 1, top)
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * columns + column
                side = sides[cell]
                leaf_columns = covered_cells(low_x, high_x, column_edges[column], column_scales[cell], side)
                leaf_rows = covered_cells(low_y, high_y, row_edges[row], row_scales[cell], side)
                total += separable_sum(leaf_tables, table_starts[cell], side, side, leaf_columns, leaf_rows)
                column = next_on_rim(column, row, right, bottom, top)
        out[number] = total


@compiled
def vary_on_nested(
    rects: Floats,
    first: int,
    stop: int,
    west: float,
    south: float,
    columns: int,
    rows: int,
    column_scale: float,
    row_scale: float,
    column_edges: Floats,
    row_edges: Floats,
    sides: Indices,
    column_scales: Floats,
    row_scales: Floats,
    cell_variances: Floats,
    leaf_variances: Floats,
    variance_table: Floats,
    spread_tables: Floats,
    table_starts: Indices,
    noise: Floats,
    spread: Floats,
) -> None:
    """Variances after two-level inference.

    With weights w on the k leaves of a first-level cell, W their sum, the estimate is ``sum (w - W/k) u + (W/k) v'``;
    its two parts are uncorrelated, so its variance is ``V_leaf (sum w**2 - W**2/k) + (W/k)**2 V_cell``.
    """
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        across = covered_cells(low_x, high_x, west, column_scale, columns)
        along = covered_cells(low_y, high_y, south, row_scale, rows)
        left, right = across[0], min(across[1], columns - 1)
        bottom, top = along[0], min(along[1], rows - 1)
        noise_sum = block_sum(variance_table, columns, left + 1, right, bottom + 1, top)
        spread_sum = 0.0
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * columns + column
                side = sides[cell]
                leaves = side * side
                leaf_columns = covered_cells(low_x, high_x, column_edges[column], column_scales[cell], side)
                leaf_rows = covered_cells(low_y, high_y, row_edges[row], row_scales[cell], side)
                columns_squared, rows_squared = squared(leaf_columns), squared(leaf_rows)
                share = weight(leaf_columns) * weight(leaf_rows) / leaves
                squares = weight(columns_squared) * weight(rows_squared)
                noise_sum += leaf_variances[cell] * max(squares - share * share * leaves, 0.0)
                noise_sum += share * share * cell_variances[cell]
                start = table_starts[cell]
                spread_sum += separable_sum(spread_tables, start, side, side, leaf_columns, leaf_rows)
                spread_sum -= separable_sum(spread_tables, start, side, side, columns_squared, rows_squared)
                column = next_on_rim(column, row, right, bottom, top)
        noise[number] = noise_sum
        spread[number] = max(spread_sum, 0.0)


@compiled
def nested_tables(values: Floats, sides: Indices, offsets: Indices, table_starts: Indices, out: Floats) -> None:
    """Fill one summed-area table for each first-level cell, one after the other in a flat array of zeros."""
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
    """A nested grid after two-level inference.

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
        self._layout = (
            *(grid.domain.west, grid.domain.south, grid.columns, grid.rows, grid.column_scale, grid.row_scale),
            *(grid.column_edges, grid.row_edges, nested.sides, nested.column_scales, nested.row_scales),
        )
        self._leaf_variances = leaf_variances
        self._cell_variances = cell_variances
        self._table_starts = np.concatenate([[0], np.cumsum((nested.sides + 1) ** 2)])

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
            count_on_nested(rects, first, stop, *self._layout, cell_table, leaf_tables, self._table_starts, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variance of each estimate by noise, and by spread of the points inside cut leaves, shape (n,) each."""
        noise, spread = np.empty((2, len(rects)))
        given = (self._cell_variances, self._leaf_variances, self._variance_table, self._spread_tables)

        def work(first: int, stop: int) -> None:
            vary_on_nested(rects, first, stop, *self._layout, *given, self._table_starts, noise, spread)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return noise, spread

    @cached_property
    def _count_tables(self) -> tuple[Floats, Floats]:
        totals = np.add.reduceat(self._counts, self._nested.offsets[:-1])
        return summed_area(totals.reshape(self._shape)), self._leaf_tables(self._counts)

    @cached_property
    def _variance_table(self) -> Floats:
        return summed_area(self._cell_variances.reshape(self._shape))

    @cached_property
    def _spread_tables(self) -> Floats:
        return self._leaf_tables(spread(self._counts))

    def _leaf_tables(self, values: Floats) -> Floats:
        tables = np.zeros(self._table_starts[-1])
        nested_tables(values, self._nested.sides, self._nested.offsets, self._table_starts, tables)
        return tables


@compiled
def shares_of_leaf(low: float, high: float, leaf: int, slope: float) -> tuple[float, float]:
    """Share of a leaf between two positions, in units of leaves, by extent and by mass."""
    start, end = max(low - leaf, 0.0), min(high - leaf, 1.0)
    return end - start, share_below(end, slope) - share_below(start, slope)


@compiled
def tilt_on_nested(
    rects: Floats,
    first: int,
    stop: int,
    west: float,
    south: float,
    columns: int,
    rows: int,
    column_scale: float,
    row_scale: float,
    column_edges: Floats,
    row_edges: Floats,
    sides: Indices,
    column_scales: Floats,
    row_scales: Floats,
    offsets: Indices,
    counts: Floats,
    slopes: Floats,
    out: Floats,
) -> None:
    """Add to the counts of flat leaves, for each rectangle `first` to `stop`, what the slopes of cut leaves change."""
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        across = covered_cells(low_x, high_x, west, column_scale, columns)
        along = covered_cells(low_y, high_y, south, row_scale, rows)
        left, right = across[0], min(across[1], columns - 1)
        bottom, top = along[0], min(along[1], rows - 1)
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * columns + column
                side = sides[cell]
                begin = position(low_x, column_edges[column], column_scales[cell], side)
                end = position(high_x, column_edges[column], column_scales[cell], side)
                below = position(low_y, row_edges[row], row_scales[cell], side)
                above = position(high_y, row_edges[row], row_scales[cell], side)
                out[number] += tilt_of_cell(begin, end, below, above, side, offsets[cell], counts, slopes)
                column = next_on_rim(column, row, right, bottom, top)


@compiled
def tilt_of_cell(
    begin: float, end: float, below: float, above: float, side: int, start: int, counts: Floats, slopes: Floats
) -> float:
    """What slopes change in the part of a first-level cell, in units of leaves; its leaves begin at `start`."""
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
    """A nested grid; inside a leaf the density is linear along x times linear along y.

    At the place (U, V) of a leaf, both from 0 to 1, it is the leaf's mean density times
    ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``. Variances are those of flat leaves.
    """

    @cached_property
    def slopes(self) -> Floats:
        """Slopes gx and gy of every leaf, learned from the counts of all, from -1 to 1, shape (leaves, 2)."""
        leaf_variances = np.repeat(self._leaf_variances, self._nested.sides**2)
        return nested_slopes(self._nested, self._counts, leaf_variances, super().counts)

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        out = super().counts(rects)
        leaves = (self._nested.offsets, self._counts, self.slopes)

        def work(first: int, stop: int) -> None:
            tilt_on_nested(rects, first, stop, *self._layout, *leaves, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out
