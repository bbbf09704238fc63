"""Variances of rectangles on a quadtree, by their corners.

A node that one side of a rectangle cuts, and no other, is half a plane to the rectangle: what it adds follows from the
place of the line alone. Every node keeps that for all places along x and along y, so that only nodes with two sides in
them are visited (docs/staq-inference.md). The algebra is that of `vary_on_tree`.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushgrid.answering.corners import Corners, X, Y, by_place
from hushgrid.answering.surface import SMALLEST_SLICE
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.inference.least_squares import child_share

WEIGHT, NOISE, NOISE_STEP, SPREAD, SPREAD_STEP = range(5)  # columns of the lines
ALL = 4  # children of a node


class TreeNoise(NamedTuple):
    """What makes the variances of sums over a tree.

    Parameters
    ----------
    variances : array, shape (nodes,)
        Variance of each node's estimate from itself and below (`gather_up`).
    known, unknown : arrays, shape (nodes,)
        Sum of the finite variances of a node's children, and the number of infinite ones.
    totals : array, shape (nodes,)
        Sum of all of them.
    spreads : array, shape (nodes,)
        Variance scale of the points inside a leaf; zero for inner nodes.
    """

    variances: Floats
    known: Floats
    unknown: Indices
    totals: Floats
    spreads: Floats


class Lines(NamedTuple):
    """What lines through nodes do to variances.

    Parameters
    ----------
    tree : Corners
        Where the nodes are; a node has the rows here that its marginals have there.
    rows : array, shape (2, rows, 5)
        For a line across x and one across y, at the start of each piece of an inner node: the mean weight of what lies
        below it, the variance by noise inside the node and its first coefficient, and the same by spread. The mean
        weight is linear in a piece, the variances are quadratic; those above the line are the same.
    noise : TreeNoise
        Variances of the nodes.
    """

    tree: Corners
    rows: Floats
    noise: TreeNoise


@compiled
def add_child_lines(rows: Floats, axis: int, child: Any, spread: float, target: int, finer: int, share: float) -> None:
    """Add a child's weights and variances to finer rows of its node."""
    step = 1.0 / finer
    for piece in range(1 << child.height):
        low, rise, noise, noise_step, noise_bend = 0.0, 1.0, 0.0, 0.0, 0.0  # those of a leaf
        by_spread, spread_step, spread_bend = 0.0, spread, -spread
        if child.height > 0:
            one, other = child.start + piece, child.start + piece + 1
            low, rise = rows[axis, one, WEIGHT], rows[axis, other, WEIGHT] - rows[axis, one, WEIGHT]
            noise, noise_step = rows[axis, one, NOISE], rows[axis, one, NOISE_STEP]
            noise_bend = rows[axis, other, NOISE] - noise - noise_step
            by_spread, spread_step = rows[axis, one, SPREAD], rows[axis, one, SPREAD_STEP]
            spread_bend = rows[axis, other, SPREAD] - by_spread - spread_step
        for part in range(finer):
            place, row = part * step, target + piece * finer + part
            rows[axis, row, WEIGHT] += share * (low + place * rise)
            rows[axis, row, NOISE] += noise + place * (noise_step + place * noise_bend)
            rows[axis, row, NOISE_STEP] += step * (noise_step + 2 * place * noise_bend)
            rows[axis, row, SPREAD] += by_spread + place * (spread_step + place * spread_bend)
            rows[axis, row, SPREAD_STEP] += step * (spread_step + 2 * place * spread_bend)


@compiled
def weight_at(rows: Floats, axis: int, child: Any, place: float) -> float:
    """Mean weight of a child at a place from 0 to 1."""
    if child.height == 0:
        return place
    pieces = 1 << child.height
    piece = min(int(place * pieces), pieces - 1)
    low, high = rows[axis, child.start + piece, WEIGHT], rows[axis, child.start + piece + 1, WEIGHT]
    weight: float = low + (place * pieces - piece) * (high - low)
    return weight


@compiled
def draw_lines(nodes: NDArray[np.void], given: TreeNoise, rows: Floats) -> None:
    """Fill the rows of all nodes, leaves first."""
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        start, first = node.start, node.first_child
        if first == 0:
            continue
        half = 1 << (node.height - 1)
        for axis in range(2):
            rows[axis, start + 2 * half, WEIGHT] = 1.0
            across, along = 1 + axis, 2 - axis  # numbers from a child to the one beyond, and to the one beside
            for side in range(2):
                low = start + side * half
                for beside in range(2):
                    inside, passed = first + side * across + beside * along, first + beside * along
                    share = child_share(given.variances, inside, given.totals[number], given.unknown[number])
                    finer = half >> nodes[inside].height
                    add_child_lines(rows, axis, nodes[inside], given.spreads[inside], low, finer, share)
                    if side:
                        share = child_share(given.variances, passed, given.totals[number], given.unknown[number])
                        for row in range(low, low + half):
                            rows[axis, row, WEIGHT] += share
            for side in range(2):
                add_differences(rows, axis, nodes, number, given.variances, side)


