"""Any partition as boxes inside boxes, so that one descent serves them all."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.tree import Tree
from hushgrid.kernels.polygon_sums import add_up


@dataclass(frozen=True, kw_only=True, eq=False)
class Hierarchy:
    """Nodes, from the whole domain 0 down; the children of a node tile it, in rows and columns.

    Coordinates are in units of the columns and rows of the grid, or of the tree's lattice, that the partition starts
    from: edges of first-level cells and of nodes are whole numbers.

    Parameters
    ----------
    domain : Domain
    columns, rows : int
        Of the whole domain.
    splits : array of int, shape (nodes, 2)
        Columns and rows of a node's children; 0, 0 for a leaf.
    first_children : array of int, shape (nodes,)
        Where a node's children start, row by row; they follow one another in the order of their parents.
    edges : array, shape (edges,)
        For every inner node the edges between the columns, and then between the rows, of its children, both ends
        included.
    leaves : array of int, shape (leaves,)
        The node of every leaf of the partition.

    Examples
    --------
    >>> grid = Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=1, columns=2)
    >>> Hierarchy.of(NestedGrid(grid=grid, sides=[1, 2])).edges
    array([0. , 1. , 2. , 0. , 1. , 1. , 1.5, 2. , 0. , 0.5, 1. ])
    """

    domain: Domain
    columns: int
    rows: int
    splits: Indices
    first_children: Indices
    edges: Floats
    leaves: Indices

    @classmethod
    def of(cls, partition: Partition) -> Self:
        """Hierarchy of a partition of any kind."""
        match partition:
            case Tree():
                return cls._of_tree(partition)
            case Grid():
                return cls._of_nested(partition, np.ones(partition.cells, np.int64))
            case NestedGrid():
                return cls._of_nested(partition.grid, partition.sides)
            case GroupedGrid():
                nested = cls.of(partition.nested)
                return replace(nested, leaves=nested.leaves[partition.leaf_order])
            case _:
                msg = f"polygons cannot be counted on a {type(partition).__name__}."
                raise ArgumentError(msg)

    @classmethod
    def _of_tree(cls, tree: Tree) -> Self:
        inner = np.flatnonzero(tree.child_counts)
        block, axis, place = _edge_places(tree.splits[inner])
        node = inner[block]
        stride = np.where(axis == 0, 1, tree.splits[node, 0])
        after_last = place == tree.splits[node, axis]
        child = tree.first_children[node] + (place - after_last) * stride
        edges = tree.boxes[child, axis + 2 * after_last].astype(np.float64)
        return cls(
            domain=tree.domain,
            columns=tree.lattice.columns,
            rows=tree.lattice.rows,
            splits=tree.splits,
            first_children=tree.first_children,
            edges=edges,
            leaves=tree.leaves,
        )

    @classmethod
    def _of_nested(cls, grid: Grid, sides: Indices) -> Self:
        divided = np.flatnonzero(sides > 1)
        leaves = sides**2
        starts = 1 + grid.cells + np.cumsum(leaves[divided]) - leaves[divided]
        nodes = 1 + grid.cells + int(leaves[divided].sum())
        splits, first_children = np.zeros((nodes, 2), np.int64), np.full(nodes, nodes, dtype=np.int64)
        splits[0], first_children[0] = (grid.columns, grid.rows), 1
        splits[1 + divided], first_children[1 + divided] = sides[divided, None], starts
        splits.flags.writeable = False  # as those of a tree are, so that kernels are compiled once for both
        row, column = np.divmod(divided, grid.columns)
        low = np.concatenate([[[0, 0]], np.stack([column, row], axis=1)])
        high = np.concatenate([splits[:1], low[1:] + 1])
        parts = splits[np.concatenate([[0], 1 + divided])]
        block, axis, place = _edge_places(parts)
        edges = low[block, axis] + place * (high - low)[block, axis] / parts[block, axis]
        leaf_starts = np.arange(1, 1 + grid.cells)
        leaf_starts[divided] = starts
        return cls(
            domain=grid.domain,
            columns=grid.columns,
            rows=grid.rows,
            splits=splits,
            first_children=first_children,
            edges=edges,
            leaves=np.arange(leaves.sum()) + np.repeat(leaf_starts - (np.cumsum(leaves) - leaves), leaves),
        )

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.splits)

    @cached_property
    def parents(self) -> Indices:
        """Parent of every node, -1 for the root, shape (nodes,)."""
        return np.concatenate([[-1], np.repeat(np.arange(self.nodes), self.splits.prod(axis=1))])

    @cached_property
    def edge_starts(self) -> Indices:
        """Where the edges of every inner node start, shape (nodes,)."""
        counts = np.where(self.splits[:, 0] > 0, self.splits.sum(axis=1) + 2, 0)
        return np.cumsum(counts) - counts

    def sums(self, leaf_values: Floats) -> Floats:
        """Sum over the leaves of every node, shape (nodes,)."""
        values = np.zeros(self.nodes)
        values[self.leaves] = leaf_values
        add_up(self.parents, values)
        return values

    def in_units(self, coordinates: Floats) -> Floats:
        """Coordinates, shape (n, 2), in units of the hierarchy."""
        west, south, east, north = self.domain.bounds
        across, along = cells.scale(west, east, self.columns), cells.scale(south, north, self.rows)
        return np.asarray((coordinates - [west, south]) * [across, along])


def _edge_places(splits: Indices) -> tuple[Indices, Indices, Indices]:
    """Block, axis and place of every edge of blocks of columns and rows, shape (edges,) each."""
    counts = (splits + 1).ravel()
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    block, axis = np.divmod(np.repeat(np.arange(len(counts)), counts), 2)
    return block, axis, place
