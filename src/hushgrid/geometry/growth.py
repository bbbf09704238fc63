"""Trees that grow: leaves of the last level are divided, and the tree with one more level comes back."""

import numpy as np

from hushgrid.arrays import Indices
from hushgrid.geometry.tree import BOTTOM, LEFT, RIGHT, TOP, Lattice, Tree


def seedling(lattice: Lattice) -> Tree:
    """The whole lattice as one leaf."""
    return Tree(lattice=lattice, boxes=lattice.box, splits=np.zeros((1, 2), np.int64))


def grow(tree: Tree, nodes: Indices, splits: Indices, children: Indices) -> Tree:
    """The tree with some leaves of its last level divided; all its nodes keep their numbers.

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
    """Every box in columns and rows of its own number, as equal as whole lattice lines allow, box after box.

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
    """For boxes divided into columns and rows: the box, the column and the row of every child, box after box.

    Examples
    --------
    >>> places_in(np.array([[3, 1], [1, 2]]))
    (array([0, 0, 0, 1, 1]), array([0, 1, 2, 0, 0]), array([0, 0, 0, 0, 1]))
    """
    counts = splits[:, 0] * splits[:, 1]
    box = np.repeat(np.arange(len(splits)), counts)
    row, column = np.divmod(np.arange(len(box)) - np.repeat(np.cumsum(counts) - counts, counts), splits[box, 0])
    return box, column, row
