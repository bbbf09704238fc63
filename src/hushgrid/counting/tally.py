"""How points are added to the counts of a partition: one entry for each kind of partition."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushgrid.counting.area_index import AreaIndex
from hushgrid.counting.refinement import Refinement
from hushgrid.counting.source import Block
from hushgrid.counting.tree_tally import quadrants_tally, refinement_tally, tree_tally
from hushgrid.geometry.areas import Patchwork
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.quadrants import Quadrants
from hushgrid.geometry.tree import Tree
from hushgrid.kernels.bins import count_in_grid, count_in_nested_grid

Tally = Callable[[Block, NDArray[np.int64]], None]


def _grid_tally(grid: Grid) -> Tally:
    place = (grid.domain.bounds, (grid.column_scale, grid.row_scale), (grid.rows, grid.columns))

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_in_grid(block.longitudes, block.latitudes, *place, true_counts)

    return add


def _nested_grid_tally(nested: NestedGrid) -> Tally:
    return _leaf_tally(nested, nested.offsets[:-1])


def _grouped_grid_tally(grouped: GroupedGrid) -> Tally:
    return _leaf_tally(grouped.nested, grouped.cell_offsets)


def _leaf_tally(nested: NestedGrid, cell_offsets: NDArray[np.int64]) -> Tally:
    grid = nested.grid
    place = (grid.domain.bounds, (grid.column_scale, grid.row_scale), (grid.rows, grid.columns))
    edges = (grid.column_edges, grid.row_edges)
    leaf_scales = (nested.column_scales, nested.row_scales)
    sides, offsets = nested.sides.astype(np.int32), cell_offsets.astype(np.int32)

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_in_nested_grid(block.longitudes, block.latitudes, *place, edges, leaf_scales, sides, offsets, true_counts)

    return add


def _patchwork_tally(areas: Patchwork) -> Tally:
    index = AreaIndex.of(areas)

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        # From one, so that points in no area are number zero; they go to the last entry.
        true_numbers = np.bincount(index.numbers(block.longitudes, block.latitudes) + 1, minlength=areas.cells + 1)
        true_counts += np.roll(true_numbers, -1)

    return add


TALLIES: Mapping[type, Callable[[Any], Tally]] = {
    Grid: _grid_tally,
    NestedGrid: _nested_grid_tally,
    GroupedGrid: _grouped_grid_tally,
    Tree: tree_tally,
    Quadrants: quadrants_tally,
    Patchwork: _patchwork_tally,
    Refinement: refinement_tally,
}


def tally_for(partition: Partition | Refinement) -> Tally:
    """A function that adds the points of a block to an array of ``partition.cells + 1`` true counts.

    The last entry takes the points outside the domain.
    """
    for kind, make in TALLIES.items():
        if isinstance(partition, kind):
            return make(partition)
    known = ", ".join(kind.__name__ for kind in TALLIES)
    msg = f"points can be counted on {known}; got a {type(partition).__name__}."
    raise TypeError(msg)
