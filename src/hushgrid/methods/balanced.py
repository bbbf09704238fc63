"""Balanced: recursive partitioning by the best-balanced cuts.

Reference: Qardaji, Li: "Recursive Partitioning and Summarization: A Practical Framework for Differentially Private Data
Publishing", ASIACCS 2012, in two dimensions, as section III of Qardaji et al. 2013 describes it.
"""

from dataclasses import dataclass
from typing import ClassVar

from hushgrid.counting.counter import Counter
from hushgrid.geometry.tree import Lattice
from hushgrid.methods.method import Examples, check_whole, record
from hushgrid.methods.trees import (
    HIGHEST,
    LARGEST_STOP,
    LATTICE_SIDE,
    MedianCuts,
    descend,
    fit_height,
    guideline_height,
)
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class Balanced:
    """Nodes cut at the line that balances best.

    Lines of both dimensions are candidates. All levels are measured, and made to agree.

    The candidate lines of a node lie equally far apart along both dimensions, so that a long node is more likely to be
    cut across than along: both dimensions have a line that balances perfectly, and shapes would degenerate if each had
    as many candidates. This spacing, the counts of all levels and their geometric budget are our reading.

    Parameters
    ----------
    height : int, optional
        How often the domain is cut at most; by default log2(N ε) of the noisy number of points.
    split_share : float, or anything exact
        Share of the budget for choosing cuts, the same for every level; a float means its shortest decimal.
    stop_below : int
        A node with a noisy count below this is not cut.

    Privacy
    -------
    The noisy size sizes the tree. Each level chooses its cuts by one private selection over public candidates of both
    dimensions, in which one record changes one row by one. The counts cost a record 1 - `split_share` of the rest on
    every path down the tree.
    """

    name: ClassVar[str] = "balanced"
    title: ClassVar[str] = "Balanced"
    examples: ClassVar[Examples] = Examples(small={"height": 2}, large={"height": 5})
    height: int | None = None
    split_share: Exactable = 0.3  # as in KD-standard
    stop_below: int = 32  # as in KD-standard

    def __post_init__(self) -> None:
        if self.height is not None:
            check_whole(self.height, name="height", low=1, high=HIGHEST)
        exact_share(self.split_share, name="split_share")
        check_whole(self.stop_below, name="stop_below", low=0, high=LARGEST_STOP)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a tree of balanced cuts."""
        split_share = exact_share(self.split_share, name="split_share")
        wanted = self.height or guideline_height(budget.noisy_size(counter), budget.epsilon)
        height, notes = fit_height(wanted, most_cells=budget.most_cells())
        tree, measurements = descend(
            counter,
            budget,
            lattice=Lattice(domain=counter.domain, columns=LATTICE_SIDE, rows=LATTICE_SIDE),
            splits=[MedianCuts(axes=(0, 1), share=split_share / height)] * height,
            count_share=1 - split_share,
            stop_below=self.stop_below,
        )
        return Synopsis.infer(
            tree, measurements, inference="least-squares", claim=budget.claim(), method=record(self, *notes)
        )
