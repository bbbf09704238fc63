"""Lines that cut the nodes of a tree about in half, chosen privately.

Reference: the private medians of Cormode, Procopiuc, Srivastava, Shen, Yu: "Differentially Private Spatial
Decompositions", ICDE 2012, here by permute-and-flip over a public set of lines.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.growth import divide_each, grow
from hushgrid.geometry.tree import LEFT, RIGHT, Tree
from hushgrid.privacy.budget import Budget

Indices = NDArray[np.int64]

MOST_STRIPS = 2**10  # of a node along an axis; the lines between them are the candidates
MOST_CANDIDATES = 2**20  # of all nodes of a level, as far as two strips a node allow


class TreeCounter(Protocol):
    """The part of a counter that looks at trees."""

    def total(self) -> int:
        """True number of points in the domain."""

    def count(self, partition: Tree) -> NDArray[np.int64]:
        """True number of points in every leaf."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Division:
    """Nodes of a level that were divided, and what came of them.

    Parameters
    ----------
    nodes : array of int, shape (n,)
        Which; in rising order.
    splits : array of int, shape (n, 2)
        Columns and rows of each.
    children : array of int, shape (children, 4)
        Boxes of their children, node after node.
    true_counts : array of int, shape (children,)
        Exact, hence private.
    """

    nodes: Indices
    splits: Indices
    children: Indices
    true_counts: Indices


@dataclass(frozen=True, kw_only=True)
class MedianCuts:
    """Cuts every node in two at the candidate line that balances best, as private selection finds it.

    The candidates of a node are the lines between equal strips of it, 1,024 of them or fewer, along every axis asked
    for. A node that has no inner lattice line along any of these axes stays whole.

    Parameters
    ----------
    axes : tuple of int
        Along which the lines are counted off: 0 for columns, 1 for rows, or both.
    share : Fraction
        Of the budget, for choosing.

    Privacy
    -------
    The candidates are public. One record lies in one node, and changes |left - right| by one for each candidate of
    that node: scores of sensitivity 1 in one row of one selection, (share · ε)-DP. It is charged even if no node is
    there to be cut, because what a release claims may not depend on how it went.
    """

    axes: tuple[int, ...]
    share: Fraction

    halvings = 1

    def divide(
        self, counter: TreeCounter, budget: Budget, tree: Tree, nodes: Indices, true_counts: Indices
    ) -> Division:
        """Cut nodes of the last level, whose true counts are known."""
        strips = strips_per_node(len(nodes) * len(self.axes))
        lines, true_lefts, allowed = (
            np.concatenate(columns, axis=1)
            for columns in zip(*(candidates(counter, tree, nodes, axis, strips) for axis in self.axes), strict=True)
        )
        possible = allowed.any(axis=1)
        nodes, true_counts = nodes[possible], true_counts[possible]
        lines, true_lefts, allowed = lines[possible], true_lefts[possible], allowed[possible]
        chosen = budget.select(-np.abs(2 * true_lefts - true_counts[:, None]), allowed, self.share)
        row = np.arange(len(nodes))
        axis = np.repeat(self.axes, strips - 1)[chosen]
        true_left = true_lefts[row, chosen]
        return Division(
            nodes=nodes,
            splits=np.where(axis[:, None] == [0, 1], 2, 1),
            children=cut_each(tree.boxes[nodes], axis, lines[row, chosen]),
            true_counts=np.stack([true_left, true_counts - true_left], axis=1).ravel(),
        )


def strips_per_node(nodes: int) -> int:
    """How many strips each of so many nodes may have."""
    return int(np.clip(MOST_CANDIDATES // max(nodes, 1), 2, MOST_STRIPS))


def candidates(
    counter: TreeCounter, tree: Tree, nodes: Indices, axis: int, strips: int
) -> tuple[Indices, Indices, NDArray[np.bool_]]:
    """Lines between equal strips of nodes, true numbers of points below each, and which there are.

    All have shape (nodes, strips - 1). A node narrower than so many lattice lines has fewer.
    """
    low, high = tree.boxes[nodes, LEFT + axis], tree.boxes[nodes, RIGHT + axis]
    parts = np.minimum(high - low, strips)
    divisible = parts > 1
    splits = np.ones((int(divisible.sum()), 2), np.int64)
    splits[:, axis] = parts[divisible]
    strips_tree = grow(tree, nodes[divisible], splits, divide_each(tree.boxes[nodes[divisible]], splits))
    true_by_node = np.zeros(strips_tree.nodes, np.int64)
    true_by_node[strips_tree.leaves] = counter.count(strips_tree)
    place = np.arange(strips)
    true_strips = np.zeros((len(nodes), strips), np.int64)
    true_strips[divisible[:, None] & (place < parts[:, None])] = true_by_node[tree.nodes :]
    lines = low[:, None] + (high - low)[:, None] * place[1:] // parts[:, None]
    return lines, np.cumsum(true_strips, axis=1)[:, :-1], place[1:] < parts[:, None]


def cut_each(boxes: Indices, axes: Indices, lines: Indices) -> Indices:
    """Every box in two, along an axis and at a line of its own, shape (2 boxes, 4).

    Examples
    --------
    >>> cut_each(np.array([[0, 0, 5, 4], [5, 0, 9, 4]]), np.array([0, 1]), np.array([2, 3]))
    array([[0, 0, 2, 4],
           [2, 0, 5, 4],
           [5, 0, 9, 3],
           [5, 3, 9, 4]])
    """
    halves = np.repeat(boxes, 2, axis=0)
    box = np.arange(len(boxes))
    halves[2 * box, RIGHT + axes] = lines
    halves[2 * box + 1, LEFT + axes] = lines
    return halves
