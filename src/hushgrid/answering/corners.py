"""Rectangles on a quadtree, by their corners.

The mass of a rectangle is that south-west of its four corners, added and subtracted. Every node keeps the mass below
each place along x and along y, so that one descent gives the mass south-west of a point: what a node has beside the
way down is read off, not visited (docs/staq-inference.md).
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.tree import Tree

SMALLEST_SLICE = 1024  # rectangles a thread is worth starting for
X, Y = 0, 1
COARSE_BITS = 8  # of a place, by which many rectangles are sorted: neighbours then find the same nodes in the cache
WORTH_SORTING = 2**14  # rectangles
MOST_ROWS, ROWS_A_NODE = 2**20, 16  # releases of STAQ have one or two a node

_FIELDS = {
    **dict.fromkeys(("west", "south", "first_child", "height"), np.int32),
    "start": np.int64,
    **dict.fromkeys(("per_width", "per_height", "count", "slope_x", "slope_y"), np.float64),
}
NODE = np.dtype(list(_FIELDS.items()))  # 64 bytes, a cache line


class Corners(NamedTuple):
    """A quadtree as the loops read it.

    Parameters
    ----------
    nodes : array of NODE, shape (nodes,)
        Lattice coordinates; the first child, 0 for a leaf; the height above the lowest leaf; where its rows start; one
        over width and height; count and slopes.
    marginals : array, shape (2, rows, 2)
        Mass below each place of an inner node, along x and along y. A node of height h has 2**h quadratic pieces of
        equal length, and one row more. A row holds the mass at the start of its piece, and its first coefficient.
    """

    nodes: NDArray[np.void]
    marginals: Floats


@compiled
def add_finer(marginals: Floats, axis: int, node: Any, target: int, finer: int) -> None:
    """Add the pieces of a node to `finer` times as many rows."""
    step, lean = 1.0 / finer, node.slope_x if axis == X else node.slope_y
    for piece in range(1 << node.height):
        start, first, second = 0.0, node.count * (1.0 - lean), node.count * lean
        if node.height > 0:
            start, first = marginals[axis, node.start + piece, 0], marginals[axis, node.start + piece, 1]
            second = marginals[axis, node.start + piece + 1, 0] - start - first
        for part in range(finer):
            place, row = part * step, target + piece * finer + part
            marginals[axis, row, 0] += start + place * (first + place * second)
            marginals[axis, row, 1] += step * (first + 2 * place * second)


@compiled
def fill_marginals(nodes: NDArray[np.void], marginals: Floats) -> None:
    """Marginals of all inner nodes, children first."""
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        start, child = node.start, node.first_child
        if child == 0:
            continue
        half = 1 << (node.height - 1)
        for axis in range(2):
            across, along = 1 + axis, 2 - axis  # numbers from a child to the one beyond, and to the one beside
            for side in range(2):
                mass = 0.0
                for beside in range(2):
                    part = nodes[child + side * across + beside * along]
                    mass += part.count
                    add_finer(marginals, axis, part, start + side * half, half >> part.height)
                for row in range(start + (1 + side) * half, start + 2 * half + 1):
                    marginals[axis, row, 0] += mass


@compiled
def mass_below(marginals: Floats, axis: int, node: Any, place: float) -> float:
    """Mass of a node below a place from 0 to 1 along an axis."""
    if node.height == 0:
        lean = node.slope_x if axis == X else node.slope_y
        leaf: float = node.count * (place + lean * (place * place - place))
        return leaf
    pieces = 1 << node.height
    scaled = place * pieces
    piece = min(int(scaled), pieces - 1)
    rest, row = scaled - piece, node.start + piece
    value, first = marginals[axis, row, 0], marginals[axis, row, 1]
    mass: float = value + rest * (first + rest * (marginals[axis, row + 1, 0] - value - first))
    return mass


@compiled
def mass_south_west(tree: Corners, start: int, x: float, y: float) -> float:
    """Mass of a node south-west of a point in it or on its edge."""
    nodes, marginals = tree
    total, number = 0.0, start
    while True:
        node = nodes[number]
        across, along = (x - node.west) * node.per_width, (y - node.south) * node.per_height
        if across <= 0.0 or along <= 0.0:
            return total
        if across >= 1.0:
            return total + (node.count if along >= 1.0 else mass_below(marginals, Y, node, along))
        if along >= 1.0:
            return total + mass_below(marginals, X, node, across)
        child = node.first_child
        if child == 0:
            west = across + node.slope_x * (across * across - across)
            leaf: float = node.count * west * (along + node.slope_y * (along * along - along))
            return total + leaf
        east, north = int(across >= 0.5), int(along >= 0.5)
        if north:  # all of the southern children that lies west of the point
            total += mass_below(marginals, X, nodes[child + east], 2.0 * across - east)
            total += nodes[child].count if east else 0.0
        if east:  # and what lies south of it in the child to the west
            total += mass_below(marginals, Y, nodes[child + 2 * north], 2.0 * along - north)
        number = child + east + 2 * north


@compiled
def count_by_corners(rects: Floats, order: Indices, first: int, stop: int, tree: Corners, out: Floats) -> None:
    """Estimated counts of the rectangles `first` to `stop` in an order."""
    nodes = tree.nodes
    for place in range(first, stop):
        number = order[place]
        left, bottom, right, top = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        at = 0  # the smallest node that holds the rectangle: masses there are smaller numbers than in the root
        while nodes[at].first_child > 0:
            node = nodes[at]
            middle, centre = node.west + 0.5 / node.per_width, node.south + 0.5 / node.per_height
            east, north = left >= middle, bottom >= centre
            if (right > middle and not east) or (top > centre and not north):
                break
            at = node.first_child + int(east) + 2 * int(north)
        northern = mass_south_west(tree, at, right, top) - mass_south_west(tree, at, left, top)
        southern = mass_south_west(tree, at, right, bottom) - mass_south_west(tree, at, left, bottom)
        out[number] = northern - southern


def is_even_quadtree(tree: Tree) -> bool:
    """Whether every inner node has four children of one size."""
    if not np.isin(tree.splits, (0, 2)).all():
        return False
    sizes = tree.boxes[:, 2:] - tree.boxes[:, :2]
    return bool((2 * sizes[1:] == sizes[tree.parents[1:]]).all())


def heights_of(tree: Tree) -> Indices:
    """Height of every node above the lowest leaf in it."""
    heights = np.zeros(tree.nodes, np.int64)
    for first, stop in reversed([*pairwise(tree.levels[1:])]):
        np.maximum.at(heights, tree.parents[first:stop], heights[first:stop] + 1)
    return heights


def corners_of(tree: Tree, node_counts: Floats, slopes: Floats) -> Corners | None:
    """A quadtree with the marginals of its nodes, or None.

    None stands for a tree that is not an even quadtree, or so deep for its size that marginals would take far more
    memory than the tree, as a made-up file may hold.

    Parameters
    ----------
    node_counts : array, shape (nodes,)
        Count of every node, which is the sum of its children's.
    slopes : array, shape (leaves, 2)
        How the density slopes inside leaves; empty where it is flat.
    """
    if not is_even_quadtree(tree):
        return None
    heights = heights_of(tree)
    if np.exp2(heights).sum() > MOST_ROWS + ROWS_A_NODE * tree.nodes:
        return None
    rows = np.where(heights > 0, (1 << heights) + 1, 0)
    nodes = np.zeros(tree.nodes, NODE)
    nodes["west"], nodes["south"] = tree.boxes[:, 0], tree.boxes[:, 1]
    nodes["per_width"] = 1 / (tree.boxes[:, 2] - tree.boxes[:, 0])
    nodes["per_height"] = 1 / (tree.boxes[:, 3] - tree.boxes[:, 1])
    nodes["first_child"] = np.where(tree.child_counts > 0, tree.first_children, 0)
    nodes["height"], nodes["start"], nodes["count"] = heights, np.cumsum(rows) - rows, node_counts
    if len(slopes):
        nodes["slope_x"][tree.leaves], nodes["slope_y"][tree.leaves] = slopes.T
    marginals = np.zeros((2, int(rows.sum()), 2))
    fill_marginals(nodes, marginals)
    return Corners(nodes, marginals)


def counts_by_corners(rects: Floats, corners: Corners, *, side: tuple[int, int]) -> Floats:
    """Estimated counts of rectangles in lattice units, shape (n,).

    `side` has the columns and rows of the lattice.
    """
    order, out = by_place(rects, side), np.empty(len(rects))

    def work(first: int, stop: int) -> None:
        count_by_corners(rects, order, first, stop, corners, out)

    run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
    return out


def by_place(rects: Floats, side: tuple[int, int]) -> Indices:
    """An order in which rectangles near each other come together."""
    if len(rects) < WORTH_SORTING:
        return np.arange(len(rects))
    coarse = (rects[:, :2] * ((1 << COARSE_BITS) / np.array(side))).astype(np.uint16)
    places = np.minimum(coarse, (1 << COARSE_BITS) - 1)
    return np.argsort(places[:, 0] | places[:, 1] << COARSE_BITS, kind="stable")  # of 16 bits: a radix sort
