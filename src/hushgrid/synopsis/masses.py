"""Counts as masses that points can follow: none negative, and the total kept."""

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.kernels.halving import INNER, add_halves, halve, hand_down
from hushgrid.synopsis.hierarchy import Hierarchy


def leaf_masses(hierarchy: Hierarchy, counts: Floats, areas: Floats) -> tuple[Indices, Floats]:
    """Leaves in an order in which every block is one run of them, and the mass of each in that order, summing to one.

    Blocks are the nodes of the hierarchy and what is left when the rows and columns of their children are halved and
    halved again. From the whole domain down, the mass of a block is shared between its halves in proportion to their
    counts; a half whose count is negative gets nothing. So a block has its count, unless one around it has lost mass
    to a negative neighbour. Where no count is positive, areas share instead.

    Parameters
    ----------
    counts : array, shape (leaves,)
    areas : array, shape (leaves,)
        Where it is zero, there is no place for a point: the mass goes to the rest of the smallest block that has any.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> from hushgrid.geometry.grid import Grid
    >>> grid = Grid(domain=Domain(west=0, south=0, east=4, north=1), rows=1, columns=4)
    >>> leaf_masses(Hierarchy.of(grid), np.array([3.0, -1.0, 4.0, 4.0]), np.ones(4))
    (array([0, 1, 2, 3]), array([0.2, 0. , 0.4, 0.4]))
    """
    seconds, nodes = halve(hierarchy.splits, hierarchy.first_children, len(hierarchy.leaves))
    leaf_of_node = np.empty(hierarchy.nodes, np.int64)
    leaf_of_node[hierarchy.leaves] = np.arange(len(hierarchy.leaves))
    is_leaf = nodes != INNER
    order = leaf_of_node[nodes[is_leaf]]
    block_counts, block_areas, masses = np.zeros((3, len(nodes)))
    for values, of_leaves in ((block_counts, counts), (block_areas, areas)):
        values[is_leaf] = of_leaves[order]
        add_halves(seconds, values)
    masses[0] = 1.0
    hand_down(seconds, block_counts, block_areas, masses)
    return order, masses[is_leaf]
