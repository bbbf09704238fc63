"""Boxes of a lattice divided into boxes: how trees grow, level by level."""

import numpy as np

from hushgrid.arrays import Indices
from hushgrid.geometry.growth import divide_each
from hushgrid.geometry.tree import Lattice, Tree


def divide(boxes: Indices, columns: int, rows: int) -> Indices:
    """Every box in equal columns and rows, as equal as whole lattice lines allow, shape (boxes * columns * rows, 4).

    Examples
    --------
    >>> divide(np.array([[0, 0, 5, 4]]), 2, 1)
    array([[0, 0, 2, 4],
           [2, 0, 5, 4]])
    """
    return divide_each(boxes, np.tile((columns, rows), (len(boxes), 1)))


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
