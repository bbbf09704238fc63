"""The density of a tree, summed over rectangles.

Rectangles are in units of the tree's lattice. Children form rows and columns, so that those a rectangle touches are
found by bisection, however many there are.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hushgrid.answering.corner_noise import Lines, TreeNoise, lines_of, variances_by_corners
from hushgrid.answering.corners import Corners, corners_of, counts_by_corners
from hushgrid.answering.surface import FLAT, SMALLEST_SLICE, spread
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry import cells
from hushgrid.geometry.tree import Tree
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.least_squares import child_share

Rect = tuple[float, float, float, float]

# Corners take as long to tabulate as it takes to walk the tree for a few rectangles, or for many small ones. Walking
# takes 0.5 µs a rectangle and 0.07 µs a leaf that its edges cross, corners 0.2 µs a node and 1 µs a rectangle.
FEW = 2000  # rectangles, up to which the tree is walked
CROSSED = 3.0  # leaves a node, up to which it is walked for more


class Boxes(NamedTuple):
    """Where the nodes of a tree lie.

    Parameters
    ----------
    sides : array of int, shape (nodes, 4)
        West, south, east, north.
    splits : array of int, shape (nodes, 2)
        Columns and rows of a node's children; 0, 0 for a leaf.
    first_children : array of int, shape (nodes,)
    """

    sides: Indices
    splits: Indices
    first_children: Indices


@compiled
def first_beyond(boxes: Indices, side: int, line: float, first: int, stride: int, count: int, include: bool) -> int:
    """First box whose edge lies beyond a line.

    Of `count` boxes, by bisection. An edge on the line counts if `include` says so.
    """
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        edge = boxes[first + middle * stride, side]
        if edge > line or (include and edge == line):
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def touched_span(
    sides: Indices, first: int, columns: int, rows: int, left: float, bottom: float, right: float, top: float
) -> tuple[int, int, int, int]:
    """Children that a rectangle touches.

    Returns first column and end, first row and end.
    """
    return (
        first_beyond(sides, 2, left, first, 1, columns, False),
        first_beyond(sides, 0, right, first, 1, columns, True),
        first_beyond(sides, 3, bottom, first, columns, rows, False),
        first_beyond(sides, 1, top, first, columns, rows, True),
    )


@compiled
def share(sides: Indices, node: int, left: float, bottom: float, right: float, top: float) -> float:
    """Share of a node that a rectangle covers.

    It is exactly one where the rectangle covers all of the node.
    """
    west, south = sides[node, 0], sides[node, 1]
    east, north = sides[node, 2], sides[node, 3]
    width = max(min(right, float(east)) - max(left, float(west)), 0.0)
    height = max(min(top, float(north)) - max(bottom, float(south)), 0.0)
    covered: float = (width / (east - west)) * (height / (north - south))
    return covered


@compiled
def count_on_tree(rects: Floats, first: int, stop: int, boxes: Boxes, counts: Floats, out: Floats) -> None:
    """Estimated counts of the rectangles `first` to `stop`.

    `counts` holds the count of every node, which is the sum of its children's.
    """
    sides, splits, first_children = boxes
    stack = np.empty(len(counts), np.int64)
    for number in range(first, stop):
        left, bottom, right, top = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        covered = share(sides, 0, left, bottom, right, top)
        total, height = 0.0, 0
        if covered == 1.0 or splits[0, 0] == 0:
            total = covered * counts[0]
        elif covered > 0:
            stack[0], height = 0, 1
        while height > 0:
            height -= 1
            node = stack[height]
            start, columns = first_children[node], splits[node, 0]
            west, east, south, north = touched_span(sides, start, columns, splits[node, 1], left, bottom, right, top)
            for row in range(south, north):
                for child in range(start + row * columns + west, start + row * columns + east):
                    covered = share(sides, child, left, bottom, right, top)
                    if covered == 1.0 or splits[child, 0] == 0:
                        total += covered * counts[child]
                    else:
                        stack[height] = child
                        height += 1
        out[number] = total


@compiled
def enter(rect: Rect, boxes: Boxes, spreads: Floats, cut: Indices, weights: Floats) -> tuple[int, float]:
    """List cut inner nodes, and weigh touched nodes.

    Parents are listed first. The weight of a node is its covered share.

    Returns how many were listed, and the variance by spread in the leaves.
    """
    sides, splits, first_children = boxes
    left, bottom, right, top = rect
    cut[0] = 0
    weights[0] = share(sides, 0, left, bottom, right, top)
    spread = weights[0] * (1 - weights[0]) * spreads[0]
    entered = 1 if splits[0, 0] > 0 and 0.0 < weights[0] < 1.0 else 0
    place = 0
    while place < entered:
        node = cut[place]
        place += 1
        start, columns = first_children[node], splits[node, 0]
        west, east, south, north = touched_span(sides, start, columns, splits[node, 1], left, bottom, right, top)
        for row in range(south, north):
            for child in range(start + row * columns + west, start + row * columns + east):
                weights[child] = share(sides, child, left, bottom, right, top)
                spread += weights[child] * (1 - weights[child]) * spreads[child]
                if splits[child, 0] > 0 and weights[child] < 1.0:
                    cut[entered] = child
                    entered += 1
    return entered, spread


@compiled
def average_up(rect: Rect, boxes: Boxes, given: TreeNoise, cut: Indices, entered: int, weights: Floats) -> float:
    """Noise variance of a rectangle's count, going up.

    Each cut node adds the variance from its children's weights around their mean.
    """
    sides, splits, first_children = boxes
    left, bottom, right, top = rect
    variances, noise = given.variances, 0.0
    for place in range(entered - 1, -1, -1):
        node = cut[place]
        start, columns = first_children[node], splits[node, 0]
        west, east, south, north = touched_span(sides, start, columns, splits[node, 1], left, bottom, right, top)
        mean, linear, square = 0.0, 0.0, 0.0
        for row in range(south, north):
            for child in range(start + row * columns + west, start + row * columns + east):
                mean += weights[child] * child_share(variances, child, given.totals[node], given.unknown[node])
                if variances[child] < math.inf:
                    linear += variances[child] * weights[child]
                    square += variances[child] * weights[child] * weights[child]
        weights[node] = mean
        noise += max(square - 2 * mean * linear + mean * mean * given.known[node], 0.0)
    if variances[0] < math.inf:
        noise += variances[0] * weights[0] * weights[0]
    return noise


@compiled
def vary_on_tree(
    rects: Floats, first: int, stop: int, boxes: Boxes, given: TreeNoise, noise: Floats, spread: Floats
) -> None:
    """Variances by noise and by spread, after least squares.

    Leaves carry their covered share as weight w. Going up, the children c of a node have the mean weight
    ``m = sum s_c w_c``, s the shares of `spread_down`; what they add beyond m times the node's own count is
    uncorrelated with it and has variance ``sum V_c (w_c - m)**2``. The root adds ``V m**2``.
    """
    cut = np.empty(len(given.variances), np.int64)
    weights = np.empty(len(given.variances))
    for number in range(first, stop):
        rect = (rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3])
        entered, spread[number] = enter(rect, boxes, given.spreads, cut, weights)
        noise[number] = average_up(rect, boxes, given, cut, entered, weights)


class TreeSurface:
    """The density of a tree, flat inside leaves.

    Variances are those of least squares. Leaves that a public prior divided further vary as they were measured.
    """

    def __init__(self, evidence: Evidence, counts: Floats, slopes: Floats = FLAT) -> None:
        tree = evidence.partition
        assert isinstance(tree, Tree)
        self._tree = tree
        self._evidence = evidence
        self._boxes = Boxes(tree.boxes, tree.splits, tree.first_children)
        self._leaf_counts = counts
        self.slopes = slopes

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        by_corners, rects = self._by_corners(rects), self._on_lattice(rects)
        if by_corners and self._corners is not None:
            return counts_by_corners(rects, self._corners, side=self._side)
        out = np.empty(len(rects))

        def work(first: int, stop: int) -> None:
            count_on_tree(rects, first, stop, self._boxes, self._node_counts, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each."""
        if self._measured is not None:
            return self._measured.variances(rects)
        by_corners, rects = self._by_corners(rects), self._on_lattice(rects)
        if by_corners and self._lines is not None:
            return variances_by_corners(rects, self._lines, side=self._side)
        noise, spread = np.empty((2, len(rects)))

        def work(first: int, stop: int) -> None:
            vary_on_tree(rects, first, stop, self._boxes, self._noise, noise, spread)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return noise, spread

    @cached_property
    def _measured(self) -> "TreeSurface | None":
        """The tree that was measured, if leaves were divided further."""
        measured = self._evidence.measured
        if measured is self._evidence:
            return None
        counts = self._node_counts[self._evidence.measured_nodes]
        return TreeSurface(measured, counts[measured.nodes.tree.leaves])

    def _on_lattice(self, rects: Floats) -> Floats:
        """Rectangles in units of the lattice, clipped to it."""
        domain, lattice = self._tree.domain, self._tree.lattice
        scaled = np.empty_like(rects)
        for places, low, high, count in (
            ([0, 2], domain.west, domain.east, lattice.columns),
            ([1, 3], domain.south, domain.north, lattice.rows),
        ):
            scaled[:, places] = np.clip((rects[:, places] - low) * cells.scale(low, high, count), 0, count)
        return scaled

    @cached_property
    def _node_counts(self) -> Floats:
        """Counts of all nodes, from their leaves."""
        first, stop = self._tree.runs
        running = np.concatenate([[0.0], np.cumsum(self._leaf_counts)])
        counts = running[stop] - running[first]
        counts[self._tree.leaves] = self._leaf_counts
        return np.asarray(counts)

    def _by_corners(self, rects: Floats) -> bool:
        """Whether rectangles cross enough leaves to be worth the tables of corners."""
        if len(rects) <= FEW:
            return False
        domain = self._tree.domain
        sides = np.minimum((rects[:, 2:] - rects[:, :2]) / (domain.width, domain.height), 1.0)
        return bool(sides.sum() * math.sqrt(self._tree.cells) > CROSSED * self._tree.nodes)

    @cached_property
    def _corners(self) -> Corners | None:
        """The tree by its corners, if it is a quadtree."""
        return corners_of(self._tree, self._node_counts, self.slopes)

    @cached_property
    def _lines(self) -> Lines | None:
        """Lines through its nodes, if it is a quadtree."""
        return None if self._corners is None else lines_of(self._corners, self._noise)

    @property
    def _side(self) -> tuple[int, int]:
        return self._tree.lattice.columns, self._tree.lattice.rows

    @cached_property
    def _noise(self) -> TreeNoise:
        variances = self._evidence.nodes.below_variances
        parents = self._tree.parents[1:]
        finite = np.isfinite(variances[1:])
        known = np.asarray(np.bincount(parents, np.where(finite, variances[1:], 0), minlength=self._tree.nodes), float)
        unknown = np.asarray(np.bincount(parents[~finite], minlength=self._tree.nodes), np.int64)
        totals = np.where(unknown > 0, np.inf, known)
        spreads = np.zeros(self._tree.nodes)
        spreads[self._tree.leaves] = spread(self._leaf_counts)
        return TreeNoise(variances, known, unknown, totals, spreads)
