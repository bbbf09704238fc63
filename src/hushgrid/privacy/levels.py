"""Measurements of whole levels of a tree that is public."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.tree import Tree
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measured, Measurements
from hushgrid.privacy.budget import Budget


def measure_levels(
    budget: Budget, tree: Tree, true_counts: NDArray[np.int64], shares: Sequence[Fraction]
) -> Measurements:
    """Noisy counts of all nodes of the lowest levels of a tree.

    Parameters
    ----------
    true_counts : array of int, shape (leaves,)
        Exact counts of the leaves, in leaf order.
    shares : sequence of Fraction
        Share of the budget for each level, the leaves' last; levels above these are not measured.

    Privacy
    -------
    (sum of shares · ε)-DP: the nodes of a level are disjoint, so that one record changes one count of each level by
    one, and the levels compose.
    """
    first_leaf, end_leaf = tree.runs
    running = np.concatenate([[0], np.cumsum(true_counts)])
    true_sums = running[end_leaf] - running[first_leaf]
    edges = tree.levels[-1 - len(shares) :]
    parts = [
        budget.measure(true_sums[first:stop], share, purpose=f"level of {stop - first:,} cells")
        for first, stop, share in zip(edges[:-1], edges[1:], shares, strict=True)
    ]
    return measurements_of_nodes(tree, np.arange(edges[0], edges[-1]), Measured.joined(parts))
