"""Quadtree with geometric budget, pruning and least squares.

Reference: Cormode, Procopiuc, Srivastava, Shen, Yu: "Differentially Private Spatial Decompositions", ICDE 2012.
Aliases: quad-opt.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from hushgrid.counting.counter import Counter
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.geometry.guidelines import PAPER_STOP, fit_height, guideline_height, stop_count
from hushgrid.methods.method import Examples, check_whole, record
from hushgrid.methods.pyramids import GridSums, nodes_of_pyramid
from hushgrid.methods.trees import Quarters, check_stop, descend
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.synopsis import Synopsis

LARGEST_HEIGHT = max(
    height
    for height in range(CELL_LIMIT.bit_length())
    if nodes_of_pyramid([2**level for level in range(height + 1)]) <= CELL_LIMIT
)


@dataclass(frozen=True, kw_only=True)
class Quadtree:
    """A quadtree that ends where noisy counts are small.

    All levels are measured, the lower ones better, and made to agree.

    Parameters
    ----------
    height : int, optional
        How often the domain is halved along both axes at most; by default log4(N ε) of the noisy number of points, and
        one more.
    stop_below : int, optional
        A node with a noisy count below this is not divided; by default 25/ε.

    Privacy
    -------
    The height is public, or follows from the noisy size. The nodes of a level are disjoint, and which are divided
    follows from values released before. The counts cost a record what the size has left of ε on every path down the
    tree: geometric parts for the levels, and what is left for a node that is not divided.
    """

    name: ClassVar[str] = "quadtree"
    title: ClassVar[str] = "Quadtree"
    gist: ClassVar[str] = "squares divided into four until few points are left in each"
    examples: ClassVar[Examples] = Examples(small={"height": 2, "stop_below": 0}, large={"height": 6, "stop_below": 0})
    height: int | None = None
    stop_below: int | None = None

    def __post_init__(self) -> None:
        if self.height is not None:
            check_whole(self.height, name="height", low=1, high=LARGEST_HEIGHT)
        check_stop(self.stop_below)

    @classmethod
    def paper(cls) -> Self:
        """The paper's quad-opt: ten levels, nodes below 32 pruned.

        The paper measures all levels and prunes in the end; here a node stops at once, and its part of the budget for
        the levels below measures it better.
        """
        return cls(height=10, stop_below=PAPER_STOP)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a quadtree."""
        height, notes = (self.height, ()) if self.height else self._guideline(counter, budget)
        sums = GridSums.of(counter, side=2**height)
        tree, measurements = descend(
            sums,
            budget,
            lattice=sums.lattice,
            splits=[Quarters()] * height,
            count_share=Fraction(1),
            stop_below=stop_count(self.stop_below, budget.epsilon),
        )
        return Synopsis.infer(
            tree, measurements, inference="least-squares", claim=budget.claim(), method=record(self, *notes)
        )

    def _guideline(self, counter: Counter, budget: Budget) -> tuple[int, tuple[str, ...]]:
        halvings = guideline_height(budget.noisy_size(counter), budget.epsilon, highest=2 * LARGEST_HEIGHT)
        return fit_height(halvings // 2, most_cells=budget.most_cells(), fan_out=4)
