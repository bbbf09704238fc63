"""KD-standard and KD-hybrid, the private kd-trees.

Reference: Cormode, Procopiuc, Srivastava, Shen, Yu: "Differentially Private Spatial Decompositions", ICDE 2012.
Aliases: kd-standard and kd-hybrid; K_st and K_hy in Qardaji et al. 2013.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, Self

from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.guidelines import HIGHEST, PAPER_STOP, fit_height, guideline_height, stop_count
from hushgrid.geometry.tree import Lattice
from hushgrid.methods.method import Examples, check_whole, record
from hushgrid.methods.trees import (
    LATTICE_SIDE,
    Divider,
    FanOut,
    Quarters,
    check_fan_out,
    check_stop,
    descend,
    median_cuts,
)
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis

IN_TURN = ((0,), (1,))  # axes of the cuts
PAPER_SHARE = 0.3  # of the budget for medians, in the experiments of the paper


@dataclass(frozen=True, kw_only=True)
class KdTree:
    """A tree cut at private medians, axis by axis.

    Levels are measured, and made to agree.

    Parameters
    ----------
    height : int, optional
        How often the domain is cut at most; even by default: log2(N ε) of the noisy number of points, and two more.
    fan_out : 2 or 4
        Children of a node: whether its halves are counted, or cut again first.
    median_share : float, or anything exact
        Share of the budget for choosing medians, the same for every level; a float means its shortest decimal.
    stop_below : int, optional
        A node with a noisy count below this is not cut; by default 25/ε.

    Privacy
    -------
    The height is public, or follows from the noisy size. Each level chooses its medians by one private selection over
    public candidates, in which one record changes one row by one. Counts cost a record 1 - `median_share` of the rest
    on every path down the tree: geometric parts for the levels that are counted, and what is left for a node that is
    not cut further.
    """

    name: ClassVar[str] = "kd"
    title: ClassVar[str] = "KD-standard"
    gist: ClassVar[str] = "rectangles cut where half of the points are on either side"
    examples: ClassVar[Examples] = Examples(small={"height": 3}, large={"height": 7})
    height: int | None = None
    fan_out: FanOut = 4
    median_share: Exactable = 0.1  # shares of 0.05 to 0.3 were tried: docs/privacy/adaptive-trees.md
    stop_below: int | None = None

    def __post_init__(self) -> None:
        if self.height is not None:
            check_whole(self.height, name="height", low=1, high=HIGHEST)
        check_fan_out(self.fan_out)
        exact_share(self.median_share, name="median_share")
        check_stop(self.stop_below)

    @classmethod
    def paper(cls) -> Self:
        """The paper's kd-standard: eight levels of fan-out four.

        30 % are for medians, and nodes below 32 are pruned: in the paper in the end, here at once. Section IV-C of
        Qardaji et al. 2013 calls 16 binary levels common for a million points.
        """
        return cls(height=16, fan_out=4, median_share=PAPER_SHARE, stop_below=PAPER_STOP)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a kd-tree."""
        median_share = exact_share(self.median_share, name="median_share")
        wanted = self.height or guideline_height(budget.noisy_size(counter), budget.epsilon)
        height, notes = fit_height(wanted, most_cells=budget.most_cells())
        tree, measurements = descend(
            counter,
            budget,
            lattice=Lattice(domain=counter.domain, columns=LATTICE_SIDE, rows=LATTICE_SIDE),
            splits=median_cuts(height, axes=IN_TURN, share=median_share, fan_out=self.fan_out),
            count_share=1 - median_share,
            stop_below=stop_count(self.stop_below, budget.epsilon),
        )
        return Synopsis.infer(
            tree, measurements, inference="least-squares", claim=budget.claim(), method=record(self, *notes)
        )


