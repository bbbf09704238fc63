"""Least squares on any tree, in linear time.

Measurements may have any variances.

Reference: Hay, Rastogi, Miklau, Suciu: "Boosting the Accuracy of Differentially Private Histograms Through
Consistency", VLDB 2010, for equal variances; weighted as in Cormode et al., ICDE 2012.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.errors import ArgumentError
from hushgrid.geometry.branches import Branches
from hushgrid.geometry.tree import Tree
from hushgrid.inference.measurements import NOT_MEASURED, Measurements, NoisyValues, Regions


@compiled
def gather_up(
    values: Floats, precisions: Floats, first_children: Indices, child_counts: Indices, sums: Floats, variances: Floats
) -> None:
    """Best estimate of every node from its subtree.

    Its variance comes with it. Children come before parents.

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
    """Share of a node's surplus that a child takes.

    Shares are proportional to variance. Where nothing determines some children, these share it evenly.
    """
    if unknown == 0:
        share: float = variances[child] / total
        return share
    return 1 / unknown if variances[child] == math.inf else 0.0


@compiled
def spread_down(
    sums: Floats, variances: Floats, first_children: Indices, child_counts: Indices, counts: Floats
) -> None:
    """Make counts add up, parents before children.

    What a node has beyond its children's estimates goes to them, by `child_share`.
    """
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
                # It takes an even part of what known siblings leave of the parent, and of their noise.
                known = 0.0
                for sibling in range(first, stop):
                    if variances[sibling] < math.inf:
                        known += variances[sibling]
                out[child] = share * share * (out[node] + known)
            else:
                out[child] = variances[child] * (1 - share) + share * share * out[node]


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeEstimates:
    """Estimates of each node, before and after least squares.

    Parameters
    ----------
    sums, below_variances : array, shape (nodes,)
        Estimate from a node's own measurements and those below it, and its variance; infinite where nothing was
        measured.
    counts, variances : array, shape (nodes,)
        Estimate from all measurements: children add up to their parents.
    """

    tree: Branches
    sums: Floats
    below_variances: Floats

    @cached_property
    def counts(self) -> Floats:
        """Counts of the nodes that add up."""
        counts = np.empty(self.tree.nodes)
        spread_down(self.sums, self.below_variances, self.tree.first_children, self.tree.child_counts, counts)
        return counts

    @cached_property
    def variances(self) -> Floats:
        """Variances of the noise in `counts`."""
        variances = np.empty(self.tree.nodes)
        vary_down(self.below_variances, self.tree.first_children, self.tree.child_counts, variances)
        return variances


def solve(tree: Branches, measurements: Measurements) -> NodeEstimates:
    """Least-squares estimates of all nodes of a tree."""
    values, precisions = average_by_node(tree, measurements)
    sums, variances = np.empty((2, tree.nodes))
    gather_up(values, precisions, tree.first_children, tree.child_counts, sums, variances)
    return NodeEstimates(tree=tree, sums=sums, below_variances=variances)


def average_by_node(tree: Branches, measurements: Measurements) -> tuple[Floats, Floats]:
    """Mean and precision of each node's own measurements.

    The mean is weighted by inverse variance; the precision is zero where there are no measurements.
    """
    taken = (
        (tree.leaves, measurements.leaves),
        (nodes_of_runs(tree, measurements.regions.first, measurements.regions.stop), measurements.region_values),
    )
    one, weighted, precisions = np.zeros((3, tree.nodes))
    # Averaged as corrections to one of the values, so that values that agree stay exactly as they are.
    for nodes, measured in taken:
        one[nodes] = measured.values
    for nodes, measured in taken:
        precision = 1 / measured.variances
        np.add.at(precisions, nodes, precision)
        np.add.at(weighted, nodes, precision * (measured.values - one[nodes]))
    return one + np.divide(weighted, precisions, out=np.zeros(tree.nodes), where=precisions > 0), precisions


