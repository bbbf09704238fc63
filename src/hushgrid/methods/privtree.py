"""PrivTree: a quadtree whose depth is decided privately.

Its noise does not grow with the depth.

Reference: Zhang, Xiao, Xie: "PrivTree: A Differentially Private Algorithm for Hierarchical Decompositions",
SIGMOD 2016. Aliases: none.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.counting.counter import Counter
from hushgrid.geometry.quadrants import (
    DEEPEST,
    Quadrants,
    all_cells,
    divide_cells,
    join_cells,
    pick_cells,
    quadrant_tree,
)
from hushgrid.inference.measurements import Measurements
from hushgrid.methods.method import Examples, check_whole, record
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis

FAN_OUT = 4  # β: children of a cell
LOG_FAN_OUT = Fraction(1_386_294_362, 10**9)  # above ln 4 = 1.38629436111...; the proof needs it rounded up


@dataclass(frozen=True, kw_only=True)
class PrivTree:
    """A quadtree divided while biased noisy counts say so.

    Its leaves are then counted.

    Parameters
    ----------
    structure_share : float, or anything exact
        Share of the budget for deciding which cells are divided; the paper takes half.
    depth : int
        Levels at most; public.

    Privacy
    -------
    Only the decisions and the counts of leaves are released, and only they are journalled. With θ = 0 and integer bias
    δ a level, the decisions along the path of a record cost structure_share · ε together, however long the path is;
    the leaves are disjoint and cost the rest. docs/privacy.md has the proof.
    """

    name: ClassVar[str] = "privtree"
    title: ClassVar[str] = "PrivTree"
    gist: ClassVar[str] = "squares divided into four, as deep as the points ask for"
    examples: ClassVar[Examples] = Examples(small={"depth": 4}, large={"depth": 7})
    structure_share: Exactable = 0.5
    depth: int = DEEPEST

    def __post_init__(self) -> None:
        exact_share(self.structure_share, name="structure_share")
        check_whole(self.depth, name="depth", low=1, high=DEEPEST)

    @classmethod
    def paper(cls) -> Self:
        """Half of the budget for the structure, which is the default."""
        return cls(structure_share=0.5)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a quadtree of private depth."""
        share = exact_share(self.structure_share, name="structure_share")
        rate = decision_rate(budget.charge(share, purpose="structure"))
        cells, clamped = all_cells(counter.domain, 0), False
        leaves: list[Quadrants] = []
        for level in range(self.depth + 1):
            divided = self._divided(counter, budget, cells, level, rate)
            if sum(part.cells for part in leaves) + cells.cells + (FAN_OUT - 1) * divided.sum() > budget.most_cells():
                divided, clamped = np.zeros_like(divided), True
            leaves.append(pick_cells(cells, ~divided))
            cells, _ = divide_cells(pick_cells(cells, divided), np.ones(int(divided.sum()), np.int64))
        released = join_cells(leaves)
        measured = budget.measure(counter.count(released), 1 - share, purpose="leaves")
        notes = (f"cells were divided no further to fit {budget.most_cells():,} of them",) if clamped else ()
        return Synopsis.infer(
            quadrant_tree(released),
            Measurements.of_leaves(measured),
            inference="least-squares",
            claim=budget.claim(),
            method=record(self, *notes),
        )

    def _divided(
        self, counter: Counter, budget: Budget, cells: Quadrants, level: int, rate: Fraction
    ) -> NDArray[np.bool_]:
        """Which cells of a level are divided; none of the last, which is public."""
        if level == self.depth or cells.cells == 0:
            return np.zeros(cells.cells, bool)
        return budget.decide(biased(counter.count(cells), level, rate), rate)


def decision_rate(epsilon: Fraction) -> Fraction:
    """Rate of the noise on biased counts, the paper's 1/λ.

    It is ε (β - 1) / (2 β - 1).

    Examples
    --------
    >>> decision_rate(Fraction(7))
    Fraction(3, 1)
    """
    return epsilon * (FAN_OUT - 1) / (2 * FAN_OUT - 1)


def bias(rate: Fraction) -> int:
    """What each level takes off a count, the paper's δ.

    It is ln(β) / rate, rounded up to an integer.

    Examples
    --------
    >>> bias(Fraction(1, 10)), bias(Fraction(100))
    (14, 1)
    """
    return math.ceil(LOG_FAN_OUT / rate)


def biased(true_counts: NDArray[np.int64], level: int, rate: Fraction) -> NDArray[np.int64]:
    """Counts less the bias of their level.

    Never below minus the bias of one level, so that noise alone divides few cells.

    Examples
    --------
    >>> biased(np.array([0, 20, 100]), 2, Fraction(1, 10))
    array([-14,  -8,  72])
    """
    # A rate so small that its bias overflows is refused by the sampler anyway.
    step = min(bias(rate), 2**50)
    return np.maximum(true_counts - level * step, -step)
