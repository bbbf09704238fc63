"""DAWA: cells merged where counts are alike, then a weighted tree.

Reference: Li, Hay, Miklau, Wang: "A Data- and Workload-Aware Algorithm for Range Queries Under Differential Privacy",
VLDB 2014. Aliases: none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.counting.counter import Counter
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.geometry.guidelines import fit_height, guideline_side
from hushgrid.geometry.tree import BOTTOM, LEFT, RIGHT, TOP, Tree
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.methods.method import Examples, check_positive, check_whole, record
from hushgrid.methods.pyramids import base_cells, base_grid, nodes_of_pyramid, pyramid
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis

QUARTERS = 4  # squares that a square is made of
OWN_PARTS = np.arange(16) / 16  # of a node's budget that it may spend on itself


def _sides(height: int) -> list[int]:
    return [2**level for level in range(height + 1)]


HIGHEST_PYRAMID = max(
    height for height in range(CELL_LIMIT.bit_length()) if nodes_of_pyramid(_sides(height)) <= CELL_LIMIT
)


@dataclass(frozen=True, kw_only=True)
class Dawa:
    """Buckets of even counts, measured by a weighted tree.

    The first stage merges the cells of a fine grid into buckets where their counts are about equal. The second measures
    the buckets and the squares above them, with budgets that suit rectangles of all sizes.

    What differs from the paper. Its buckets are intervals of a Hilbert curve of 2**k cells at any place. Here they are
    those of 4**k cells at multiples of their length, which are the squares of a quadtree. Its cost of a bucket is the
    sum of absolute deviations from the mean, which one record changes by up to two; here it is that from the median, an
    integer that one record changes by at most one. It hides all noisy costs and releases the partition alone; here
    noisy costs are released, level by level. With four levels the scale of the noise is 4 / ε₁, no more than hidden
    costs of sensitivity two would need. And negative costs may be taken for zero: that is post-processing here, where
    with hidden costs it would break the proof.

    Parameters
    ----------
    height : int, optional
        How often the domain is halved along both axes; there are ``4**height`` cells. By default that whose cells are
        nearest in size to those of a grid by the formula of Guideline 1.
    levels : int
        Sizes of buckets beyond single cells; the largest has ``2**levels`` cells a side.
    partition_share : float, or anything exact
        Share of the budget for the first stage; the paper takes a quarter.
    c : float
        Constant of the formula. It is a quarter of Guideline 1's, since cells that turn out too fine are merged.

    Privacy
    -------
    The squares of a level are disjoint, and a record changes the cost of one of them by at most one: noise of rate
    ε₁ / levels on all costs is ε₁-DP. Buckets and budgets are functions of noisy costs. A record lies in one square of
    each level of the pruned tree, and every path down spends what is left of ε. docs/privacy.md has the proof.
    """

    name: ClassVar[str] = "dawa"
    title: ClassVar[str] = "DAWA"
    gist: ClassVar[str] = "neighbouring cells with about the same count are joined before they are measured"
    examples: ClassVar[Examples] = Examples(small={"height": 2}, large={"height": 6})
    height: int | None = None
    levels: int = 4
    partition_share: Exactable = 0.25
    c: float = 2.5

    def __post_init__(self) -> None:
        if self.height is not None:
            check_whole(self.height, name="height", low=1, high=HIGHEST_PYRAMID)
        check_whole(self.levels, name="levels", low=1, high=HIGHEST_PYRAMID)
        exact_share(self.partition_share, name="partition_share")
        check_positive(self.c, name="c")

    @classmethod
    def paper(cls) -> Self:
        """Buckets of all sizes on 256 cells a side, as in the paper.

        That is the largest grid of DPBench (Hay et al., SIGMOD 2016); the paper itself leaves the grid to the data.
        """
        return cls(height=8, levels=8)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish buckets of even counts."""
        height, notes = (self.height, ()) if self.height else self._guideline(counter, budget)
        share = exact_share(self.partition_share, name="partition_share")
        pyramid_tree = pyramid(counter.domain, _sides(height))
        true_cells = counter.count(base_grid(pyramid_tree))[base_cells(pyramid_tree)]
        costs = noisy_costs(budget, true_cells, min(self.levels, height), share)
        merged = merged_squares(costs, height, price=1 / float((1 - share) * budget.epsilon))
        tree, true_counts = pruned(pyramid_tree, merged, true_cells)
        return Synopsis.infer(
            tree,
            measure_paths(budget, tree, true_counts, 1 - share),
            inference="least-squares",
            claim=budget.claim(),
            method=record(self, *notes),
        )

    def _guideline(self, counter: Counter, budget: Budget) -> tuple[int, tuple[str, ...]]:
        wanted = guideline_side(budget.noisy_size(counter), budget.epsilon, c=self.c)
        return fit_height(max(1, round(math.log2(wanted))), most_cells=max(budget.most_cells(), QUARTERS), fan_out=4)


