"""How the nodes of a tree hang together."""

from functools import cached_property

import numpy as np

from hushgrid.arrays import Indices
from hushgrid.compiled import compiled


class Branches:
    """Parents, children and leaves, from the number of children.

    Nodes are numbered breadth first, from the root 0. Leaves are numbered depth first, so that every node is one
    contiguous run of leaves.

    Parameters
    ----------
    child_counts : array of int, shape (nodes,)
        Children of every node; none of a leaf.

    Examples
    --------
    >>> Branches(np.array([2, 0, 3, 0, 0, 0])).leaves
    array([1, 3, 4, 5])
    """

    child_counts: Indices

    def __init__(self, child_counts: Indices) -> None:
        self.child_counts = child_counts

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.child_counts)

    @property
    def cells(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @cached_property
    def first_children(self) -> Indices:
        """First child of each node; of a leaf, where it would be."""
        return 1 + np.cumsum(self.child_counts) - self.child_counts

    @cached_property
    def levels(self) -> Indices:
        """First node of each level, and the end, shape (levels + 1,)."""
        edges = [0, 1]
        while edges[-1] < self.nodes:
            edges.append(edges[-1] + int(self.child_counts[edges[-2] : edges[-1]].sum()))
        return np.array(edges)

    @cached_property
    def parents(self) -> Indices:
        """Parent of each node, -1 for the root."""
        return np.concatenate([[-1], np.repeat(np.arange(self.nodes), self.child_counts)])

    @cached_property
    def runs(self) -> tuple[Indices, Indices]:
        """Half-open range of leaves of each node."""
        first, stop = np.empty((2, self.nodes), np.int64)
        number_leaves(self.first_children, self.child_counts, first, stop)
        return first, stop

    @cached_property
    def leaves(self) -> Indices:
        """Nodes that are leaves, in leaf order."""
        nodes = np.flatnonzero(self.child_counts == 0)
        leaves = np.empty_like(nodes)
        leaves[self.runs[0][nodes]] = nodes
        return leaves


@compiled
def number_leaves(first_children: Indices, child_counts: Indices, first: Indices, stop: Indices) -> None:
    """Write the first leaf of each node, and the one after its last.

    Nodes come before their children.
    """
    for node in range(len(child_counts) - 1, -1, -1):  # how many leaves there are, for now
        stop[node] = child_counts[node] == 0
        for child in range(first_children[node], first_children[node] + child_counts[node]):
            stop[node] += stop[child]
    first[0] = 0
    for node in range(len(child_counts)):
        place = first[node]
        for child in range(first_children[node], first_children[node] + child_counts[node]):
            first[child] = place
            place += stop[child]
        stop[node] += first[node]
