"""Least squares on any tree, with any variances, in time linear in its nodes.

Reference: Hay, Rastogi, Miklau, Suciu: "Boosting the Accuracy of Differentially Private Histograms Through
Consistency", VLDB 2010, for equal variances; weighted as in Cormode et al., ICDE 2012.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.tree import Tree
from hushgrid.inference.measurements import NOT_MEASURED, Measured, Measurements, Regions
from hushgrid.kernels import trees


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeEstimates:
    """What the measurements say of each node, from itself and below, and after everything has been made to agree.

    Parameters
    ----------
    sums, below_variances : array, shape (nodes,)
        Estimate from a node's own measurements and those below it, and its variance; infinite where nothing was
        measured.
    counts, variances : array, shape (nodes,)
        Estimate from all measurements: children add up to their parents.
    """

    tree: Tree
    sums: Floats
    below_variances: Floats

    @cached_property
    def counts(self) -> Floats:
        """Counts of the nodes that add up."""
        counts = np.empty(self.tree.nodes)
        trees.spread_down(self.sums, self.below_variances, self.tree.first_children, self.tree.child_counts, counts)
        return counts

    @cached_property
    def variances(self) -> Floats:
        """Variances of the noise in `counts`."""
        variances = np.empty(self.tree.nodes)
        trees.vary_down(self.below_variances, self.tree.first_children, self.tree.child_counts, variances)
        return variances


def solve(tree: Tree, measurements: Measurements) -> NodeEstimates:
    """Least-squares estimates of all nodes of a tree."""
    values, precisions = average_by_node(tree, measurements)
    sums, variances = np.empty((2, tree.nodes))
    trees.gather_up(values, precisions, tree.first_children, tree.child_counts, sums, variances)
    return NodeEstimates(tree=tree, sums=sums, below_variances=variances)


def average_by_node(tree: Tree, measurements: Measurements) -> tuple[Floats, Floats]:
    """Mean of each node's own measurements by inverse variance, and its precision, zero where there are none."""
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


def nodes_of_runs(tree: Tree, first: Indices, stop: Indices) -> Indices:
    """The node that each run of leaves makes up."""
    # A run is one node: every inner node has two children or more.
    node_first, node_stop = tree.runs
    width = tree.cells + 1
    keys = node_first * width + node_stop
    order = np.argsort(keys)
    wanted = first * width + stop
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), tree.nodes - 1)
    nodes = order[place]
    if not np.array_equal(keys[nodes], wanted):
        msg = "a measured region is no node of the tree."
        raise ArgumentError(msg)
    return nodes


def measurements_of_nodes(tree: Tree, nodes: Indices, measured: Measured) -> Measurements:
    """Measurements of nodes, in the order they were taken, as a release keeps them: the last of a leaf is its own.

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

    def pick(places: Indices) -> Measured:
        picked = Measured.nothing(len(places))
        found = places >= 0
        picked.values[found] = measured.values[places[found]]
        picked.rate_index[found] = measured.rate_index[places[found]]
        return replace(picked, rates=measured.rates)

    return Measurements(
        leaves=pick(own),
        regions=Regions(first=first[nodes[others]], stop=stop[nodes[others]]),
        region_values=pick(others),
    )