def deviations(true_cells: Indices, cells: int) -> Indices:
    """Sum of absolute deviations from the median, square by square.

    Each square is a run of `cells` counts.

    It is the least of Σ |x - m| over all integers m. One more record raises or lowers each of these sums by one, so
    that their least changes by at most one.

    Examples
    --------
    >>> deviations(np.array([3, 3, 3, 3, 0, 0, 0, 9]), 4)
    array([0, 9])
    """
    squares = true_cells.reshape(-1, cells)
    middle = (cells - 1) // 2
    medians = np.partition(squares, middle, axis=1)[:, middle]
    return np.asarray(np.abs(squares - medians[:, None]).sum(axis=1))


def noisy_costs(budget: Budget, true_cells: Indices, levels: int, share: Fraction) -> list[Indices]:
    """Noisy deviations of squares, level by level from the smallest.

    Privacy
    -------
    (share · ε)-DP: a record changes one deviation of each level by at most one. Single cells have none.
    """
    rate = budget.charge(share, purpose="partition") / levels
    return [budget.perturb(deviations(true_cells, QUARTERS**above), rate) for above in range(1, levels + 1)]


def merged_squares(costs: Sequence[Indices], height: int, *, price: float) -> list[NDArray[np.bool_]]:
    """Whether each square costs no more than its best parts.

    Squares are listed level by level, the whole domain first. A bucket costs its deviation, at least zero, and `price`;
    the best parts of a square are those of least cost in all, by dynamic programming from the cells up.

    Parameters
    ----------
    costs : sequence of arrays
        Noisy deviations, level by level from the smallest squares; larger ones are not merged.
    price : float
        Expected absolute error of a bucket's noise, about 1 / ε₂.

    Examples
    --------
    >>> [level.tolist() for level in merged_squares([np.array([2, 9, -1, 0])], 2, price=1.0)][:2]
    [[False], [True, False, True, True]]
    """
    best = np.full(QUARTERS**height, price)
    merged = [np.ones(QUARTERS**height, bool)]
    for above in range(1, height + 1):
        parts = best.reshape(-1, QUARTERS).sum(axis=1)
        own = np.maximum(costs[above - 1], 0) + price if above <= len(costs) else np.full(len(parts), np.inf)
        merged.append(own <= parts)
        best = np.minimum(own, parts)
    return merged[::-1]


def pruned(tree: Tree, merged: Sequence[NDArray[np.bool_]], true_cells: Indices) -> tuple[Tree, Indices]:
    """The pyramid down to its buckets, and true counts of all nodes.

    A bucket is a merged square in no other one.
    """
    height = len(merged) - 1
    live = [np.ones(1, bool)]
    for squares in merged[:-1]:
        live.append(np.repeat(live[-1] & ~squares, QUARTERS))
    kept, ends = np.concatenate(live), np.concatenate(merged)
    true_levels = [true_cells.reshape(QUARTERS**level, -1).sum(axis=1) for level in range(height + 1)]
    splits = np.where(ends[kept, None], 0, tree.splits[kept])
    return Tree(lattice=tree.lattice, boxes=tree.boxes[kept], splits=splits), np.concatenate(true_levels)[kept]


