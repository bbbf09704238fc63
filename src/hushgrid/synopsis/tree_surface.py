"""The density of a tree."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.compiled import run_in_slices
from hushgrid.geometry import cells
from hushgrid.geometry.tree import Tree
from hushgrid.inference.least_squares import solve
from hushgrid.inference.measurements import Measurements
from hushgrid.kernels import tree_answers
from hushgrid.synopsis.surface import SMALLEST_SLICE, spread


class TreeSurface:
    """A tree of boxes, flat inside each leaf, after least squares."""

    def __init__(self, tree: Tree, measurements: Measurements, counts: Floats) -> None:
        self._tree = tree
        self._measurements = measurements
        self._layout = (tree.boxes, tree.splits, tree.first_children)
        self._leaf_counts = counts

    def counts(self, rects: Floats) -> Floats:
        """Estimated points in each rectangle, shape (n,)."""
        rects, out = self._on_lattice(rects), np.empty(len(rects))

        def work(first: int, stop: int) -> None:
            tree_answers.count_on_tree(rects, first, stop, *self._layout, self._node_counts, out)

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return out

    def variances(self, rects: Floats) -> tuple[Floats, Floats]:
        """Variance of each estimate by noise, and by spread of the points inside cut leaves, shape (n,) each."""
        rects = self._on_lattice(rects)
        noise, spread = np.empty((2, len(rects)))
        variances, known, unknown, totals, spreads = self._variance_arrays

        def work(first: int, stop: int) -> None:
            tree_answers.vary_on_tree(
                rects, first, stop, *self._layout, variances, known, unknown, totals, spreads, noise, spread
            )

        run_in_slices(work, len(rects), smallest=SMALLEST_SLICE)
        return noise, spread

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
        """Counts of all nodes: sums over their runs of leaves."""
        first, stop = self._tree.runs
        running = np.concatenate([[0.0], np.cumsum(self._leaf_counts)])
        counts = running[stop] - running[first]
        counts[self._tree.leaves] = self._leaf_counts
        return np.asarray(counts)

    @cached_property
    def _variance_arrays(self) -> tuple[Floats, Floats, NDArray[np.int64], Floats, Floats]:
        variances = solve(self._tree, self._measurements).below_variances
        parents = self._tree.parents[1:]
        finite = np.isfinite(variances[1:])
        known = np.asarray(np.bincount(parents, np.where(finite, variances[1:], 0), minlength=self._tree.nodes), float)
        unknown = np.asarray(np.bincount(parents[~finite], minlength=self._tree.nodes), np.int64)
        totals = np.where(unknown > 0, np.inf, known)
        spreads = np.zeros(self._tree.nodes)
        spreads[self._tree.leaves] = spread(self._leaf_counts)
        return variances, known, unknown, totals, spreads
