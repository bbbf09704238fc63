"""Quadtree with geometric budget and least squares.

Reference: Cormode, Procopiuc, Srivastava, Shen, Yu: "Differentially Private Spatial Decompositions", ICDE 2012.
Aliases: quad-opt.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hushgrid.counting.counter import Counter
from hushgrid.geometry.grid import CELL_LIMIT, GUIDELINE_CELL_LIMIT
from hushgrid.geometry.guidelines import guideline_side
from hushgrid.methods.method import Examples, check_positive, check_whole, record
from hushgrid.methods.pyramids import base_cells, base_grid, measure_levels, nodes_of_pyramid, pyramid
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import proportional_shares
from hushgrid.synopsis.synopsis import Synopsis

# A rectangle is made of at most some 2**level nodes of a level; the worst sum of their variances is least if the
# budget grows by this factor from level to level (the paper's geometric budget).
GROWTH = 2 ** (1 / 3)


def sides(height: int) -> list[int]:
    """Cells per side of each level, root first."""
    return [2**level for level in range(height + 1)]


LARGEST_HEIGHT = max(
    height for height in range(CELL_LIMIT.bit_length()) if nodes_of_pyramid(sides(height)) <= CELL_LIMIT
)


@dataclass(frozen=True, kw_only=True)
class Quadtree:
    """A complete quadtree, every node measured, the leaves best.

    Parameters
    ----------
    height : int, optional
        How often the domain is halved along both axes; there are ``4**height`` leaves. By default that whose leaves are
        nearest in size to the cells of Guideline 1: the fixed height of the paper's experiments, about 10 on more than
        a million points, drowns smaller data in noise.
    c : float
        Constant of Guideline 1.

    Privacy
    -------
    The height is public, or follows from the noisy size. The nodes of a level are disjoint, so a record changes one
    count of each level; level i above the leaves gets a share proportional to ``2**((height - i) / 3)``, and the shares
    sum to one.
    """

    name: ClassVar[str] = "quadtree"
    title: ClassVar[str] = "Quadtree"
    examples: ClassVar[Examples] = Examples(small={"height": 2}, large={"height": 6})
    height: int | None = None
    c: float = 10.0  # Qardaji et al. 2013, Guideline 1

    def __post_init__(self) -> None:
        if self.height is not None:
            check_whole(self.height, name="height", low=1, high=LARGEST_HEIGHT)
        check_positive(self.c, name="c")

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a quadtree."""
        if self.height is None:
            wanted = guideline_side(budget.noisy_size(counter), budget.epsilon, c=self.c)
            height, notes = fit_height(wanted, most_cells=budget.most_cells())
        else:
            height, notes = self.height, ()
        tree = pyramid(counter.domain, sides(height))
        true_counts = counter.count(base_grid(tree))[base_cells(tree)]
        return Synopsis.infer(
            tree,
            measure_levels(budget, tree, true_counts, level_shares(height)),
            inference="least-squares",
            claim=budget.claim(),
            method=record(self, *notes),
        )


def level_shares(height: int) -> tuple[Fraction, ...]:
    """Shares of the budget by level, root first; they sum to one."""
    return proportional_shares(Fraction(1), [GROWTH**level for level in range(height + 1)])


def fit_height(wanted: int, *, most_cells: int = GUIDELINE_CELL_LIMIT) -> tuple[int, tuple[str, ...]]:
    """Height for the side wanted, or the largest allowed and a note.

    Examples
    --------
    >>> fit_height(46)
    (6, ())
    >>> fit_height(46, most_cells=4000)
    (5, ("the guideline's side of 46 was clamped to 32",))
    """
    height, most = nearest_height(wanted), math.isqrt(most_cells).bit_length() - 1
    return (
        (height, ()) if height <= most else (most, (f"the guideline's side of {wanted:,} was clamped to {2**most:,}",))
    )


def nearest_height(side: int) -> int:
    """Height of the quadtree nearest to a side, at least 1.

    Examples
    --------
    >>> nearest_height(1), nearest_height(45), nearest_height(46), nearest_height(4096)
    (1, 5, 6, 12)
    """
    return max(1, round(math.log2(side)))