def measure_paths(budget: Budget, tree: Tree, true_counts: Indices, share: Fraction) -> Measurements:
    """Noisy counts of all nodes, buckets with all that is left.

    Privacy
    -------
    (share · ε)-DP: the nodes of a level are disjoint, those of the next lie within them, and every path spends the
    share exactly.
    """
    parts, paths, measured = own_parts(tree), budget.paths(share, 1, purpose="counts"), []
    for first, stop in pairwise(tree.levels):
        level = slice(first, stop)
        children, left = tree.child_counts[level], paths.left
        units = np.where(children > 0, np.floor(parts[level] * left).astype(np.int64), left)
        measured.append(paths.measure(true_counts[level], units))
        paths.descend(np.repeat(np.arange(stop - first), children))
    return measurements_of_nodes(tree, np.arange(tree.nodes), NoisyValues.joined(measured))


def own_parts(tree: Tree) -> Floats:
    """Part of its budget that each node spends on itself.

    The paper's GreedyH, for all rectangles: from the buckets up, each inner node takes the part that makes the mean
    variance of rectangles within it least, after least squares. Its children get the rest. Variances are in units of
    that of a count measured with all of the budget, and fall with its square.
    """
    within, variance, parts = np.zeros(tree.nodes), np.ones(tree.nodes), np.zeros(tree.nodes)
    covered = Coverage(tree)
    for first, stop in reversed(list(pairwise(tree.levels))):
        nodes = first + np.flatnonzero(tree.child_counts[first:stop])
        children = tree.first_children[nodes, None] + np.arange(QUARTERS)
        weights = variance[children]
        below = weights.sum(axis=1)
        # Least squares adds Σ V (w - w̄)² at a node, w the share of each child that is covered, w̄ their mean by V.
        products = covered.products(children)
        contrast = np.einsum("nii,ni->n", products, weights)
        contrast -= np.einsum("nij,ni,nj->n", products, weights, weights) / below
        inside = within[children].sum(axis=1) + contrast
        above = 1 / (OWN_PARTS**2 + (1 - OWN_PARTS) ** 2 / below[:, None])
        total = inside[:, None] / (1 - OWN_PARTS) ** 2 + covered.products(nodes[:, None])[:, 0] * above
        best = np.argmin(total, axis=1)
        parts[nodes] = OWN_PARTS[best]
        within[nodes] = inside / (1 - OWN_PARTS[best]) ** 2
        variance[nodes] = above[np.arange(len(nodes)), best]
    return parts


class Coverage:
    """How random rectangles cover the nodes of a tree.

    Their edges are uniform along both axes, as in `hb`.
    """

    def __init__(self, tree: Tree) -> None:
        boxes = tree.boxes / np.array([tree.lattice.columns, tree.lattice.rows] * 2)
        self._axes = [(boxes[:, LEFT], boxes[:, RIGHT]), (boxes[:, BOTTOM], boxes[:, TOP])]

    def products(self, nodes: Indices) -> Floats:
        """Mean products of the covered shares of nodes.

        Shape (n, m, m) for nodes of shape (n, m), each row disjoint squares of one size.
        """
        means = np.ones((*nodes.shape, nodes.shape[1]))
        for low, high in self._axes:
            middle = (low + high)[nodes] / 2
            lower, upper = (
                np.minimum(middle[:, :, None], middle[:, None, :]),
                np.maximum(middle[:, :, None], middle[:, None, :]),
            )
            # Two points u < v are both covered with probability 2 u (1 - v). Over one interval from a to a + h, u is
            # a + h/3 on average and u v the square of the middle.
            same = 2 * (low[nodes] + (high - low)[nodes] / 3 - middle**2)
            means *= np.where(lower == upper, same[:, :, None], 2 * lower * (1 - upper))
        return means
