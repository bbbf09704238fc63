"""The density of a nested grid."""

from functools import cached_property
from typing import Self

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.compiled import run_in_slices
from hushgrid.geometry.grid import NestedGrid
from hushgrid.inference.measurements import Measurements
from hushgrid.inference.two_level import combined_variances
from hushgrid.kernels import nested_answers
from hushgrid.synopsis.surface import SMALLEST_SLICE, spread, summed_area


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
    def of(cls, nested: NestedGrid, measurements: Measurements, counts: Floats) -> Self:
        """Surface of a release of AG."""
        leaf_variances = measurements.leaves.variances[nested.offsets[:-1]]
        cell_variances = combined_variances(measurements.region_values.variances, leaf_variances, nested.sides**2)
        return cls(nested, counts, cell_variances=cell_variances, leaf_variances=leaf_variances)

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        out = np.empty(len(rects))
        cell_table, leaf_tables = self._count_tables

        def work(first: int, stop: int) -> None:
            nested_answers.count_on_nested(
                rects, first, stop, *self._layout, cell_table, leaf_tables, self._table_starts, out
            )

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variance of each estimate by noise, and by spread of the points inside cut leaves, shape (n,) each."""
        noise, spread = np.empty((2, len(rects)))
        given = (self._cell_variances, self._leaf_variances, self._variance_table, self._spread_tables)

        def work(first: int, stop: int) -> None:
            nested_answers.vary_on_nested(rects, first, stop, *self._layout, *given, self._table_starts, noise, spread)

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
        nested_answers.nested_tables(values, self._nested.sides, self._nested.offsets, self._table_starts, tables)
        return tables
