"""The density of a grouped grid."""

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.compiled import run_in_slices
from hushgrid.geometry.grid import DIVIDED, GroupedGrid
from hushgrid.inference.measurements import Measurements
from hushgrid.inference.two_level import combined_variances
from hushgrid.kernels.group_answers import vary_on_groups
from hushgrid.synopsis.nested_surface import NestedSurface
from hushgrid.synopsis.surface import SMALLEST_SLICE


class GroupedSurface:
    """A grouped grid after two-level inference: divided cells and their leaves, groups and their cells."""

    def __init__(self, grouped: GroupedGrid, measurements: Measurements, counts: Floats) -> None:
        grid = grouped.nested.grid
        starts, sizes = grouped.offsets[:-1], np.diff(grouped.offsets)
        leaf_variances = measurements.leaves.variances[starts]
        block_variances = combined_variances(measurements.region_values.variances, leaf_variances, sizes)
        blocks = grouped.block_groups
        order = np.argsort(blocks[blocks != DIVIDED])
        self._layout = (
            *(grid.domain.west, grid.domain.south, grid.columns, grid.rows, grid.column_scale, grid.row_scale),
            np.asarray(grouped.groups),
        )
        self._group_arrays = tuple(
            values[blocks != DIVIDED][order].astype(np.float64) for values in (sizes, leaf_variances, block_variances)
        )
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
        """Variance of each estimate by noise, and by spread of the points inside cut leaves, shape (n,) each."""
        noise, spread = self._nested.variances(rects)
        sizes, member_variances, group_variances = self._group_arrays

        def work(first: int, stop: int) -> None:
            vary_on_groups(rects, first, stop, *self._layout, sizes, member_variances, group_variances, noise)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return noise, spread
