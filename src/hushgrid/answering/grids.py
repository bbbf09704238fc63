"""The density of a flat grid, summed over rectangles.

A query covers the cells of a grid with weights ``a[column] * b[row]``: a fraction on the first and on the last column
and row it touches, one between them. Such a separable sum takes sixteen reads of the summed-area table, whatever the
size of the query. Sums of squared weights, which variances need, are the same with squared fractions.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from hushgrid.answering.surface import SMALLEST_SLICE, spread, summed_area
from hushgrid.arrays import Floats
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.grid import Grid
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.haar import haar_energy

Span = tuple[int, int, float, float]


class Cells(NamedTuple):
    """Where the cells of a grid lie."""

    west: float
    south: float
    columns: int
    rows: int
    column_scale: float
    row_scale: float


def cells_of(grid: Grid) -> Cells:
    """Cells of a grid."""
    domain = grid.domain
    return Cells(domain.west, domain.south, grid.columns, grid.rows, grid.column_scale, grid.row_scale)


@compiled
def span(low: float, high: float, count: int) -> Span:
    """First and last cell touched, with their covered fractions.

    Within a single cell the last one is the next cell, with fraction zero.
    """
    first = min(int(low), count - 1)
    last = min(int(high), count - 1)
    if first == last:
        return first, first + 1, high - low, 0.0
    return first, last, first + 1 - low, high - last


@compiled
def position(coordinate: float, low: float, scale: float, count: int) -> float:
    """Position of a coordinate, in units of cells.

    It is clipped to the range from 0 to `count`.
    """
    return min(max((coordinate - low) * scale, 0.0), float(count))


@compiled
def row_sum(table: Floats, start: int, first: int, last: int, begin: float, end: float, count: int) -> float:
    """Weighted sum along a summed-area table's row.

    The row begins at `start` of the flat array.
    """
    after = min(last + 1, count)
    left = table[start + first + 1]
    right = table[start + last]
    total: float = begin * (left - table[start + first]) + (right - left) + end * (table[start + after] - right)
    return total


@compiled
def separable_sum(
    table: Floats,
    start: int,
    columns: int,
    rows: int,
    column_span: Span,
    row_span: Span,
) -> float:
    """Sum of cells, weighted by column and row.

    The summed-area table of (rows + 1) x (columns + 1) begins at `start`.
    """
    first, last, begin, end = column_span
    bottom, top, below, above = row_span
    width = columns + 1
    after = min(top + 1, rows)
    lower = row_sum(table, start + (bottom + 1) * width, first, last, begin, end, columns)
    upper = row_sum(table, start + top * width, first, last, begin, end, columns)
    total = upper - lower
    total += below * (lower - row_sum(table, start + bottom * width, first, last, begin, end, columns))
    total += above * (row_sum(table, start + after * width, first, last, begin, end, columns) - upper)
    return total


@compiled
def squared(cells: Span) -> Span:
    """The same span with squared fractions."""
    first, last, begin, end = cells
    return first, last, begin * begin, end * end


@compiled
def weight(cells: Span) -> float:
    """Sum of the fractions of a span."""
    first, last, begin, end = cells
    return begin + (last - first - 1) + end


@compiled
def energy(cells: Span, padded: int) -> float:
    """Sum of squared weights along one axis.

    They are the weights that measured values have in the sum over a span. The values are the cells themselves or, where
    `padded` is not zero, Haar coefficients of that many cells.
    """
    if padded == 0:
        return weight(squared(cells))
    first, last, begin, end = cells
    return haar_energy(first + 1 - begin, last + end, padded)


@compiled
def covered_cells(low: float, high: float, origin: float, scale: float, count: int) -> Span:
    """Span of cells that a query covers.

    The query goes from `low` to `high`. Outside of the cells its fractions are zero.
    """
    return span(position(low, origin, scale, count), position(high, origin, scale, count), count)


@compiled
def spans_of(rects: Floats, number: int, cells: Cells) -> tuple[Span, Span]:
    """Columns and rows of cells that a rectangle covers."""
    return (
        covered_cells(rects[number, 0], rects[number, 2], cells.west, cells.column_scale, cells.columns),
        covered_cells(rects[number, 1], rects[number, 3], cells.south, cells.row_scale, cells.rows),
    )


@compiled
def count_on_grid(rects: Floats, first: int, stop: int, cells: Cells, table: Floats, out: Floats) -> None:
    """Estimated counts of the rectangles `first` to `stop`.

    `table` is the summed-area table of the cells' counts.
    """
    for number in range(first, stop):
        across, along = spans_of(rects, number, cells)
        out[number] = separable_sum(table, 0, cells.columns, cells.rows, across, along)


class GridNoise(NamedTuple):
    """What makes the variances of sums over a grid.

    Parameters
    ----------
    variance : float
        Of each measured value.
    padded_columns, padded_rows : int
        Of the wavelet whose coefficients were measured; zero where the cells were.
    spreads : array
        Summed-area table of the variance scales of the points inside cells.
    """

    variance: float
    padded_columns: int
    padded_rows: int
    spreads: Floats


@compiled
def vary_on_grid(
    rects: Floats, first: int, stop: int, cells: Cells, given: GridNoise, noise: Floats, spread: Floats
) -> None:
    """Variances by noise and by spread.

    The variance by spread is ``sum w (1 - w) s``.

    Noise of variance V in cells, or in their Haar coefficients, adds up to V times the energies of both axes.
    """
    columns, rows = cells.columns, cells.rows
    for number in range(first, stop):
        across, along = spans_of(rects, number, cells)
        noise[number] = given.variance * energy(across, given.padded_columns) * energy(along, given.padded_rows)
        inside = separable_sum(given.spreads, 0, columns, rows, across, along)
        inside -= separable_sum(given.spreads, 0, columns, rows, squared(across), squared(along))
        spread[number] = max(inside, 0.0)


class GridSurface:
    """The density of a flat grid.

    Its cells, or their wavelet coefficients, were measured independently at one rate.
    """

    def __init__(self, evidence: Evidence, counts: Floats) -> None:
        grid, measurements = evidence.partition, evidence.measurements
        assert isinstance(grid, Grid)
        self._shape = (grid.rows, grid.columns)
        self._cells = cells_of(grid)
        self._counts = counts
        wavelet = measurements.wavelet
        measured = measurements.leaves if wavelet is None else wavelet.coefficients
        self._padded = (0, 0) if wavelet is None else (wavelet.columns, wavelet.rows)
        self._variance = float(measured.variances[0])

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        out = np.empty(len(rects))

        def work(first: int, stop: int) -> None:
            count_on_grid(rects, first, stop, self._cells, self._count_table, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each."""
        noise, spread = np.empty((2, len(rects)))

        def work(first: int, stop: int) -> None:
            vary_on_grid(rects, first, stop, self._cells, self._noise, noise, spread)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return noise, spread

    @cached_property
    def _count_table(self) -> Floats:
        return summed_area(self._counts.reshape(self._shape))

    @cached_property
    def _noise(self) -> GridNoise:
        return GridNoise(self._variance, *self._padded, summed_area(spread(self._counts).reshape(self._shape)))
