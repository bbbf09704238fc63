"""Nodes of a tree divided, with the points in their children."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.geometry.tree import BOTTOM, LEFT, RIGHT, TOP, Tree, divide, grow
from hushgrid.privacy.budget import Budget


class TreeCounter(Protocol):
    """The part of a counter that looks at trees."""

    def total(self) -> int:
        """True number of points in the domain."""

    def count(self, partition: Tree) -> NDArray[np.int64]:
        """True number of points in every leaf."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Division:
    """Nodes of the last level that were divided, and what came of them.

    Parameters
    ----------
    nodes : array of int, shape (n,)
        Which, in rising order.
    splits : array of int, shape (n, 2)
        Columns and rows of each.
    children : array of int, shape (children, 4)
        Boxes of their children, node after node.
    true_counts : array of int, shape (children,)
        Points in these; exact, hence private.
    """

    nodes: Indices
    splits: Indices
    children: Indices
    true_counts: Indices


class Split(Protocol):
    """A way to divide nodes. Implemented by `MedianCuts` and `Quarters`."""

    halvings: ClassVar[int]
    """How often it halves a node."""

    def divide(
        self, counter: TreeCounter, budget: Budget, tree: Tree, nodes: Indices, true_counts: Indices
    ) -> Division:
        """Divide those nodes of the last level, of known true counts, that can be divided."""


@dataclass(frozen=True)
class Quarters:
    """Divides every node at the middle of both axes, which is public. A node of one column or row stays whole."""

    halvings: ClassVar[int] = 2

    def divide(
        self,
        counter: TreeCounter,
        budget: Budget,  # noqa: ARG002  # nothing is chosen
        tree: Tree,
        nodes: Indices,
        true_counts: Indices,
    ) -> Division:
        """Quarter nodes of the last level."""
        boxes = tree.boxes[nodes]
        nodes = nodes[(boxes[:, RIGHT] - boxes[:, LEFT] > 1) & (boxes[:, TOP] - boxes[:, BOTTOM] > 1)]
        splits, children = np.full((len(nodes), 2), 2), divide(tree.boxes[nodes], 2, 2)
        true_counts = count_children(counter, tree, nodes, splits, children)
        return Division(nodes=nodes, splits=splits, children=children, true_counts=true_counts)


def count_children(counter: TreeCounter, tree: Tree, nodes: Indices, splits: Indices, children: Indices) -> Indices:
    """True number of points in every child of nodes of the last level, node after node; no pass if there are none."""
    if len(nodes) == 0:
        return np.empty(0, np.int64)
    divided = grow(tree, nodes, splits, children)
    true_by_node = np.zeros(divided.nodes, np.int64)
    true_by_node[divided.leaves] = counter.count(divided)
    return true_by_node[tree.nodes :]
