"""The density of sloped trees, summed over rectangles.

Rectangles are in units of the tree's lattice. All there is to know of a node lies in one cache line, because queries
jump about in a tree and wait for memory more than they compute.
"""

from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.answering.surface import SMALLEST_SLICE
from hushgrid.answering.trees import TreeSurface
from hushgrid.arrays import Floats
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.tree import Tree
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.slopes import slopes as learned_slopes

NODE = np.dtype(
    {
        "names": ["west", "south", "east", "north", "first_child", "children", "count", "slope_x", "slope_y"],
        "formats": [np.int32] * 6 + [np.float64] * 3,
        "itemsize": 64,
    }
)


@compiled
def share_below(place: float, slope: float) -> float:
    """Share of a sloped mass below a place.

    The place U is from 0 to 1, and the density ``1 + slope (2 U - 1)``.
    """
    return place + slope * (place * place - place)


@compiled
def share_between(low: float, high: float, start: float, end: float, slope: float) -> float:
    """Share of a sloped mass between two places.

    The mass lies from `start` to `end`, the places are `low` and `high`.
    """
    below = share_below((low - start) / (end - start), slope) if low > start else 0.0
    above = share_below((high - start) / (end - start), slope) if high < end else 1.0
    return max(above - below, 0.0)


@compiled
def count_on_sloped_tree(rects: Floats, first: int, stop: int, nodes: NDArray[np.void], out: Floats) -> None:
    """Estimated counts of the rectangles `first` to `stop`.

    A node's count is the sum of its children's.

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


class SlopedSurface(TreeSurface):
    """The density of a tree, sloped inside leaves.

    Inside a leaf it is linear along x times linear along y.

    At the place (U, V) of a leaf, both from 0 to 1, it is the leaf's mean density times
    ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``. Variances are those of flat leaves.

    Parameters
    ----------
    slopes : array, shape (leaves, 2)
        gx and gy of every leaf, from -1 to 1.
    """

    @classmethod
    def of(cls, evidence: Evidence, counts: Floats) -> Self:
        """Surface of a quadtree, with learned slopes.

        Slopes are learned from the counts of the leaves; a negative one counts as none.
        """
        tree = evidence.partition
        assert isinstance(tree, Tree)
        first, stop = tree.runs
        running = np.concatenate([[0.0], np.cumsum(np.maximum(counts, 0))])
        return cls(evidence, counts, learned_slopes(tree, running[stop] - running[first]))

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        if self._by_corners(rects) and self._corners is not None:
            found = super().counts(rects)
            return found if self._has_negative else np.maximum(found, 0.0)  # the rest of what cancels may be below zero
        rects, out = self._on_lattice(rects), np.empty(len(rects))
        nodes = self._nodes

        def work(first: int, stop: int) -> None:
            count_on_sloped_tree(rects, first, stop, nodes, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

    @cached_property
    def _has_negative(self) -> bool:
        return bool(np.any(self._leaf_counts < 0))

    @cached_property
    def _nodes(self) -> NDArray[np.void]:
        """All nodes as the kernel reads them."""
        nodes = np.zeros(self._tree.nodes, NODE)
        for side, line in zip(("west", "south", "east", "north"), self._tree.boxes.T, strict=True):
            nodes[side] = line
        nodes["first_child"], nodes["children"] = self._tree.first_children, self._tree.child_counts
        nodes["count"] = self._node_counts
        for axis, name in enumerate(("slope_x", "slope_y")):
            nodes[name][self._tree.leaves] = self.slopes[:, axis]
        return nodes
