"""Whole numbers for print: none negative, and all levels add up.

From the root down, a node's whole number is divided among its children. First come the numbers that are nearest to the
estimates by their variances, none of them negative, and sum to the parent's; then these are rounded by largest
remainders, as in the TopDown algorithm of the US census (Abowd et al. 2022). It is a view: a release keeps its signed
measurements.
"""

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.branches import Branches


def whole_numbers(tree: Branches, counts: Floats, variances: Floats) -> Indices:
    """Whole numbers of all nodes, shape (nodes,).

    Parameters
    ----------
    tree : Branches
    counts, variances : array, shape (nodes,)
        Estimates, and the variance of each from itself and below.

    Examples
    --------
    >>> whole_numbers(Branches(np.array([3, 0, 0, 0])), np.array([4.0, 2.6, 3.4, -2.0]), np.ones(4))
    array([4, 2, 2, 0])
    """
    whole = np.zeros(tree.nodes, np.int64)
    whole[0] = max(round(counts[0]), 0)
    for node in np.flatnonzero(tree.child_counts).tolist():
        children = slice(tree.first_children[node], tree.first_children[node] + tree.child_counts[node])
        fitted = nearest_with_sum(counts[children], variances[children], float(whole[node]))
        whole[children] = rounded_to_sum(fitted, int(whole[node]))
    return whole


def whole_apart(counts: Floats, variances: Floats) -> Indices:
    """Whole numbers of areas that lie apart, with their sum, shape (n,).

    An area of no variance is one where nothing was counted: its number is zero.

    Examples
    --------
    >>> whole_apart(np.array([2.6, 3.4, -2.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    array([2, 2, 0, 0])
    """
    whole, counted = np.zeros(len(counts), np.int64), variances > 0
    if counted.any():
        total = max(round(counts[counted].sum()), 0)
        whole[counted] = rounded_to_sum(nearest_with_sum(counts[counted], variances[counted], float(total)), total)
    return whole


def nearest_with_sum(values: Floats, variances: Floats, total: float) -> Floats:
    """Numbers nearest to some values, none negative, of a given sum.

    Distances are squares over variances. The solution is ``max(z + t v, 0)`` with one t for all: as t rises, one number
    after the other is above zero.

    Examples
    --------
    >>> nearest_with_sum(np.array([3.0, 1.0, -4.0]), np.ones(3), 2.0)
    array([2., 0., 0.])
    """
    enters = -values / variances  # the t from which on each is above zero
    order = np.argsort(enters)
    first, slope = np.cumsum(values[order]), np.cumsum(variances[order])
    levels = (total - first) / slope  # t, if the first so many are above zero
    number = max(int(np.count_nonzero(levels > enters[order])), 1)
    return np.asarray(np.maximum(values + levels[number - 1] * variances, 0))


def rounded_to_sum(fitted: Floats, total: int) -> Indices:
    """Whole numbers within one of those fitted, with their sum.

    Those with the largest remainders are rounded up.

    Examples
    --------
    >>> rounded_to_sum(np.array([0.6, 1.7, 0.7]), 3)
    array([0, 2, 1])
    """
    floors = np.floor(fitted)
    up = np.argsort(floors - fitted, kind="stable")[: max(total - int(floors.sum()), 0)]
    whole = floors.astype(np.int64)
    whole[up] += 1
    return whole
