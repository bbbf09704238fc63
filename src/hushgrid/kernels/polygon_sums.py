"""Sums over any nodes of a tree, and their variance after least squares."""

import math

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled


@compiled
def add_up(parents: Indices, values: Floats) -> None:
    """Add the value of every node to its parent's, children before parents."""
    for node in range(len(parents) - 1, 0, -1):
        values[parents[node]] += values[node]


@compiled
def weigh(node: int, weight: float, parents: Indices, variances: Floats, sums: Floats) -> None:
    """Add a node of a weight to the sums of its parent."""
    parent = parents[node]
    if variances[node] < math.inf:
        sums[parent, 0] += variances[node] * weight
        sums[parent, 1] += variances[node] * weight * weight
    else:
        sums[parent, 2] += weight


@compiled
def enter(node: int, parents: Indices, is_entered: NDArray[np.bool_], entered: Indices, count: int) -> int:
    """List a node and all above it that are not yet listed; returns how many are."""
    while node >= 0 and not is_entered[node]:
        is_entered[node] = True
        entered[count] = node
        count += 1
        node = parents[node]
    return count


@compiled
def vary_on_runs(
    starts: Indices,
    runs: Indices,
    weights: Floats,
    first_area: int,
    stop_area: int,
    parents: Indices,
    variances: Floats,
    totals: Floats,
    running: Floats,
    noise: Floats,
) -> None:
    """Variance by noise of each weighted sum `first_area` to `stop_area`, by the algebra of `vary_on_tree`.

    Parameters
    ----------
    starts, runs, weights : arrays
        The sum of an area goes over the runs of siblings from ``starts[area]`` to ``starts[area + 1]``, each with one
        weight; only single nodes weigh other than one.
    parents : array, shape (nodes,)
        Numbers below the node's own, -1 for the root.
    variances : array, shape (nodes,)
        Variance of each node's estimate from itself and below, infinite where there is none.
    totals : array, shape (nodes, 2)
        Sum of the finite variances of a node's children, and the number of infinite ones.
    running : array, shape (nodes + 1, 2)
        The same, of all nodes before a node.
    """
    sums = np.zeros((len(parents), 3))
    is_entered, entered = np.zeros(len(parents), np.bool_), np.empty(len(parents), np.int64)
    for area in range(first_area, stop_area):
        count = 0
        root_weight, total = 0.0, 0.0
        for place in range(starts[area], starts[area + 1]):
            first, stop = runs[place, 0], runs[place, 1]
            parent = parents[first]
            count = enter(parent, parents, is_entered, entered, count)
            if parent < 0:
                root_weight = weights[place]
            elif stop == first + 1:
                weigh(first, weights[place], parents, variances, sums)
            else:
                known = running[stop, 0] - running[first, 0]
                sums[parent, 0] += known
                sums[parent, 1] += known
                sums[parent, 2] += running[stop, 1] - running[first, 1]
        for node in np.sort(entered[:count])[::-1]:  # children before parents
            known, unknown = totals[node, 0], totals[node, 1]
            linear, square, vague = sums[node, 0], sums[node, 1], sums[node, 2]
            mean = 0.0
            if unknown > 0:
                mean = vague / unknown
            elif known > 0:
                mean = linear / known
            total += max(square - 2 * mean * linear + mean * mean * known, 0.0)
            if node > 0:
                weigh(node, mean, parents, variances, sums)
            else:
                root_weight = mean
            sums[node, 0] = sums[node, 1] = sums[node, 2] = 0.0
            is_entered[node] = False
        if variances[0] < math.inf:
            total += variances[0] * root_weight * root_weight
        noise[area] = total
