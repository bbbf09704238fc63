"""Slow and obvious versions of what hushgrid does fast, to compare with."""

import math
from dataclasses import dataclass

import numpy as np

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.quadrants import DEEPEST, Quadrants
from hushgrid.geometry.tree import Tree

UNIT_SQUARE = Domain(west=0, south=0, east=1, north=1)


def coverage(partition, rects):
    """Share of every cell that every rectangle covers, shape (rectangles, cells)."""
    west, south, east, north = partition.bounds().T
    rects = np.atleast_2d(rects)
    width = np.minimum(east, rects[:, 2:3]) - np.maximum(west, rects[:, 0:1])
    height = np.minimum(north, rects[:, 3:4]) - np.maximum(south, rects[:, 1:2])
    return np.maximum(width, 0) * np.maximum(height, 0) / ((east - west) * (north - south))


def cell_of(coordinate, low, high, count):
    """Cell of one coordinate by the one expression all counters share."""
    return min(max(math.floor((coordinate - low) * (count / (high - low))), 0), count - 1)


def leaf_of(partition, longitude, latitude):
    """Leaf of one point, or None outside the domain."""
    domain = partition.domain
    if not (domain.west <= longitude <= domain.east and domain.south <= latitude <= domain.north):
        return None
    if isinstance(partition, Quadrants):
        column = cell_of(longitude, domain.west, domain.east, 2**DEEPEST)
        row = cell_of(latitude, domain.south, domain.north, 2**DEEPEST)
        left, bottom, right, top = partition.boxes().T
        found = np.flatnonzero((left <= column) & (column < right) & (bottom <= row) & (row < top))
        return int(found[0]) if len(found) else None
    if isinstance(partition, Tree):
        lattice = partition.lattice
        column = cell_of(longitude, domain.west, domain.east, lattice.columns)
        row = cell_of(latitude, domain.south, domain.north, lattice.rows)
        left, bottom, right, top = partition.boxes[partition.leaves].T
        return int(np.flatnonzero((left <= column) & (column < right) & (bottom <= row) & (row < top))[0])
    if isinstance(partition, GroupedGrid):
        return int(np.flatnonzero(partition.leaf_order == leaf_of(partition.nested, longitude, latitude))[0])
    grid = partition if isinstance(partition, Grid) else partition.grid
    column = cell_of(longitude, domain.west, domain.east, grid.columns)
    row = cell_of(latitude, domain.south, domain.north, grid.rows)
    cell = row * grid.columns + column
    if isinstance(partition, Grid):
        return cell
    assert isinstance(partition, NestedGrid)
    side = int(partition.sides[cell])
    inner_column = cell_of(longitude, grid.column_edges[column], grid.column_edges[column + 1], side)
    inner_row = cell_of(latitude, grid.row_edges[row], grid.row_edges[row + 1], side)
    return int(partition.offsets[cell]) + inner_row * side + inner_column


@dataclass(frozen=True)
class PlainCounter:
    """A counter that looks at one point after the other."""

    domain: Domain
    points: tuple

    def rows(self):
        """Number of points, wherever they are."""
        return len(self.points)

    def total(self):
        """Number of points in the domain."""
        return int(self.count(Grid(domain=self.domain, rows=1, columns=1))[0])

    def count(self, partition):
        """Points in every cell."""
        true_counts = np.zeros(partition.cells, np.int64)
        for longitude, latitude in self.points:
            leaf = leaf_of(partition, longitude, latitude)
            if leaf is not None:
                true_counts[leaf] += 1
        return true_counts
