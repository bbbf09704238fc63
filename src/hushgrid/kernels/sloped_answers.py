"""Sums over rectangles on a tree whose leaves slope: only nodes that the rectangle cuts are entered.

Rectangles are in units of the tree's lattice. All there is to know of a node lies in one cache line, because queries
jump about in a tree and wait for memory more than they compute.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.compiled import compiled

NODE = np.dtype(
    {
        "names": ["west", "south", "east", "north", "first_child", "children", "count", "slope_x", "slope_y"],
        "formats": [np.int32] * 6 + [np.float64] * 3,
        "itemsize": 64,
    }
)


@compiled
def share_below(place: float, slope: float) -> float:
    """Share of a mass that lies below a place U from 0 to 1, where the density is ``1 + slope (2 U - 1)``."""
    return place + slope * (place * place - place)


@compiled
def share_between(low: float, high: float, start: float, end: float, slope: float) -> float:
    """Share of a mass spread from `start` to `end` that lies from `low` to `high`."""
    below = share_below((low - start) / (end - start), slope) if low > start else 0.0
    above = share_below((high - start) / (end - start), slope) if high < end else 1.0
    return max(above - below, 0.0)


@compiled
def count_on_sloped_tree(rects: Floats, first: int, stop: int, nodes: NDArray[np.void], out: Floats) -> None:
    """Estimated counts of the rectangles `first` to `stop`; a node's count is the sum of its children's.

    All children of a node that is cut are looked at, so that there should be few of them.
    """
    stack = np.empty(len(nodes), np.int64)
    for number in range(first, stop):
        left, bottom, right, top = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        total = 0.0
        stack[0], height = 0, 1
        while height > 0:
            height -= 1
            node = nodes[stack[height]]
            if left <= node.west and bottom <= node.south and node.east <= right and node.north <= top:
                total += node.count
            elif node.children == 0:
                across = share_between(left, right, node.west, node.east, node.slope_x)
                along = share_between(bottom, top, node.south, node.north, node.slope_y)
                total += node.count * across * along
            else:
                for number_of_child in range(node.first_child, node.first_child + node.children):
                    child = nodes[number_of_child]
                    if left < child.east and child.west < right and bottom < child.north and child.south < top:
                        stack[height] = number_of_child
                        height += 1
        out[number] = total
