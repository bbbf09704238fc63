"""Cells of a quadtree that tile the domain, as the leaves of a tree."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import DEEPEST, Quadrants, gather_bits, scatter_bits
from hushgrid.geometry.tree import BOTTOM, LEFT, RIGHT, Lattice, Tree


def quadrant_tree(quadrants: Quadrants) -> Tree:
    """Tree whose leaves are quadtree cells that tile the domain, in the same order; all inner nodes are quartered.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> domain = Domain(west=0, south=0, east=1, north=1)
    >>> tree = quadrant_tree(Quadrants(domain=domain, levels=[1, 2, 2, 2, 2, 1, 1], codes=[0, 4, 5, 6, 7, 2, 3]))
    >>> tree.nodes, tree.cells
    (9, 7)
    """
    levels, codes, splits = [], [], []
    for level in range(int(quadrants.levels.max()) + 1):
        leaf_levels = quadrants.levels[quadrants.levels >= level]
        above = quadrants.codes[quadrants.levels >= level] >> 2 * (leaf_levels - level)
        first = np.flatnonzero(np.diff(above, prepend=-1))
        levels.append(np.full(len(first), level))
        codes.append(above[first])
        splits.append(np.where(leaf_levels[first] > level, 2, 0))
    size = 1 << (DEEPEST - np.concatenate(levels))
    code = np.concatenate(codes)
    left, bottom = gather_bits(code) * size, gather_bits(code >> 1) * size
    return Tree(
        lattice=Lattice(domain=quadrants.domain, columns=1 << DEEPEST, rows=1 << DEEPEST),
        boxes=np.stack([left, bottom, left + size, bottom + size], axis=1),
        splits=np.repeat(np.concatenate(splits)[:, None], 2, axis=1),
    )


def nodes_of_cells(tree: Tree, levels: Indices, codes: Indices) -> Indices:
    """Node of such a tree that each quadtree cell is, shape (cells,)."""
    # Breadth first, and along the curve within a level: these keys rise.
    return np.searchsorted(_key(*cells_of_nodes(tree)), _key(levels, codes))


def cells_of_nodes(tree: Tree) -> tuple[Indices, Indices]:
    """Level and code of every node of such a tree, shape (nodes,) each."""
    left, bottom, right = tree.boxes[:, [LEFT, BOTTOM, RIGHT]].T
    size = right - left
    return node_depths(tree), scatter_bits(left // size) | scatter_bits(bottom // size) << 1


def node_depths(tree: Tree) -> Indices:
    """Level of every node, 0 for the root, shape (nodes,)."""
    return np.repeat(np.arange(len(tree.levels) - 1), np.diff(tree.levels))


def divide_cells(quadrants: Quadrants, steps: Indices) -> tuple[Quadrants, Indices]:
    """Every cell in its parts so many levels down, in order, and the cell that each part lies in.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> domain = Domain(west=0, south=0, east=1, north=1)
    >>> parts, whole = divide_cells(Quadrants(domain=domain, levels=[1, 1], codes=[0, 3]), np.array([0, 1]))
    >>> parts.codes, whole
    (array([ 0, 12, 13, 14, 15]), array([0, 1, 1, 1, 1]))
    """
    counts = 4**steps
    whole = np.repeat(np.arange(quadrants.cells), counts)
    part = np.arange(len(whole)) - np.repeat(np.cumsum(counts) - counts, counts)
    levels, codes = (quadrants.levels + steps)[whole], (quadrants.codes << 2 * steps)[whole] + part
    return replace(quadrants, levels=levels, codes=codes), whole


def all_cells(domain: Domain, level: int) -> Quadrants:
    """All cells of one level."""
    return Quadrants(domain=domain, levels=np.full(4**level, level), codes=np.arange(4**level))


def join_cells(parts: Sequence[Quadrants]) -> Quadrants:
    """The cells of several lists, at least one, in the order of the curve."""
    levels, codes = (np.concatenate([getattr(part, name) for part in parts]) for name in ("levels", "codes"))
    order = np.argsort(codes << 2 * (DEEPEST - levels))
    return replace(parts[0], levels=levels[order], codes=codes[order])


def pick_cells(quadrants: Quadrants, chosen: NDArray[np.bool_]) -> Quadrants:
    """Some of the cells."""
    return replace(quadrants, levels=quadrants.levels[chosen], codes=quadrants.codes[chosen])


def _key(levels: Indices, codes: Indices) -> Indices:
    return (levels << 2 * DEEPEST) + codes
