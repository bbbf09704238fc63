"""KD-standard and KD-hybrid, the private kd-trees.

Reference: Cormode, Procopiuc, Srivastava, Shen, Yu: "Differentially Private Spatial Decompositions", ICDE 2012.
Aliases: kd-standard and kd-hybrid; K_st and K_hy in Qardaji et al. 2013.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.tree import Lattice
from hushgrid.methods.method import Examples, check_whole, record
from hushgrid.methods.trees import (
    HIGHEST,
    LARGEST_STOP,
    LATTICE_SIDE,
    MedianCuts,
    Quarters,
    Split,
    descend,
    fit_height,
    guideline_height,
)
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class KdTree:
    """A tree cut at private medians, axis by axis.

    All levels are measured, and made to agree.

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
    title: ClassVar[str] = "KD-standard"
    examples: ClassVar[Examples] = Examples(small={"height": 3}, large={"height": 7})
    # Eight levels of fan-out four, as the paper's kd-trees have them; section IV-C of Qardaji et al. 2013 calls 16
    # binary levels common for a million points.
    height: int = 16
    median_share: Exactable = 0.3  # as in the experiments of the paper
    stop_below: int = 32  # the paper prunes below it, after the fact

    def __post_init__(self) -> None:
        check_whole(self.height, name="height", low=1, high=HIGHEST)
        exact_share(self.median_share, name="median_share")
        check_whole(self.stop_below, name="stop_below", low=0, high=LARGEST_STOP)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a kd-tree."""
        median_share = exact_share(self.median_share, name="median_share")
        height, notes = fit_height(self.height, most_cells=budget.most_cells())
        tree, measurements = descend(
            counter,
            budget,
            lattice=Lattice(domain=counter.domain, columns=LATTICE_SIDE, rows=LATTICE_SIDE),
            splits=[MedianCuts(axes=(level % 2,), share=median_share / height) for level in range(height)],
            count_share=1 - median_share,
            stop_below=self.stop_below,
        )
        return Synopsis.infer(
            tree, measurements, inference="least-squares", claim=budget.claim(), method=record(self, *notes)
        )


@dataclass(frozen=True, kw_only=True)
class KdHybrid:
    """A kd-tree for a few levels, then a quadtree.

    The order may be reversed. All levels are measured, and made to agree.

    Height and switch count halvings: a level of the kd-tree is one, a level of the quadtree two.

    Parameters
    ----------
    first : "kd" or "quadtree"
        What the tree begins with.
    switch : int
        Halvings before the switch to the other; even.
    height : int, optional
        Halvings in all; even; by default log2(N ε) of the noisy number of points.
    median_share : float, or anything exact
        Share of the budget for choosing medians, the same for every level that has them.
    stop_below : int
        A node with a noisy count below this is not divided.

    Privacy
    -------
    The noisy size sizes the tree. Each kd level chooses its medians by one private selection over public candidates,
    in which one record changes one row by one; quadtree levels choose nothing. The counts cost a record
    1 - `median_share` of the rest on every path down the tree.
    """

    name: ClassVar[str] = "kd-hybrid"
    title: ClassVar[str] = "KD-hybrid"
    examples: ClassVar[Examples] = Examples(small={"height": 4, "switch": 2}, large={"height": 8, "switch": 4})
    # The order of the 2012 paper; Qardaji et al. 2013 describe it the other way round. On real sets it was the better
    # one, with a few kd levels rather than the half that the 2012 paper takes (docs/privacy/adaptive-trees.md).
    first: Literal["kd", "quadtree"] = "kd"
    switch: int = 4
    height: int | None = None
    median_share: Exactable = 0.3  # as in the experiments of the paper
    stop_below: int = 32  # the paper prunes below it, after the fact

    def __post_init__(self) -> None:
        if self.first not in ("kd", "quadtree"):
            msg = f"first must be 'kd' or 'quadtree', got first={self.first!r}."
            raise ArgumentError(msg)
        if self.height is not None:
            check_even(self.height, name="height", low=2, high=HIGHEST)
        check_even(self.switch, name="switch", low=0, high=HIGHEST if self.height is None else self.height)
        exact_share(self.median_share, name="median_share")
        check_whole(self.stop_below, name="stop_below", low=0, high=LARGEST_STOP)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a hybrid tree."""
        wanted = self.height or guideline_height(budget.noisy_size(counter), budget.epsilon, step=2)
        height, notes = fit_height(wanted, most_cells=budget.most_cells(), step=2)
        before = min(self.switch, height)
        cuts, quarterings = (before, height - before) if self.first == "kd" else (height - before, before)
        median_share = exact_share(self.median_share, name="median_share") if cuts else Fraction(0)
        kd: list[Split] = [MedianCuts(axes=(level % 2,), share=median_share / cuts) for level in range(cuts)]
        quadtree: list[Split] = [Quarters()] * (quarterings // 2)
        tree, measurements = descend(
            counter,
            budget,
            lattice=Lattice(domain=counter.domain, columns=LATTICE_SIDE, rows=LATTICE_SIDE),
            splits=kd + quadtree if self.first == "kd" else quadtree + kd,
            count_share=1 - median_share,
            stop_below=self.stop_below,
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
