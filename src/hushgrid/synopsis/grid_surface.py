"""The density of a flat grid."""

from functools import cached_property

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.compiled import run_in_slices
from hushgrid.geometry.grid import Grid
from hushgrid.inference.measurements import Measurements
from hushgrid.kernels import answers
from hushgrid.synopsis.surface import SMALLEST_SLICE, spread, summed_area


class GridSurface:
    """A flat grid, after independent measurements at one rate of its cells or of their wavelet coefficients."""

    def __init__(self, grid: Grid, measurements: Measurements, counts: Floats) -> None:
        self._shape = (grid.rows, grid.columns)
        self._layout = (grid.domain.west, grid.domain.south, grid.columns, grid.rows, grid.column_scale, grid.row_scale)
        self._counts = counts
        wavelet = measurements.wavelet
        measured = measurements.leaves if wavelet is None else wavelet.coefficients
        self._padded = (0, 0) if wavelet is None else (wavelet.columns, wavelet.rows)
        self._variance = float(measured.variances[0])

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        out = np.empty(len(rects))

        def work(first: int, stop: int) -> None:
            answers.count_on_grid(rects, first, stop, *self._layout, self._count_table, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variance of each estimate by noise, and by spread of the points inside cut cells, shape (n,) each."""
        noise, spread = np.empty((2, len(rects)))

        def work(first: int, stop: int) -> None:
            answers.vary_on_grid(
                rects, first, stop, *self._layout, *self._padded, self._variance, self._spread_table, noise, spread
            )

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return noise, spread

    @cached_property
    def _count_table(self) -> Floats:
        return summed_area(self._counts.reshape(self._shape))

    @cached_property
    def _spread_table(self) -> Floats:
        return summed_area(spread(self._counts).reshape(self._shape))
