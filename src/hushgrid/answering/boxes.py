"""Any partition as a tree of boxes.

One descent then serves them all.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.tree import Tree


@compiled
def add_up(parents: Indices, values: Floats) -> None:
    """Add every node's value to its parent's.

    Children come before parents.
    """
    for node in range(len(parents) - 1, 0, -1):
        values[parents[node]] += values[node]


@compiled
def weigh_node(node: int, weight: float, parents: Indices, variances: Floats, sums: Floats) -> None:
    """Add a weighted node to its parent's sums."""
    parent = parents[node]
    if variances[node] < math.inf:
        sums[parent, 0] += variances[node] * weight
        sums[parent, 1] += variances[node] * weight * weight
    else:
        sums[parent, 2] += weight


@compiled
def enter_run(node: int, parents: Indices, is_entered: NDArray[np.bool_], entered: Indices, count: int) -> int:
    """List a node and its ancestors, each once.

    Returns how many nodes are listed now.
    """
    while node >= 0 and not is_entered[node]:
        is_entered[node] = True
        entered[count] = node
        count += 1
        node = parents[node]
    return count


@compiled
def vary_on_runs(
    starts: Indices,
    runs: Indices,
    weights: Floats,
    first_area: int,
    stop_area: int,
    parents: Indices,
    variances: Floats,
    totals: Floats,
    running: Floats,
    noise: Floats,
) -> None:
    """Noise variance of the sums `first_area` to `stop_area`.

    The algebra is that of `vary_on_tree`.

    Parameters
    ----------
    starts, runs, weights : arrays
        The sum of an area goes over the runs of siblings from ``starts[area]`` to ``starts[area + 1]``, each with one
        weight; only single nodes weigh other than one.
    parents : array, shape (nodes,)
        Numbers below the node's own, -1 for the root.
    variances : array, shape (nodes,)
        Variance of each node's estimate from itself and below, infinite where there is none.
    totals : array, shape (nodes, 2)
        Sum of the finite variances of a node's children, and the number of infinite ones.
    running : array, shape (nodes + 1, 2)
        The same, of all nodes before a node.
    """
    sums = np.zeros((len(parents), 3))
    is_entered, entered = np.zeros(len(parents), np.bool_), np.empty(len(parents), np.int64)
    for area in range(first_area, stop_area):
        count = 0
        root_weight, total = 0.0, 0.0
        for place in range(starts[area], starts[area + 1]):
            first, stop = runs[place, 0], runs[place, 1]
            parent = parents[first]
            count = enter_run(parent, parents, is_entered, entered, count)
            if parent < 0:
                root_weight = weights[place]
            elif stop == first + 1:
                weigh_node(first, weights[place], parents, variances, sums)
            else:
                known = running[stop, 0] - running[first, 0]
                sums[parent, 0] += known
                sums[parent, 1] += known
                sums[parent, 2] += running[stop, 1] - running[first, 1]
        for node in np.sort(entered[:count])[::-1]:  # children before parents
            known, unknown = totals[node, 0], totals[node, 1]
            linear, square, vague = sums[node, 0], sums[node, 1], sums[node, 2]
            mean = 0.0
            if unknown > 0:
                mean = vague / unknown
            elif known > 0:
                mean = linear / known
            total += max(square - 2 * mean * linear + mean * mean * known, 0.0)
            if node > 0:
                weigh_node(node, mean, parents, variances, sums)
            else:
                root_weight = mean
            sums[node, 0] = sums[node, 1] = sums[node, 2] = 0.0
            is_entered[node] = False
        if variances[0] < math.inf:
            total += variances[0] * root_weight * root_weight
        noise[area] = total


@dataclass(frozen=True, kw_only=True, eq=False)
class BoxTree:
    """A tree of boxes that tile their parents.

    Node 0 is the whole domain. The children of a node form rows and columns.

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
    >>> BoxTree.of(NestedGrid(grid=grid, sides=[1, 2])).edges
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
        """BoxTree of a partition of any kind."""
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
        """Where each inner node's edges start, shape (nodes,)."""
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
    """Block, axis and place of every edge.

    Blocks have the given columns and rows; each array has shape (edges,).
    """
    counts = (splits + 1).ravel()
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    block, axis = np.divmod(np.repeat(np.arange(len(counts)), counts), 2)
    return block, axis, place
