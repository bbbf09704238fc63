"""How the nodes of a tree hang together."""

from functools import cached_property
from itertools import pairwise

import numpy as np

from hushgrid.arrays import Indices


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
        sizes = np.ones(self.nodes, np.int64)
        inner = np.flatnonzero(self.child_counts)
        for first, stop in reversed(list(pairwise(self.levels))):
            parents = inner[np.searchsorted(inner, first) : np.searchsorted(inner, stop)]
            if len(parents):
                below = self.first_children[parents]
                end = below[-1] + self.child_counts[parents[-1]]
                sizes[parents] = np.add.reduceat(sizes[below[0] : end], below - below[0])
        before = np.cumsum(sizes) - sizes  # leaves of all earlier nodes, siblings and strangers
        first_leaf = np.zeros(self.nodes, np.int64)
        for first, stop in pairwise(self.levels[1:]):
            node = np.arange(first, stop)
            parent = self.parents[node]
            first_leaf[node] = first_leaf[parent] + before[node] - before[self.first_children[parent]]
        return first_leaf, first_leaf + sizes

    @cached_property
    def leaves(self) -> Indices:
        """Nodes that are leaves, in leaf order."""
        leaves = np.flatnonzero(self.child_counts == 0)
        return leaves[np.argsort(self.runs[0][leaves])]
