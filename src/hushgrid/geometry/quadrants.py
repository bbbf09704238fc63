"""Quadtree cells along a Morton curve, and their trees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.branches import Branches
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import check_cells
from hushgrid.geometry.tree import Lattice, Tree

DEEPEST = 16  # levels of halving; the finest column and row of a point are numbers of as many bits


@dataclass(frozen=True, kw_only=True, eq=False)
class Quadrants:
    """Disjoint quadtree cells of any levels.

    They are in the order of the Morton curve.

    The curve visits the 4**16 finest cells so that every cell of every level is one contiguous run; the code of a
    finest cell interleaves the bits of its row and its column, the row's first. The level of a point's cell follows
    from its one code by a shift.

    Parameters
    ----------
    domain : Domain
    levels : array of int, shape (cells,)
        How often the domain was halved along each axis to get the cell.
    codes : array of int, shape (cells,)
        Number of the cell along the curve of its own level, in 0 to ``4**level - 1``.

    Examples
    --------
    >>> quarters = Quadrants(domain=Domain(west=0, south=0, east=1, north=1), levels=[1, 1], codes=[0, 3])
    >>> quarters.bounds()
    array([[0. , 0. , 0.5, 0.5],
           [0.5, 0.5, 1. , 1. ]])
    """

    domain: Domain
    levels: Indices
    codes: Indices

    def __post_init__(self) -> None:
        for name in ("levels", "codes"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.int64))
        check_cells(len(self.codes), what=f"List of {len(self.codes):,} quadtree cells")
        # As unsigned numbers, negative levels are too large; and a negative code stays so, however far it is shifted.
        if (self.levels.view(np.uint64) > DEEPEST).any() or (self.codes >> 2 * self.levels).any():
            msg = f"a quadtree cell has a level from 0 to {DEEPEST} and a code below 4**level."
            raise ArgumentError(msg)
        first, stop = self.runs
        if (first[1:] < stop[:-1]).any():
            msg = "quadtree cells must be disjoint, and in the order of the curve."
            raise ArgumentError(msg)

    def others(self, levels: Indices, codes: Indices) -> Self:
        """Other cells of the domain, which nobody checks again.

        For cells that follow from checked ones: a release by STAQ makes hundreds of lists of them.
        """
        cells = object.__new__(type(self))
        for name, value in (("domain", self.domain), ("levels", levels), ("codes", codes)):
            object.__setattr__(cells, name, value)
        return cells

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.codes)

    @property
    def runs(self) -> tuple[Indices, Indices]:
        """Half-open range of finest cells of each cell."""
        return finest_runs(self.levels, self.codes)

    def boxes(self) -> Indices:
        """Boxes on the lattice of finest cells, shape (cells, 4)."""
        size = 1 << (DEEPEST - self.levels)
        left, bottom = gather_bits(self.codes) * size, gather_bits(self.codes >> 1) * size
        return np.stack([left, bottom, left + size, bottom + size], axis=1)

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """Bounds of cells `first` to `stop`, shape (cells, 4)."""
        boxes = self.boxes()[first:stop]
        across = cells.edge(self.domain.west, self.domain.east, 1 << DEEPEST, boxes[:, [0, 2]])
        along = cells.edge(self.domain.south, self.domain.north, 1 << DEEPEST, boxes[:, [1, 3]])
        return np.stack([across[:, 0], along[:, 0], across[:, 1], along[:, 1]], axis=1)


def finest_runs(levels: Indices, codes: Indices) -> tuple[Indices, Indices]:
    """Half-open range of finest cells of each cell of any level."""
    shift = 2 * (DEEPEST - levels)
    return codes << shift, (codes + 1) << shift


def gather_bits(codes: Indices) -> Indices:
    """Number made of every second bit of a code.

    The lowest bit comes first.

    Examples
    --------
    >>> gather_bits(np.array([0b1101]))
    array([3])
    """
    bits = codes & 0x5555_5555
    for shift, mask in ((1, 0x3333_3333), (2, 0x0F0F_0F0F), (4, 0x00FF_00FF), (8, 0x0000_FFFF)):
        bits = (bits | bits >> shift) & mask
    return bits


def scatter_bits(numbers: Indices) -> Indices:
    """Code with the bits of a number in every second place.

    The inverse of `gather_bits`.

    Examples
    --------
    >>> [bin(code) for code in scatter_bits(np.array([0b111]))]
    ['0b10101']
    """
    bits = numbers & 0xFFFF
    for shift, mask in ((8, 0x00FF_00FF), (4, 0x0F0F_0F0F), (2, 0x3333_3333), (1, 0x5555_5555)):
        bits = (bits | bits << shift) & mask
    return bits


class QuadrantNodes(Branches):
    """Quadtree cells and all that hold them, breadth first.

    They are the nodes of a tree whose leaves are the cells, in their order. The cells tile the domain.

    Parameters
    ----------
    quadrants : Quadrants
        The leaves.

    Attributes
    ----------
    depths, codes : array of int, shape (nodes,)
        Level of each node, and its number along the curve of that level.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> domain = Domain(west=0, south=0, east=1, north=1)
    >>> nodes = QuadrantNodes(Quadrants(domain=domain, levels=[1, 2, 2, 2, 2, 1, 1], codes=[0, 4, 5, 6, 7, 2, 3]))
    >>> nodes.nodes, nodes.cells
    (9, 7)
    >>> nodes.find(np.array([1, 2]), np.array([3, 4]))
    array([4, 5])
    """

    def __init__(self, quadrants: Quadrants) -> None:
        levels, codes = quadrants.levels, quadrants.codes
        of_levels, inner = [], []
        for level in range(int(levels.max()) + 1):
            if level > 0:  # cells above the level have no part in it
                reach = levels >= level
                levels, codes = levels[reach], codes[reach]
            above = codes >> 2 * (levels - level)
            first = np.flatnonzero(np.diff(above, prepend=-1))
            of_levels.append(above[first])
            inner.append(levels[first] > level)
        super().__init__(np.where(np.concatenate(inner), 4, 0))
        self.depths = np.repeat(np.arange(len(of_levels)), [len(part) for part in of_levels])
        self.codes = np.concatenate(of_levels)

    def find(self, levels: Indices, codes: Indices) -> Indices:
        """Node of each cell, of any level."""
        # Breadth first, and along the curve within a level: these keys rise.
        return np.searchsorted(_key(self.depths, self.codes), _key(levels, codes))

    def tree(self, domain: Domain) -> Tree:
        """The same nodes as boxes of a domain."""
        size = 1 << (DEEPEST - self.depths)
        left, bottom = gather_bits(self.codes) * size, gather_bits(self.codes >> 1) * size
        return Tree(
            lattice=Lattice(domain=domain, columns=1 << DEEPEST, rows=1 << DEEPEST),
            boxes=np.stack([left, bottom, left + size, bottom + size], axis=1),
            splits=np.repeat(self.child_counts[:, None] // 2, 2, axis=1),
        )


def quadrant_tree(quadrants: Quadrants) -> Tree:
    """Tree whose leaves are these cells, in their order.

    The cells tile the domain; every inner node is quartered.
    """
    return QuadrantNodes(quadrants).tree(quadrants.domain)


def quadrants_of(tree: Tree) -> Quadrants:
    """The leaves of such a tree, in their order."""
    left, bottom, right, _ = tree.boxes[tree.leaves].T
    size = right - left
    levels = DEEPEST - np.rint(np.log2(size)).astype(np.int64)
    return Quadrants(
        domain=tree.domain, levels=levels, codes=scatter_bits(left // size) | scatter_bits(bottom // size) << 1
    )


def node_depths(tree: Branches) -> Indices:
    """Level of each node, 0 for the root."""
    return np.repeat(np.arange(len(tree.levels) - 1), np.diff(tree.levels))


def divide_cells(quadrants: Quadrants, steps: Indices) -> tuple[Quadrants, Indices]:
    """Parts of each cell `steps` levels down, and their cells.

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
    """Cells of one or more lists, in curve order."""
    levels, codes = (np.concatenate([getattr(part, name) for part in parts]) for name in ("levels", "codes"))
    order = np.argsort(codes << 2 * (DEEPEST - levels))
    return parts[0].others(levels[order], codes[order])


def pick_cells(quadrants: Quadrants, chosen: NDArray[np.bool_]) -> Quadrants:
    """Some of the cells."""
    return quadrants.others(quadrants.levels[chosen], quadrants.codes[chosen])


def _key(levels: Indices, codes: Indices) -> Indices:
    return (levels << 2 * DEEPEST) + codes
