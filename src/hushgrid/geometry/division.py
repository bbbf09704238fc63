"""Boxes of a lattice divided into boxes: how trees grow, level by level."""

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.tree import BOTTOM, LEFT, RIGHT, TOP, Lattice, Tree

Indices = NDArray[np.int64]


def divide(boxes: Indices, columns: int, rows: int) -> Indices:
    """Every box in equal columns and rows, as equal as whole lattice lines allow, shape (boxes * columns * rows, 4).

    Examples
    --------
    >>> divide(np.array([[0, 0, 5, 4]]), 2, 1)
    array([[0, 0, 2, 4],
           [2, 0, 5, 4]])
    """
    row, column = np.divmod(np.arange(columns * rows), columns)
    left, bottom, right, top = (boxes[:, [side]] for side in (LEFT, BOTTOM, RIGHT, TOP))
    width, height = right - left, top - bottom
    children = np.empty((len(boxes), columns * rows, 4), np.int64)
    children[:, :, LEFT] = left + width * column // columns
    children[:, :, RIGHT] = left + width * (column + 1) // columns
    children[:, :, BOTTOM] = bottom + height * row // rows
    children[:, :, TOP] = bottom + height * (row + 1) // rows
    return children.reshape(-1, 4)


def cut(boxes: Indices, axis: int, lines: Indices) -> Indices:
    """Every box in two, at a line of its own: across columns for axis 0, across rows for axis 1, shape (2 boxes, 4).

    Examples
    --------
    >>> cut(np.array([[0, 0, 5, 4]]), 1, np.array([3]))
    array([[0, 0, 5, 3],
           [0, 3, 5, 4]])
    """
    halves = np.repeat(boxes, 2, axis=0)
    halves[0::2, RIGHT + axis] = lines
    halves[1::2, LEFT + axis] = lines
    return halves


def full_tree(lattice: Lattice, divisions: list[tuple[int, int]]) -> Tree:
    """Tree whose nodes are all divided alike on each level, from the root down.

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
