"""Lines that cut the nodes of a tree about in half, chosen privately.

Reference: the private medians of Cormode, Procopiuc, Srivastava, Shen, Yu: "Differentially Private Spatial
Decompositions", ICDE 2012; here by permute-and-flip over a public set of lines.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.geometry.tree import BOTTOM, LEFT, RIGHT, TOP, Tree, divide_each, places_in
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.split import Division, TreeCounter, count_children

LATTICE_SIDE = 2**20  # lattice lines along each axis of a tree that is cut so
CELLS_A_NODE = 2**10  # that candidates lie between; 1,024 strips along one axis, 32 by 32 cells along both
MOST_CELLS = 2**16  # of a level; where it has more nodes each has fewer, and no less than four


@dataclass(frozen=True, kw_only=True)
class MedianCuts:
    """Cuts every node in two at the candidate line that balances best, as private selection finds it.

    A node is divided into equal strips along each axis asked for, or into cells about as wide as high along both; the
    lines between them are its candidates. A node with no lattice line inside along any of these axes stays whole.

    Parameters
    ----------
    axes : tuple of int
        Whether candidates lie between columns (0), between rows (1), or both.
    share : Fraction
        Of the budget, for choosing.

    Privacy
    -------
    (share · ε)-DP. The candidates are public. One record lies in one node, and changes |left - right| by one for each
    candidate of that node: scores of sensitivity 1, in one row of one selection. The share is charged even if there is
    no node to be cut, because what a release claims may not depend on how it went.
    """

    halvings: ClassVar[int] = 1
    axes: tuple[int, ...]
    share: Fraction

    def divide(
        self, counter: TreeCounter, budget: Budget, tree: Tree, nodes: Indices, true_counts: Indices
    ) -> Division:
        """Cut nodes of the last level, whose true counts are known."""
        cells = candidate_cells(tree.boxes[nodes], self.axes)
        possible = cells.max(axis=1) > 1
        nodes, cells, true_counts = nodes[possible], cells[possible], true_counts[possible]
        true_lefts, allowed = candidates(counter, tree, nodes, cells, self.axes)
        chosen = budget.select(-np.abs(2 * true_lefts - true_counts[:, None]), allowed, self.share)
        which, place = np.divmod(chosen, allowed.shape[1] // len(self.axes))
        axis, node = np.array(self.axes)[which], np.arange(len(nodes))
        true_left = true_lefts[node, chosen]
        return Division(
            nodes=nodes,
            splits=np.where(axis[:, None] == [0, 1], 2, 1),
            children=cut_each(tree.boxes[nodes], axis, place + 1, cells[node, axis]),
            true_counts=np.stack([true_left, true_counts - true_left], axis=1).ravel(),
        )


def candidate_cells(boxes: Indices, axes: tuple[int, ...]) -> Indices:
    """Columns and rows into which each of the boxes is divided to find candidates, shape (boxes, 2).

    Examples
    --------
    >>> candidate_cells(np.array([[0, 0, 2**20, 2**20]]), axes=(1,))
    array([[   1, 1024]])
    >>> candidate_cells(np.array([[0, 0, 2**20, 2**18], [0, 0, 3, 1]]), axes=(0, 1))
    array([[64, 16],
           [ 3,  1]])
    """
    lengths = boxes[:, [RIGHT, TOP]] - boxes[:, [LEFT, BOTTOM]]
    cells = min(max(MOST_CELLS // max(len(boxes), 1), 4), CELLS_A_NODE)
    if len(axes) == 2:
        wanted = np.floor(np.sqrt(cells * lengths / lengths[:, ::-1])).astype(np.int64)
    else:
        wanted = np.where(np.array(axes) == [0, 1], cells, 1)
    return np.asarray(np.clip(wanted, 1, np.minimum(lengths, cells)))


def candidates(
    counter: TreeCounter, tree: Tree, nodes: Indices, cells: Indices, axes: tuple[int, ...]
) -> tuple[Indices, NDArray[np.bool_]]:
    """True numbers of points below every candidate line of every node, and which lines there are.

    Both have shape (nodes, axes * lines): the lines along one axis, then those along the other.
    """
    true_cells = count_children(counter, tree, nodes, cells, divide_each(tree.boxes[nodes], cells))
    node, *places = places_in(cells)
    lines = np.arange(1, cells.max(initial=2))
    true_strips = np.zeros((len(nodes), len(axes), len(lines) + 1), np.int64)
    for which, axis in enumerate(axes):
        np.add.at(true_strips[:, which], (node, places[axis]), true_cells)
    shape = len(nodes), len(axes) * len(lines)
    allowed = lines < cells[:, axes, None]
    return np.cumsum(true_strips, axis=2)[:, :, :-1].reshape(shape), allowed.reshape(shape)


def cut_each(boxes: Indices, axes: Indices, lines: Indices, strips: Indices) -> Indices:
    """Every box in two, along an axis of its own, at a line between so many equal strips of it, shape (2 boxes, 4).

    Examples
    --------
    >>> cut_each(np.array([[0, 0, 9, 4], [9, 0, 12, 4]]), np.array([0, 1]), np.array([1, 3]), np.array([2, 4]))
    array([[ 0,  0,  4,  4],
           [ 4,  0,  9,  4],
           [ 9,  0, 12,  3],
           [ 9,  3, 12,  4]])
    """
    box = np.arange(len(boxes))
    low, high = boxes[box, LEFT + axes], boxes[box, RIGHT + axes]
    halves = np.repeat(boxes, 2, axis=0)
    halves[2 * box, RIGHT + axes] = halves[2 * box + 1, LEFT + axes] = low + (high - low) * lines // strips
    return halves
