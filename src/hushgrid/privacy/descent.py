"""A tree divided and measured level by level, from the root down."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.division import divide
from hushgrid.geometry.growth import grow, seedling
from hushgrid.geometry.tree import BOTTOM, LEFT, RIGHT, TOP, Lattice, Tree
from hushgrid.inference.measurements import Measured, Measurements
from hushgrid.inference.tree_least_squares import measurements_of_nodes
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.medians import Division, TreeCounter
from hushgrid.privacy.shares import proportional_shares

Indices = NDArray[np.int64]


class Split(Protocol):
    """A way to divide nodes of the last level. Implemented by `MedianCuts` and `Quarters`."""

    halvings: ClassVar[int]
    """How often it halves a node."""

    def divide(
        self, counter: TreeCounter, budget: Budget, tree: Tree, nodes: Indices, true_counts: Indices
    ) -> Division:
        """Divide those that can be divided."""


@dataclass(frozen=True)
class Quarters:
    """Divides every node at the middle of both axes, which is public. A node of one column or row stays whole."""

    halvings = 2

    def divide(
        self,
        counter: TreeCounter,
        budget: Budget,  # noqa: ARG002  # nothing is chosen
        tree: Tree,
        nodes: Indices,
        true_counts: Indices,  # noqa: ARG002
    ) -> Division:
        """Quarter nodes of the last level."""
        boxes = tree.boxes[nodes]
        wide = (boxes[:, RIGHT] - boxes[:, LEFT] > 1) & (boxes[:, TOP] - boxes[:, BOTTOM] > 1)
        nodes, splits = nodes[wide], np.full((int(wide.sum()), 2), 2)
        children = divide(tree.boxes[nodes], 2, 2)
        divided = grow(tree, nodes, splits, children)
        true_by_node = np.zeros(divided.nodes, np.int64)
        true_by_node[divided.leaves] = counter.count(divided)
        return Division(nodes=nodes, splits=splits, children=children, true_counts=true_by_node[tree.nodes :])


def descend(
    counter: TreeCounter,
    budget: Budget,
    *,
    lattice: Lattice,
    splits: Sequence[Split],
    count_share: Fraction,
    stop_below: int,
) -> tuple[Tree, Measurements]:
    """Measure every level of a tree, the deeper the better, and divide what is large enough into the next.

    The budget of the counts is divided geometrically: a level that lies d halvings below the root gets a part in
    proportion to ``2**(d / 6)``, that is ``2**(1 / 3)`` for every level of a quadtree (Cormode et al. 2012, section
    IV-B). A node that is not divided further is measured once more, with all that its path has left for counts.

    Parameters
    ----------
    splits : sequence of Split
        How each level is divided into the next; one measured level more than splits.
    count_share : Fraction
        Of the budget, for counts.
    stop_below : int
        A node whose noisy count is below this is not divided.

    Privacy
    -------
    (count_share + shares of the splits) · ε-DP. Which nodes there are, and which rate a node is measured at, follow
    from values released before. One record lies in one node of each level until its path ends; the rates it is
    measured at sum to ``count_share * ε`` on every path, whatever was released: each level's, and at the end the rest.
    """
    depths = np.cumsum([0, *(split.halvings for split in splits)])
    rates = proportional_shares(budget.charge(count_share, purpose="counts"), [2 ** (depth / 6) for depth in depths])
    tree = seedling(lattice)
    nodes, true_counts = np.array([0]), np.array([counter.total()])
    measured_nodes, measured = [], []

    def measure(which: NDArray[np.bool_], rate: Fraction) -> Indices:
        values = budget.perturb(true_counts[which], rate)
        measured_nodes.append(nodes[which])
        measured.append(Measured.at_one_rate(values, rate))
        return values

    everyone = np.array([True])
    for level, split in enumerate(splits):
        large = measure(everyone, rates[level]) >= stop_below
        division = split.divide(counter, budget, tree, nodes[large], true_counts[large])
        measure(~np.isin(nodes, division.nodes), sum(rates[level + 1 :], Fraction(0)))
        tree = grow(tree, division.nodes, division.splits, division.children)
        true_counts = division.true_counts
        nodes = np.arange(tree.nodes - len(true_counts), tree.nodes)
        everyone = np.ones(len(nodes), bool)
    measure(everyone, rates[-1])
    return tree, measurements_of_nodes(tree, np.concatenate(measured_nodes), Measured.joined(measured))