@dataclass(frozen=True, kw_only=True)
class KdHybrid:
    """A kd-tree for a few levels, then a quadtree.

    The order may be reversed. Levels are measured, and made to agree.

    Height and switch count halvings: a level of the kd-tree is one, a level of the quadtree two.

    Parameters
    ----------
    first : "kd" or "quadtree"
        What the tree begins with.
    switch : int
        Halvings before the switch to the other; even.
    height : int, optional
        Halvings in all; even; by default log2(N ε) of the noisy number of points, and two more.
    fan_out : 2 or 4
        Children of a node of the kd-tree.
    median_share : float, or anything exact
        Share of the budget for choosing medians, the same for every level that has them.
    stop_below : int, optional
        A node with a noisy count below this is not divided; by default 25/ε.

    Privacy
    -------
    The noisy size sizes the tree. Each kd level chooses its medians by one private selection over public candidates,
    in which one record changes one row by one; quadtree levels choose nothing. The counts cost a record
    1 - `median_share` of the rest on every path down the tree.
    """

    name: ClassVar[str] = "kd-hybrid"
    title: ClassVar[str] = "KD-hybrid"
    gist: ClassVar[str] = "squares first, then rectangles cut where half of the points are on either side"
    examples: ClassVar[Examples] = Examples(small={"height": 4, "switch": 2}, large={"height": 8, "switch": 4})
    # The order of the 2012 paper; Qardaji et al. 2013 describe it the other way round. On real sets it was the better
    # one, with one kd level of fan-out four (docs/privacy/adaptive-trees.md).
    first: Literal["kd", "quadtree"] = "kd"
    switch: int = 2
    height: int | None = None
    fan_out: FanOut = 4
    median_share: Exactable = 0.05
    stop_below: int | None = None

    def __post_init__(self) -> None:
        if self.first not in ("kd", "quadtree"):
            msg = f"first must be 'kd' or 'quadtree', got first={self.first!r}."
            raise ArgumentError(msg)
        if self.height is not None:
            check_even(self.height, name="height", low=2, high=HIGHEST)
        check_even(self.switch, name="switch", low=0, high=HIGHEST if self.height is None else self.height)
        check_fan_out(self.fan_out)
        exact_share(self.median_share, name="median_share")
        check_stop(self.stop_below)

    @classmethod
    def paper(cls, height: int = 16, switch: int = 6) -> Self:
        """The paper's kd-hybrid: eight levels, the first three kd.

        Heights and switches are those of its authors' programs, 8/3 and 10/5 in fan-out four: ``paper()`` and
        ``paper(20, 10)``. 30 % are for medians, and nodes below 32 are pruned, as in `KdTree.paper`.
        """
        return cls(height=height, switch=switch, fan_out=4, median_share=PAPER_SHARE, stop_below=PAPER_STOP)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a hybrid tree."""
        wanted = self.height or guideline_height(budget.noisy_size(counter), budget.epsilon)
        height, notes = fit_height(wanted, most_cells=budget.most_cells(), step=2)
        before = min(self.switch, height)
        cuts, quarterings = (before, height - before) if self.first == "kd" else (height - before, before)
        median_share = exact_share(self.median_share, name="median_share") if cuts else Fraction(0)
        kd = median_cuts(cuts, axes=IN_TURN, share=median_share, fan_out=self.fan_out)
        quadtree: list[Divider] = [Quarters()] * (quarterings // 2)
        tree, measurements = descend(
            counter,
            budget,
            lattice=Lattice(domain=counter.domain, columns=LATTICE_SIDE, rows=LATTICE_SIDE),
            splits=kd + quadtree if self.first == "kd" else quadtree + kd,
            count_share=1 - median_share,
            stop_below=stop_count(self.stop_below, budget.epsilon),
        )
        return Synopsis.infer(
            tree, measurements, inference="least-squares", claim=budget.claim(), method=record(self, *notes)
        )


def check_even(value: int, *, name: str, low: int, high: int) -> None:
    """Refuse all but even numbers from `low` to `high`.

    A level of a quadtree halves a node twice.
    """
    check_whole(value, name=name, low=low, high=high)
    if value % 2:
        msg = f"{name} must be even, because a level of a quadtree halves a node twice, got {name}={value!r}."
        raise ArgumentError(msg)
