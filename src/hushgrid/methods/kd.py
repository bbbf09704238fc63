"""KD-standard, the private kd-tree.

Reference: Cormode, Procopiuc, Srivastava, Shen, Yu: "Differentially Private Spatial Decompositions", ICDE 2012.
Aliases: kd-standard; K_st in Qardaji et al. 2013.
"""

from dataclasses import dataclass
from typing import ClassVar

from hushgrid.counting.counter import Counter
from hushgrid.geometry.height import HIGHEST
from hushgrid.geometry.tree import Lattice
from hushgrid.methods.method import check_whole, record
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.descent import LARGEST_STOP, descend
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.privacy.medians import LATTICE_SIDE, MedianCuts
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class KdTree:
    """Nodes cut in two at private medians, across east to west and south to north in turn, and all levels reconciled.

    Parameters
    ----------
    height : int
        How often the domain is cut at most.
    median_share : float, or anything exact
        Share of the budget for choosing medians, the same for every level; a float means its shortest decimal.
    stop_below : int
        A node with a noisy count below this is not cut.

    Privacy
    -------
    Each level chooses its medians by one private selection over public candidates, in which one record changes one row
    by one. Its counts cost a record 1 - `median_share` of ε on every path down the tree: geometric parts for the
    levels, and what is left for a node that is not cut further.
    """

    name: ClassVar[str] = "kd"
    # Eight levels of fan-out four, as the paper's kd-trees have them; section IV-C of Qardaji et al. 2013 calls 16
    # binary levels common for a million points.
    height: int = 16
    median_share: Exactable = 0.3  # as in the experiments of the paper
    stop_below: int = 32  # the paper prunes below it, after the fact

    def __post_init__(self) -> None:
        check_whole(self.height, name="height", low=1, high=HIGHEST)
        exact_share(self.median_share, name="median_share")
        check_whole(self.stop_below, name="stop_below", low=0, high=LARGEST_STOP)

    @property
    def passes(self) -> int:
        """One for the total, and one for the cuts of each level."""
        return 1 + self.height

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a kd-tree."""
        median_share = exact_share(self.median_share, name="median_share")
        tree, measurements = descend(
            counter,
            budget,
            lattice=Lattice(domain=counter.domain, columns=LATTICE_SIDE, rows=LATTICE_SIDE),
            splits=[MedianCuts(axes=(level % 2,), share=median_share / self.height) for level in range(self.height)],
            count_share=1 - median_share,
            stop_below=self.stop_below,
        )
        return Synopsis.infer(tree, measurements, inference="least-squares", claim=budget.claim(), method=record(self))