@compiled
def add_differences(
    rows: Floats, axis: int, nodes: NDArray[np.void], number: int, variances: Floats, side: int
) -> None:
    """Add the variance of the children's weights around their mean."""
    node = nodes[number]
    half, across, along = 1 << (node.height - 1), 1 + axis, 2 - axis
    low = node.start + side * half
    for place in range(ALL):
        is_inside = place // 2 == side
        child = node.first_child + (place // 2) * across + (place % 2) * along
        if variances[child] == math.inf:
            continue
        beyond = 1.0 if side else 0.0  # the weight of children that the line does not cut
        before = (0.0 if is_inside else beyond) - rows[axis, low, WEIGHT]
        for piece in range(half):
            own = weight_at(rows, axis, nodes[child], (piece + 1) / half) if is_inside else beyond
            after = own - rows[axis, low + piece + 1, WEIGHT]
            rows[axis, low + piece, NOISE] += variances[child] * before * before
            rows[axis, low + piece, NOISE_STEP] += 2 * variances[child] * before * (after - before)
            before = after


@compiled
def read_line(rows: Floats, axis: int, node: Any, place: float) -> tuple[float, float, float]:
    """Weight and variances below a line through a node."""
    pieces = 1 << node.height
    scaled = place * pieces
    piece = min(int(scaled), pieces - 1)
    rest, one, other = scaled - piece, node.start + piece, node.start + piece + 1
    weight, noise, noise_step = rows[axis, one, WEIGHT], rows[axis, one, NOISE], rows[axis, one, NOISE_STEP]
    spread, spread_step = rows[axis, one, SPREAD], rows[axis, one, SPREAD_STEP]
    return (
        weight + rest * (rows[axis, other, WEIGHT] - weight),
        noise + rest * (noise_step + rest * (rows[axis, other, NOISE] - noise - noise_step)),
        spread + rest * (spread_step + rest * (rows[axis, other, SPREAD] - spread - spread_step)),
    )


@compiled
def meet(
    rect: tuple[float, float, float, float], lines: Lines, number: int, weights: Floats
) -> tuple[float, float, bool]:
    """Weigh a node; returns its variances, and whether it must be entered."""
    node = lines.tree.nodes[number]
    left, right = (rect[0] - node.west) * node.per_width, (rect[2] - node.west) * node.per_width
    bottom, top = (rect[1] - node.south) * node.per_height, (rect[3] - node.south) * node.per_height
    if right <= 0.0 or left >= 1.0 or top <= 0.0 or bottom >= 1.0:
        weights[number] = 0.0
        return 0.0, 0.0, False
    cuts = int(left > 0.0) + int(right < 1.0) + int(bottom > 0.0) + int(top < 1.0)
    if cuts == 0:
        weights[number] = 1.0
        return 0.0, 0.0, False
    if node.first_child > 0 and cuts > 1:
        return 0.0, 0.0, True
    if node.first_child == 0:
        weight = (min(right, 1.0) - max(left, 0.0)) * (min(top, 1.0) - max(bottom, 0.0))
        weights[number] = weight
        return 0.0, weight * (1.0 - weight) * lines.noise.spreads[number], False
    across = left > 0.0 or right < 1.0
    above = left > 0.0 or bottom > 0.0
    place = (left if above else right) if across else (bottom if above else top)
    weight, noise, spread = read_line(lines.rows, X if across else Y, node, place)
    weights[number] = 1.0 - weight if above else weight
    return noise, spread, False


@compiled
def vary_by_corners(
    rects: Floats, order: Indices, first: int, stop: int, lines: Lines, noise: Floats, spread: Floats
) -> None:
    """Variances of the rectangles `first` to `stop` in an order."""
    nodes, given = lines.tree.nodes, lines.noise
    entered, weights = np.empty(len(nodes), np.int64), np.empty(len(nodes))
    for place in range(first, stop):
        number = order[place]
        rect = (rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3])
        by_noise, by_spread, is_entered = meet(rect, lines, 0, weights)
        entered[0], count, seen = 0, int(is_entered), 0
        while seen < count:
            child = nodes[entered[seen]].first_child
            seen += 1
            for each in range(child, child + ALL):
                more_noise, more_spread, is_entered = meet(rect, lines, each, weights)
                by_noise += more_noise
                by_spread += more_spread
                if is_entered:
                    entered[count] = each
                    count += 1
        while count > 0:
            count -= 1
            node = entered[count]
            child = nodes[node].first_child
            mean, linear, square = 0.0, 0.0, 0.0
            for each in range(child, child + ALL):
                mean += weights[each] * child_share(given.variances, each, given.totals[node], given.unknown[node])
                if given.variances[each] < math.inf:
                    linear += given.variances[each] * weights[each]
                    square += given.variances[each] * weights[each] * weights[each]
            weights[node] = mean
            by_noise += max(square - 2 * mean * linear + mean * mean * given.known[node], 0.0)
        if given.variances[0] < math.inf:
            by_noise += given.variances[0] * weights[0] * weights[0]
        noise[number], spread[number] = by_noise, by_spread


def lines_of(tree: Corners, noise: TreeNoise) -> Lines:
    """What lines through the nodes of a quadtree do."""
    rows = np.zeros((*tree.marginals.shape[:2], 5))
    draw_lines(tree.nodes, noise, rows)
    return Lines(tree, rows, noise)


def variances_by_corners(rects: Floats, lines: Lines, *, side: tuple[int, int]) -> tuple[Floats, Floats]:
    """Variances by noise and by spread of rectangles in lattice units.

    `side` has the columns and rows of the lattice.
    """
    order = by_place(rects, side)
    noise, spread = np.empty((2, len(rects)))

    def work(first: int, stop: int) -> None:
        vary_by_corners(rects, order, first, stop, lines, noise, spread)

    run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
    return noise, spread
