"""Trees that stop: what quadtree, kd, kd-hybrid and balanced share.

Reference: the private medians of Cormode, Procopiuc, Srivastava, Shen, Yu: "Differentially Private Spatial
Decompositions", ICDE 2012; here by permute-and-flip over a public set of lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.tree import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Lattice,
    Tree,
    divide,
    divide_each,
    grow,
    places_in,
    seedling,
)
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.methods.method import check_whole, is_whole
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import proportional_shares
from hushgrid.privacy.paths import UNITS

LARGEST_STOP = 2**53  # no count that a node is compared with lies beyond it


def check_stop(stop_below: int | None) -> None:
    """Refuse a threshold that is not a whole number that fits.

    None stands for the rule of `hushgrid.geometry.guidelines.stop_count`.
    """
    if stop_below is not None:
        check_whole(stop_below, name="stop_below", low=0, high=LARGEST_STOP)


class TreeCounter(Protocol):
    """The part of a counter that looks at trees."""

    def total(self) -> int:
        """True number of points in the domain."""

    def count(self, partition: Tree) -> NDArray[np.int64]:
        """True number of points in every leaf."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Division:
    """Divided nodes of the last level, with their children.

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
    true_counts: Indices = field(repr=False)


class Divider(Protocol):
    """A way to divide nodes.

    Implemented by `MedianCuts` and `Quarters`.
    """

    halvings: ClassVar[int]
    """How often it halves a node."""

    @property
    def counted(self) -> bool:
        """Whether the nodes it makes are counted."""

    def divide(
        self, counter: TreeCounter, budget: Budget, tree: Tree, nodes: Indices, true_counts: Indices
    ) -> Division:
        """Divide those nodes of the last level that can be."""


@dataclass(frozen=True)
class Quarters:
    """Divides each node at the middle of both axes.

    The middle is public. A node of one column or row stays whole.
    """

    halvings: ClassVar[int] = 2
    counted: ClassVar[bool] = True

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
    """True counts of the children, node after node.

    Nothing is read if there are no nodes.
    """
    if len(nodes) == 0:
        return np.empty(0, np.int64)
    divided = grow(tree, nodes, splits, children)
    true_by_node = np.zeros(divided.nodes, np.int64)
    true_by_node[divided.leaves] = counter.count(divided)
    return true_by_node[tree.nodes :]


def descend(
    counter: TreeCounter,
    budget: Budget,
    *,
    lattice: Lattice,
    splits: Sequence[Divider],
    count_share: Fraction,
    stop_below: int,
) -> tuple[Tree, Measurements]:
    """Measure a tree level by level, and divide large nodes.

    The budget of the counts is divided geometrically: a level that lies d halvings below the root gets a part in
    proportion to ``2**(d / 6)``, which is ``2**(1 / 3)`` from each level of a quadtree to the next (Cormode et al.
    2012). A level that is not counted gets none, and all its nodes are divided. A node that is not divided is measured
    once more, with all that its path has left.

    Parameters
    ----------
    splits : sequence of Divider
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
        large = (measure(np.full(len(nodes), units)) >= stop_below) | (units == 0)
        division = split.divide(counter, budget, tree, nodes[large], true_counts[large])
        divided = np.searchsorted(nodes, division.nodes)
        measure(np.where(np.isin(nodes, division.nodes), 0, paths.left))
        paths.descend(np.repeat(divided, division.splits.prod(axis=1)))
        tree = grow(tree, division.nodes, division.splits, division.children)
        nodes, true_counts = np.arange(tree.nodes - len(division.children), tree.nodes), division.true_counts
    measure(paths.left)
    return tree, measurements_of_nodes(tree, np.concatenate(measured_nodes), NoisyValues.joined(measured))


def level_units(splits: Sequence[Divider]) -> list[int]:
    """Units of a path's budget, by level.

    The last level is left out: it gets what is left.

    Examples
    --------
    >>> from hushgrid.methods.trees import Quarters
    >>> level_units([Quarters(), Quarters()])
    [266, 335]
    """
    depths = np.cumsum([0, *(split.halvings for split in splits)])
    counted = [True, *(split.counted for split in splits)]
    weights = [2 ** (depth / 6) * level for depth, level in zip(depths, counted, strict=True)]
    parts = proportional_shares(Fraction(UNITS), weights)
    return [int(part) for part in parts[:-1]]


LATTICE_SIDE = 2**20  # lattice lines along each axis of a tree that is cut so
CELLS_A_NODE = 2**10  # that candidates lie between; 1,024 strips along one axis, 32 by 32 cells along both
MOST_CELLS = 2**16  # of a level; where it has more nodes each has fewer, and no less than four


@dataclass(frozen=True, kw_only=True)
class MedianCuts:
    """Cuts each node at the line that balances best.

    Private selection chooses it among public candidates.

    A node is divided into equal strips along each axis asked for, or into cells about as wide as high along both; the
    lines between them are its candidates. A node with no lattice line inside along any of these axes stays whole.

    Parameters
    ----------
    axes : tuple of int
        Whether candidates lie between columns (0), between rows (1), or both.
    share : Fraction
        Of the budget, for choosing.
    counted : bool
        Whether the halves are counted; not where they are cut again at once, into four.

    Privacy
    -------
    (share · ε)-DP. The candidates are public. One record lies in one node, and changes |left - right| by one for each
    candidate of that node: scores of sensitivity 1, in one row of one selection. The share is charged even if there is
    no node to be cut, because what a release claims may not depend on how it went.
    """

    halvings: ClassVar[int] = 1
    axes: tuple[int, ...]
    share: Fraction
    counted: bool = True

    def divide(
        self, counter: TreeCounter, budget: Budget, tree: Tree, nodes: Indices, true_counts: Indices
    ) -> Division:
        """Cut nodes of the last level."""
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


FanOut = Literal[2, 4]


def median_cuts(cuts: int, *, axes: Sequence[tuple[int, ...]], share: Fraction, fan_out: FanOut) -> list[Divider]:
    """Levels of private cuts that share a budget equally.

    Parameters
    ----------
    axes : sequence of tuples
        Those of the first cut, the second, and so on in turn.
    fan_out : 2 or 4
        Whether the nodes of every level are counted, or those of every other.

    Examples
    --------
    >>> [cut.counted for cut in median_cuts(4, axes=[(0,), (1,)], share=Fraction(1, 10), fan_out=4)]
    [False, True, False, True]
    """
    counted = [fan_out == 2 or cut % 2 == 1 or cut == cuts - 1 for cut in range(cuts)]
    return [
        MedianCuts(axes=axes[cut % len(axes)], share=share / cuts, counted=each) for cut, each in enumerate(counted)
    ]


def check_fan_out(fan_out: int) -> None:
    """Refuse all but two and four children."""
    if not is_whole(fan_out) or fan_out not in (2, 4):
        msg = f"fan_out must be 2 or 4, got fan_out={fan_out!r}."
        raise ArgumentError(msg)


def candidate_cells(boxes: Indices, axes: tuple[int, ...]) -> Indices:
    """Columns and rows that candidates lie between, shape (boxes, 2).

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
    """True counts below candidate lines, and a mask of those.

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
    """Halves of each box, cut at a line, shape (2 boxes, 4).

    Each is cut along its own axis, at a line between equal strips of it.

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