def nodes_of_runs(tree: Branches, first: Indices, stop: Indices) -> Indices:
    """The node that each run of leaves makes up."""
    # Every inner node has two children or more, so no two nodes have the same run.
    node_first, node_stop = tree.runs
    width = tree.cells + 1
    keys = node_first * width + node_stop
    order = np.argsort(keys)
    wanted = first * width + stop
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), tree.nodes - 1)
    nodes = order[place]
    if not np.array_equal(keys[nodes], wanted):
        msg = "a measured region is not a node of the tree."
        raise ArgumentError(msg)
    return nodes


def measurements_of_nodes(tree: Branches, nodes: Indices, measured: NoisyValues) -> Measurements:
    """Measurements of nodes, as a release keeps them.

    They are given in the order they were taken. The last one of a leaf becomes the leaf's own; all others are of
    regions.

    Parameters
    ----------
    nodes : array of int, shape (n,)
        The node of each measurement; a node may occur several times.
    """
    real = measured.rate_index != NOT_MEASURED
    last = np.full(tree.nodes, -1, np.int64)
    last[nodes[real]] = np.flatnonzero(real)
    own = last[tree.leaves]
    is_own = np.zeros(len(nodes), bool)
    is_own[own[own >= 0]] = True
    others = np.flatnonzero(real & ~is_own)
    first, stop = tree.runs

    def pick(places: Indices) -> NoisyValues:
        picked = NoisyValues.nothing(len(places))
        found = places >= 0
        picked.values[found] = measured.values[places[found]]
        picked.rate_index[found] = measured.rate_index[places[found]]
        return replace(picked, rates=measured.rates)

    return Measurements(
        leaves=pick(own),
        regions=Regions(first=first[nodes[others]], stop=stop[nodes[others]]),
        region_values=pick(others),
    )


def node_sums(tree: Branches, leaf_values: Floats | Indices) -> Floats:
    """Sum over each node's leaves, shape (nodes,); exact where these are whole."""
    first, stop = tree.runs
    running = np.concatenate([[0.0], np.cumsum(leaf_values)])
    return np.asarray(running[stop] - running[first])


def measured_nodes(tree: Branches, measurements: Measurements) -> Indices:
    """Nodes that measurements reach, in order.

    They are the root and the children of all nodes below which something was measured.
    """
    regions = measurements.regions
    below = np.zeros(tree.nodes, bool)
    below[tree.leaves] = measurements.leaves.rate_index != NOT_MEASURED
    real = measurements.region_values.rate_index != NOT_MEASURED
    below[nodes_of_runs(tree, regions.first[real], regions.stop[real])] = True
    divided = np.zeros(tree.nodes, bool)
    for first, stop in reversed(list(pairwise(tree.levels[1:]))):
        parents = tree.parents[first:stop]
        divided[parents[below[first:stop]]] = True
        below[parents] |= divided[parents]
    return np.flatnonzero(np.append(True, divided[tree.parents[1:]]))


def measured_tree(tree: Tree, nodes: Indices, measurements: Measurements) -> tuple[Tree, Measurements]:
    """The tree of the nodes that measurements reach, and these on it."""
    places = np.full(tree.nodes, -1)
    places[nodes] = np.arange(len(nodes))
    children = tree.first_children[nodes]
    divided = (tree.child_counts[nodes] > 0) & (places[np.minimum(children, tree.nodes - 1)] >= 0)
    measured = Tree(lattice=tree.lattice, boxes=tree.boxes[nodes], splits=tree.splits[nodes] * divided[:, None])
    runs = nodes_of_runs(tree, measurements.regions.first, measurements.regions.stop)
    values = NoisyValues.joined([measurements.region_values, measurements.leaves])
    real = values.rate_index != NOT_MEASURED
    where = places[np.concatenate([runs, tree.leaves])[real]]
    return measured, measurements_of_nodes(measured, where, values.pick(real))
