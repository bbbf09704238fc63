"""Loops that place points in a hierarchy of boxes.

Every point has bits of its own, a function of a key and its number, so that it does not matter which thread places it:
SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014), started anew for each point.

The children of a node form rows and columns. A block of them is halved along its longer side, as in
`hushgrid.answering.cover`, down to single leaves. Blocks are numbered depth first: the first half of a block comes
right after it, so that the leaves of every block are one contiguous run of leaves.
"""

import math

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled

GAMMA = np.uint64(0x9E3779B97F4A7C15)  # this and the multipliers: Steele, Lea, Flood 2014, figure 16
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@compiled
def mixed(bits: np.uint64) -> np.uint64:
    """Mix 64 bits: each depends on all given."""
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_FACTOR
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_FACTOR
    return bits ^ (bits >> np.uint64(31))


@compiled
def uniform_draw(key: np.uint64, point: int, number: int) -> float:
    """A draw of a point, in (0, 1).

    Draws are numbered from 1.
    """
    start = mixed(key + np.uint64(point + 1) * GAMMA)
    bits = mixed(start + np.uint64(number) * GAMMA) >> np.uint64(12)
    return (float(np.int64(bits)) + 0.5) * 2.0**-52


@compiled
def invert_share(share: float, slope: float) -> float:
    """The place below which a share of mass lies.

    The inverse of `share_below` in `hushgrid.answering.sloped_trees`: the root U, from 0 to 1, of
    ``slope U² + (1 - slope) U = share``, in the form that loses no digits and needs no special case.
    """
    linear = 1.0 - slope
    return min(2.0 * share / (linear + math.sqrt(max(linear * linear + 4.0 * slope * share, 0.0))), 1.0)


@compiled
def place_point(key: np.uint64, point: int, draw: int, axis: int, leaf: int, bounds: Floats, slopes: Floats) -> float:
    """A coordinate of a point in a leaf."""
    share = uniform_draw(key, point, draw)
    if len(slopes) > 0:
        share = invert_share(share, slopes[leaf, axis])
    low, high = bounds[leaf, axis], bounds[leaf, axis + 2]
    return float(min(low + share * (high - low), high))


@compiled
def scatter(key: np.uint64, first: int, stop: int, ends: Indices, bounds: Floats, slopes: Floats, out: Floats) -> None:
    """Place the points `first` to `stop`.

    Parameters
    ----------
    ends : array of int, shape (leaves,)
        The points of a leaf end before this number, and start where those of the leaf before end.
    bounds : array, shape (leaves, 4)
    slopes : array, shape (leaves, 2)
        Of the density inside leaves; empty where it is flat.
    out : array, shape (points, 2)
    """
    leaf = int(np.searchsorted(ends, first, side="right"))
    for point in range(first, stop):
        while ends[leaf] <= point:
            leaf += 1
        for axis in range(2):
            out[point, axis] = place_point(key, point, axis + 1, axis, leaf, bounds, slopes)


@compiled
def scatter_again(
    key: np.uint64, points: Indices, leaves: Indices, attempt: int, bounds: Floats, slopes: Floats, out: Floats
) -> None:
    """Place points in their leaves, several times each.

    From `attempt` on; `out` has shape (points, times, 2).
    """
    for row in range(len(points)):
        for time in range(out.shape[1]):
            for axis in range(2):
                draw = 2 * (attempt + time) + axis + 1
                out[row, time, axis] = place_point(key, points[row], draw, axis, leaves[row], bounds, slopes)


INNER = -1  # in place of a leaf's node


@compiled
def halve(splits: Indices, first_children: Indices, leaves: int) -> tuple[Indices, Indices]:
    """Halve all blocks, down to the leaves.

    Gives the second half of every block, and the node of those that are leaves, shape (2 leaves - 1,) each.

    Parameters
    ----------
    splits, first_children : arrays of int, shape (nodes, 2) and (nodes,)
        Columns and rows of a node's children, zero for a leaf, and the first of them.
    leaves : int
        Number of leaves.
    """
    seconds, nodes = np.zeros(2 * leaves - 1, np.int64), np.full(2 * leaves - 1, INNER, np.int64)
    # A node, left, bottom, right and top of a block of its children, and the block it is the second half of.
    stack = np.empty((64, 6), np.int64)
    stack[0] = (0, 0, 0, splits[0, 0], splits[0, 1], INNER)
    height, found = 1, 0
    if splits[0, 0] == 0:
        nodes[0], height = 0, 0
    while height > 0:
        height -= 1
        node, left, bottom, right, top, before = stack[height]
        child = first_children[node] + bottom * splits[node, 0] + left
        if right - left == 1 and top - bottom == 1 and splits[child, 0] > 0:
            stack[height] = (child, 0, 0, splits[child, 0], splits[child, 1], before)
            height += 1
            continue
        if before != INNER:
            seconds[before] = found
        if right - left == 1 and top - bottom == 1:
            nodes[found] = child
        else:
            if height + 2 > len(stack):
                stack = np.concatenate((stack, np.empty_like(stack)))
            across, along = (left + right) // 2, (bottom + top) // 2
            if right - left >= top - bottom:
                stack[height] = (node, across, bottom, right, top, found)
                stack[height + 1] = (node, left, bottom, across, top, INNER)
            else:
                stack[height] = (node, left, along, right, top, found)
                stack[height + 1] = (node, left, bottom, right, along, INNER)
            height += 2
        found += 1
    return seconds, nodes


@compiled
def add_halves(seconds: Indices, values: Floats) -> None:
    """Add up the values of halves, to all blocks."""
    for block in range(len(seconds) - 1, -1, -1):
        if seconds[block] > 0:
            values[block] = values[block + 1] + values[seconds[block]]


@compiled
def hand_down(seconds: Indices, counts: Floats, areas: Floats, masses: Floats) -> None:
    """Share the mass of every block between its halves.

    The mass of the first is given. Halves share in proportion to their counts, if one is positive; a half whose count
    is not, or that has no area, gets nothing. Else they share in proportion to their areas.
    """
    for block in range(len(seconds)):
        first, second = block + 1, seconds[block]
        if second > 0:
            one = max(counts[first], 0.0) if areas[first] > 0 else 0.0
            other = max(counts[second], 0.0) if areas[second] > 0 else 0.0
            if one + other <= 0:
                one, other = areas[first], areas[second]
            share = one / (one + other) if one + other > 0 else 0.0
            masses[first] = share * masses[block]
            masses[second] = masses[block] - masses[first]


@compiled
def inherit(parents: Indices, values: Floats) -> None:
    """Give every node at least its parent's value.

    Parents come before children.
    """
    for node in range(1, len(parents)):
        values[node] = max(values[node], values[parents[node]])
