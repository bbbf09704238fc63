"""The density of a tree whose leaves slope."""

from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.compiled import run_in_slices
from hushgrid.geometry.tree import Tree
from hushgrid.inference.measurements import Measurements
from hushgrid.inference.slopes import slopes as learned_slopes
from hushgrid.kernels.sloped_answers import NODE, count_on_sloped_tree
from hushgrid.synopsis.surface import SMALLEST_SLICE
from hushgrid.synopsis.tree_surface import TreeSurface


class SlopedSurface(TreeSurface):
    """A tree of boxes; inside a leaf the density is linear along x times linear along y.

    At the place (U, V) of a leaf, both from 0 to 1, it is the leaf's mean density times
    ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``. Variances are those of flat leaves.

    Parameters
    ----------
    slopes : array, shape (leaves, 2)
        gx and gy of every leaf, from -1 to 1.
    """

    def __init__(self, tree: Tree, measurements: Measurements, counts: Floats, slopes: Floats) -> None:
        super().__init__(tree, measurements, counts)
        self.slopes = slopes

    @classmethod
    def of(cls, tree: Tree, measurements: Measurements, counts: Floats) -> Self:
        """Surface of a quadtree, its slopes learned from the counts of its leaves, none negative."""
        first, stop = tree.runs
        running = np.concatenate([[0.0], np.cumsum(counts)])
        return cls(tree, measurements, counts, learned_slopes(tree, running[stop] - running[first]))

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        rects, out = self._on_lattice(rects), np.empty(len(rects))
        nodes = self._nodes

        def work(first: int, stop: int) -> None:
            count_on_sloped_tree(rects, first, stop, nodes, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

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
