"""Any hierarchy of boxes as a binary one, and masses handed down in it.

The children of a node form rows and columns. A block of them is halved along its longer side, as `polygon_cover` does
it, down to single leaves. Blocks are numbered depth first: the first half of a block comes right after it, so that the
leaves of every block are one contiguous run of leaves.
"""

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled

INNER = -1  # in place of a leaf's node


@compiled
def halve(splits: Indices, first_children: Indices, leaves: int) -> tuple[Indices, Indices]:
    """The second half of every block, and the node of those that are leaves, shape (2 leaves - 1,) each.

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
    """Value of every block that is no leaf: the sum of its halves'."""
    for block in range(len(seconds) - 1, -1, -1):
        if seconds[block] > 0:
            values[block] = values[block + 1] + values[seconds[block]]


@compiled
def hand_down(seconds: Indices, counts: Floats, areas: Floats, masses: Floats) -> None:
    """Share the mass of every block, of which the first is given, between its halves.

    In proportion to their counts, if one is positive; a half whose count is not, or that has no area, gets nothing.
    Else in proportion to their areas.
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
    """Give every node at least the value of its parent, parents before children."""
    for node in range(1, len(parents)):
        values[node] = max(values[node], values[parents[node]])
