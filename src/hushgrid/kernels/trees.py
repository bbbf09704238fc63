"""Passes up and down a tree in breadth-first order: each is linear in the number of nodes."""

import math

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled


@compiled
def gather_up(
    values: Floats, precisions: Floats, first_children: Indices, child_counts: Indices, sums: Floats, variances: Floats
) -> None:
    """Best estimate of every node from itself and what is below it, and its variance, children before parents.

    `values` and `precisions` are a node's own measurements, averaged, with precision zero where there are none. A
    node that nothing determines has variance infinity and estimate zero.
    """
    for node in range(len(values) - 1, -1, -1):
        precision, estimate = precisions[node], values[node]
        if child_counts[node] > 0:
            below, variance = 0.0, 0.0
            for child in range(first_children[node], first_children[node] + child_counts[node]):
                below += sums[child]
                variance += variances[child]
            if variance < math.inf:
                # As a correction, so that what agrees already stays exactly as it is.
                estimate = below if precision == 0 else estimate + (below - estimate) / (1 + precision * variance)
                precision += 1 / variance
        sums[node] = estimate
        variances[node] = 1 / precision if precision > 0 else math.inf


@compiled
def child_share(variances: Floats, child: int, total: float, unknown: int) -> float:
    """Part of a node's surplus that a child takes: by variance, or evenly among those nothing determines."""
    if unknown == 0:
        share: float = variances[child] / total
        return share
    return 1 / unknown if variances[child] == math.inf else 0.0


@compiled
def spread_down(
    sums: Floats, variances: Floats, first_children: Indices, child_counts: Indices, counts: Floats
) -> None:
    """Counts that add up: what a node has beyond its children's estimates goes to them in proportion to variance."""
    counts[0] = sums[0]
    for node in range(len(sums)):
        first, stop = first_children[node], first_children[node] + child_counts[node]
        below, total, unknown = 0.0, 0.0, 0
        for child in range(first, stop):
            below += sums[child]
            total += variances[child]
            unknown += variances[child] == math.inf
        for child in range(first, stop):
            counts[child] = sums[child] + (counts[node] - below) * child_share(variances, child, total, unknown)


@compiled
def vary_down(variances: Floats, first_children: Indices, child_counts: Indices, out: Floats) -> None:
    """Variance of every final count, parents before children.

    A child's final count is its own estimate plus a share s of its parent's surplus. The estimate minus that share of
    its siblings' sum is uncorrelated with the parent's count, so its variance is
    ``V_child (1 - s) + s**2 V_parent``, with s = V_child / (sum of V over the children).
    """
    out[0] = variances[0]
    for node in range(len(variances)):
        first, stop = first_children[node], first_children[node] + child_counts[node]
        total, unknown = 0.0, 0
        for child in range(first, stop):
            total += variances[child]
            unknown += variances[child] == math.inf
        for child in range(first, stop):
            share = child_share(variances, child, total, unknown)
            if variances[child] == math.inf:
                # Everything the known siblings leave of the parent, evenly: their noise comes with it.
                known = 0.0
                for sibling in range(first, stop):
                    if variances[sibling] < math.inf:
                        known += variances[sibling]
                out[child] = share * share * (out[node] + known)
            else:
                out[child] = variances[child] * (1 - share) + share * share * out[node]
