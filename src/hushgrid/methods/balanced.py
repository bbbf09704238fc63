"""Balanced: recursive partitioning by the best-balanced cuts.

Reference: Qardaji, Li: "Recursive Partitioning and Summarization: A Practical Framework for Differentially Private Data
Publishing", ASIACCS 2012, in two dimensions, as section III of Qardaji et al. 2013 describes it.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from hushgrid.counting.counter import Counter
from hushgrid.geometry.guidelines import HIGHEST, PAPER_STOP, fit_height, guideline_height, stop_count
from hushgrid.geometry.tree import Lattice
from hushgrid.methods.method import Examples, check_whole, record
from hushgrid.methods.trees import LATTICE_SIDE, FanOut, check_fan_out, check_stop, descend, median_cuts
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class Balanced:
    """Nodes cut at the line that balances best.

    Lines of both dimensions are candidates. Levels are measured, and made to agree.

    The candidate lines of a node lie equally far apart along both dimensions, so that a long node is more likely to be
    cut across than along: both dimensions have a line that balances perfectly, and shapes would degenerate if each had
    as many candidates. This spacing, the counts of all levels and their geometric budget are our reading.

    Parameters
    ----------
    height : int, optional
        How often the domain is cut at most; even by default: log2(N ε) of the noisy number of points, and two more.
    fan_out : 2 or 4
        Children of a node: whether its halves are counted, or cut again first.
    split_share : float, or anything exact
        Share of the budget for choosing cuts, the same for every level; a float means its shortest decimal.
    stop_below : int, optional
        A node with a noisy count below this is not cut; by default 25/ε.

    Privacy
    -------
    The noisy size sizes the tree. Each level chooses its cuts by one private selection over public candidates of both
    dimensions, in which one record changes one row by one. The counts cost a record 1 - `split_share` of the rest on
    every path down the tree.
    """

    name: ClassVar[str] = "balanced"
    title: ClassVar[str] = "Balanced"
    gist: ClassVar[str] = "rectangles cut so that both halves hold about as many points"
    examples: ClassVar[Examples] = Examples(small={"height": 2}, large={"height": 5})
    height: int | None = None
    fan_out: FanOut = 4
    split_share: Exactable = 0.1
    stop_below: int | None = None

    def __post_init__(self) -> None:
        if self.height is not None:
            check_whole(self.height, name="height", low=1, high=HIGHEST)
        check_fan_out(self.fan_out)
        exact_share(self.split_share, name="split_share")
        check_stop(self.stop_below)

    @classmethod
    def paper(cls) -> Self:
        """Binary cuts, every level counted.

        Section III of Qardaji et al. 2013 tells of the cuts, and gives no figures: the height is ours, the shares and
        the threshold are those of KD-standard.
        """
        return cls(fan_out=2, split_share=0.3, stop_below=PAPER_STOP)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a tree of balanced cuts."""
        split_share = exact_share(self.split_share, name="split_share")
        wanted = self.height or guideline_height(budget.noisy_size(counter), budget.epsilon)
        height, notes = fit_height(wanted, most_cells=budget.most_cells())
        tree, measurements = descend(
            counter,
            budget,
            lattice=Lattice(domain=counter.domain, columns=LATTICE_SIDE, rows=LATTICE_SIDE),
            splits=median_cuts(height, axes=[(0, 1)], share=split_share, fan_out=self.fan_out),
            count_share=1 - split_share,
            stop_below=stop_count(self.stop_below, budget.epsilon),
        )
        return Synopsis.infer(
            tree, measurements, inference="least-squares", claim=budget.claim(), method=record(self, *notes)
        )
