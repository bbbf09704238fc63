"""A tree of rectangles, and how it grows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.branches import Branches
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import check_cells
from hushgrid.geometry.partition import Layout, same_structure

LEFT, BOTTOM, RIGHT, TOP = range(4)  # columns of `boxes`
LATTICE_LIMIT = 2**26  # lines a side; a double tells the cells of such a lattice apart


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """The public fine grid that all edges of a tree lie on.

    It is never counted as a whole, so that it may be far finer than any grid.
    """

    domain: Domain
    columns: int
    rows: int

    def __post_init__(self) -> None:
        if not (1 <= self.columns <= LATTICE_LIMIT and 1 <= self.rows <= LATTICE_LIMIT):
            msg = f"a lattice has 1 to {LATTICE_LIMIT:,} columns and rows, got {self.columns:,} and {self.rows:,}."
            raise ArgumentError(msg)

    @property
    def box(self) -> NDArray[np.int64]:
        """The whole lattice as a box, shape (1, 4)."""
        return np.array([[0, 0, self.columns, self.rows]])


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree(Branches):
    """Boxes divided into boxes.

    Nodes are numbered breadth first, from the root 0; the children of a node are neighbours, in rows from south to
    north of columns from west to east. Leaves are numbered depth first, so that every node is one contiguous run of
    leaves.

    Parameters
    ----------
    lattice : Lattice
        Whose lines all edges lie on.
    boxes : array of int, shape (nodes, 4)
        Left, bottom, right and top line of every node, half-open.
    splits : array of int, shape (nodes, 2)
        Columns and rows each node is divided into; 0, 0 for a leaf.

    Examples
    --------
    >>> lattice = Lattice(domain=Domain(west=0, south=0, east=4, north=4), columns=4, rows=4)
    >>> boxes = [[0, 0, 4, 4], [0, 0, 1, 4], [1, 0, 4, 4]]
    >>> Tree(lattice=lattice, boxes=np.array(boxes), splits=np.array([[2, 1], [0, 0], [0, 0]])).bounds()
    array([[0., 0., 1., 4.],
           [1., 0., 4., 4.]])
    """

    kind: ClassVar[str] = "tree"
    tiles: ClassVar[bool] = True
    names: ClassVar[tuple[str, ...]] = ()
    layout_types: ClassVar[Mapping[str, type[np.generic]]] = dict.fromkeys(
        ("left", "bottom", "right", "top", "columns", "rows"), np.int64
    )
    lattice: Lattice
    boxes: Indices
    splits: Indices

    def __post_init__(self) -> None:
        for name, width in (("boxes", 4), ("splits", 2)):
            array = np.array(getattr(self, name), dtype=np.int64)
            if array.ndim != 2 or array.shape[1] != width or len(array) == 0:
                msg = f"a tree needs {name} of shape (nodes, {width})."
                raise ArgumentError(msg)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if len(self.boxes) != len(self.splits):
            msg = f"a tree needs one split a node, got {len(self.splits):,} for {len(self.boxes):,}."
            raise ArgumentError(msg)
        check_cells(len(self.boxes), what=f"Tree of {len(self.boxes):,} nodes")
        _check_splits(self)
        _check_boxes(self)

    __eq__ = same_structure
    __hash__ = None  # type: ignore[assignment]  # compares by the contents of arrays

    @property
    def domain(self) -> Domain:
        """The rectangle the leaves tile."""
        return self.lattice.domain

    @property
    def shape(self) -> dict[str, int]:
        """Rows and columns of the lattice; nodes; leaves."""
        return {"rows": self.lattice.rows, "columns": self.lattice.columns, "nodes": self.nodes, "cells": self.cells}

    @property
    def layout(self) -> Layout:
        """The box and the split of each node."""
        return dict(zip(self.layout_types, (*self.boxes.T, *self.splits.T), strict=True))

    @classmethod
    def from_layout(cls, domain: Domain, shape: Mapping[str, Any], layout: Layout) -> Self:
        """The tree of these nodes on a lattice."""
        boxes = np.stack([layout[name] for name in ("left", "bottom", "right", "top")], axis=1)
        splits = np.stack([layout[name] for name in ("columns", "rows")], axis=1)
        lattice = Lattice(domain=domain, rows=shape["rows"], columns=shape["columns"])
        return cls(lattice=lattice, boxes=boxes, splits=splits)

    @property
    def details(self) -> dict[str, Any]:
        """Nodes and levels."""
        return {"nodes": self.nodes, "levels": len(self.levels) - 1}

    @property
    def words(self) -> str:
        """Its shape in words."""
        return f"tree of {len(self.levels) - 1} levels, {self.cells:,} leaf cells"

    @cached_property
    def child_counts(self) -> Indices:  # type: ignore[override]  # of a tree, it follows from the splits
        """Children of every node, shape (nodes,)."""
        return self.splits[:, 0] * self.splits[:, 1]

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """Bounds of leaves `first` to `stop`, shape (leaves, 4)."""
        return self.node_bounds(self.leaves[first:stop])

    def node_bounds(self, nodes: Indices) -> NDArray[np.float64]:
        """Bounds of nodes, shape (nodes, 4)."""
        domain, boxes = self.domain, self.boxes[nodes]
        across = cells.edge(domain.west, domain.east, self.lattice.columns, boxes[:, [LEFT, RIGHT]])
        along = cells.edge(domain.south, domain.north, self.lattice.rows, boxes[:, [BOTTOM, TOP]])
        return np.stack([across[:, 0], along[:, 0], across[:, 1], along[:, 1]], axis=1)


def _check_splits(tree: Tree) -> None:
    columns, rows = tree.splits.T
    leaf = (columns == 0) & (rows == 0)
    # As floats, because a hostile file may claim splits whose products overflow.
    children = columns.astype(np.float64) * rows
    whole = ((columns > 0) & (rows > 0) & (children >= 2)) | leaf
    if not whole.all() or children.sum() != tree.nodes - 1 or np.any(tree.first_children > tree.nodes):
        msg = "a tree's splits must be 0, 0 or make at least two children, and account for every node but the root."
        raise ArgumentError(msg)
    if np.any(tree.first_children[~leaf] <= np.flatnonzero(~leaf)):
        msg = "a tree's nodes must be in breadth-first order."
        raise ArgumentError(msg)


def _check_boxes(tree: Tree) -> None:
    boxes, node = tree.boxes, np.arange(1, tree.nodes)
    parent = tree.parents[1:]
    row, column = np.divmod(node - tree.first_children[parent], tree.splits[parent, 0])
    box, around = boxes[1:], boxes[parent]
    west_of, south_of = boxes[node - 1], boxes[node - tree.splits[parent, 0]]
    good = (box[:, LEFT] < box[:, RIGHT]) & (box[:, BOTTOM] < box[:, TOP])
    good &= box[:, LEFT] == np.where(column == 0, around[:, LEFT], west_of[:, RIGHT])
    good &= box[:, BOTTOM] == np.where(row == 0, around[:, BOTTOM], south_of[:, TOP])
    good &= (column < tree.splits[parent, 0] - 1) | (box[:, RIGHT] == around[:, RIGHT])
    good &= (row < tree.splits[parent, 1] - 1) | (box[:, TOP] == around[:, TOP])
    good &= (row == 0) | (box[:, RIGHT] == south_of[:, RIGHT])
    good &= (column == 0) | (box[:, TOP] == west_of[:, TOP])
    if not np.array_equal(boxes[:1], tree.lattice.box) or not good.all():
        msg = "the children of every node of a tree must tile it in rows and columns, from the whole lattice down."
        raise ArgumentError(msg)


def divide(boxes: Indices, columns: int, rows: int) -> Indices:
    """Each box divided into equal columns and rows.

    As equal as whole lattice lines allow, shape (boxes * columns * rows, 4).

    Examples
    --------
    >>> divide(np.array([[0, 0, 5, 4]]), 2, 1)
    array([[0, 0, 2, 4],
           [2, 0, 5, 4]])
    """
    return divide_each(boxes, np.tile((columns, rows), (len(boxes), 1)))


def full_tree(lattice: Lattice, divisions: list[tuple[int, int]]) -> Tree:
    """Tree whose levels are each divided alike.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> lattice = Lattice(domain=Domain(west=0, south=0, east=1, north=1), columns=4, rows=4)
    >>> full_tree(lattice, [(2, 2), (2, 2)]).cells
    16
    """
    levels, splits = [lattice.box], []
    for columns, rows in divisions:
        splits.append(np.full((len(levels[-1]), 2), (columns, rows)))
        levels.append(divide(levels[-1], columns, rows))
    splits.append(np.zeros((len(levels[-1]), 2), np.int64))
    return Tree(lattice=lattice, boxes=np.concatenate(levels), splits=np.concatenate(splits))


def seedling(lattice: Lattice) -> Tree:
    """The whole lattice as one leaf."""
    return Tree(lattice=lattice, boxes=lattice.box, splits=np.zeros((1, 2), np.int64))


def grow(tree: Tree, nodes: Indices, splits: Indices, children: Indices) -> Tree:
    """The tree with some of its last leaves divided.

    All its nodes keep their numbers.

    Parameters
    ----------
    nodes : array of int, shape (n,)
        Leaves of the last level, in rising order.
    splits : array of int, shape (n, 2)
        Columns and rows of each.
    children : array of int, shape (children, 4)
        Their boxes, node after node.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> lattice = Lattice(domain=Domain(west=0, south=0, east=1, north=1), columns=4, rows=4)
    >>> grow(seedling(lattice), np.array([0]), np.array([[2, 1]]), np.array([[0, 0, 1, 4], [1, 0, 4, 4]])).cells
    2
    """
    if len(nodes) == 0:
        return tree
    all_splits = np.concatenate([tree.splits, np.zeros((len(children), 2), np.int64)])
    all_splits[nodes] = splits
    return Tree(lattice=tree.lattice, boxes=np.concatenate([tree.boxes, children]), splits=all_splits)


def divide_each(boxes: Indices, splits: Indices) -> Indices:
    """Each box divided into its own columns and rows.

    As equal as whole lattice lines allow, box after box.

    Examples
    --------
    >>> divide_each(np.array([[0, 0, 3, 2], [3, 0, 5, 2]]), np.array([[3, 1], [1, 2]]))
    array([[0, 0, 1, 2],
           [1, 0, 2, 2],
           [2, 0, 3, 2],
           [3, 0, 5, 1],
           [3, 1, 5, 2]])
    """
    box, column, row = places_in(splits)
    columns, rows = splits[box].T
    left, bottom, right, top = boxes[box].T
    children = np.empty((len(box), 4), np.int64)
    children[:, LEFT] = left + (right - left) * column // columns
    children[:, RIGHT] = left + (right - left) * (column + 1) // columns
    children[:, BOTTOM] = bottom + (top - bottom) * row // rows
    children[:, TOP] = bottom + (top - bottom) * (row + 1) // rows
    return children


def places_in(splits: Indices) -> tuple[Indices, Indices, Indices]:
    """Box, column and row of each child of divided boxes.

    Examples
    --------
    >>> places_in(np.array([[3, 1], [1, 2]]))
    (array([0, 0, 0, 1, 1]), array([0, 1, 2, 0, 0]), array([0, 0, 0, 0, 1]))
    """
    counts = splits[:, 0] * splits[:, 1]
    box = np.repeat(np.arange(len(splits)), counts)
    row, column = np.divmod(np.arange(len(box)) - np.repeat(np.cumsum(counts) - counts, counts), splits[box, 0])
    return box, column, row
