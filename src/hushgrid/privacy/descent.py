"""A tree divided and measured level by level, from the root down."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hushgrid.arrays import Indices
from hushgrid.geometry.tree import Lattice, Tree, grow, seedling
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measured, Measurements
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.paths import UNITS
from hushgrid.privacy.shares import proportional_shares
from hushgrid.privacy.split import Split, TreeCounter

LARGEST_STOP = 2**53  # no count that a node is compared with lies beyond it


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
    proportion to ``2**(d / 6)``, which is ``2**(1 / 3)`` from each level of a quadtree to the next (Cormode et al.
    2012). A node that is not divided is measured once more, with all that its path has left.

    Parameters
    ----------
    splits : sequence of Split
        How each level is divided into the next; there is one level more.
    count_share : Fraction
        Of the budget, for counts.
    stop_below : int
        A node whose noisy count is below this is not divided.

    Privacy
    -------
    (count_share + shares of the splits) · ε-DP. Which nodes are divided, and which nodes are measured with what, follow
    from values released before. A record lies in one node of each level until its path ends, and every path spends the
    count share exactly.
    """
    paths = budget.paths(count_share, 1, purpose="counts")
    tree, nodes, true_counts = seedling(lattice), np.array([0]), np.array([counter.total()])
    measured_nodes, measured = [], []

    def measure(units: Indices) -> Indices:
        measured_nodes.append(nodes)
        measured.append(paths.measure(true_counts, units))
        return measured[-1].values

    for split, units in zip(splits, level_units(splits), strict=True):
        large = measure(np.full(len(nodes), units)) >= stop_below
        division = split.divide(counter, budget, tree, nodes[large], true_counts[large])
        divided = np.searchsorted(nodes, division.nodes)
        measure(np.where(np.isin(nodes, division.nodes), 0, paths.left))
        paths.descend(np.repeat(divided, division.splits.prod(axis=1)))
        tree = grow(tree, division.nodes, division.splits, division.children)
        nodes, true_counts = np.arange(tree.nodes - len(division.children), tree.nodes), division.true_counts
    measure(paths.left)
    return tree, measurements_of_nodes(tree, np.concatenate(measured_nodes), Measured.joined(measured))


def level_units(splits: Sequence[Split]) -> list[int]:
    """Units of a path's budget for every level but the last, which gets what is left.

    Examples
    --------
    >>> from hushgrid.privacy.split import Quarters
    >>> level_units([Quarters(), Quarters()])
    [266, 335]
    """
    depths = np.cumsum([0, *(split.halvings for split in splits)])
    parts = proportional_shares(Fraction(UNITS), [2 ** (depth / 6) for depth in depths])
    return [int(part) for part in parts[:-1]]
