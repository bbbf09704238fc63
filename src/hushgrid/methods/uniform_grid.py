"""UG, the uniform grid.

Reference: Qardaji, Yang, Li: "Differentially Private Grids for Geospatial Data", ICDE 2013, section IV-A.
Aliases: U_m with a given side m; "flat" and "identity" in the literature on histograms.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from hushgrid.counting.counter import Counter
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.guidelines import clamp_side, guideline_side
from hushgrid.inference.measurements import Measurements
from hushgrid.methods.method import Examples, check_positive, check_side, record
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class UniformGrid:
    """One grid of equal cells, one noisy count each.

    Parameters
    ----------
    side : int, optional
        Cells per side; by default Guideline 1 finds it from the noisy number of points.
    c : float
        Constant of Guideline 1; larger for data that lie more evenly.

    Privacy
    -------
    The noisy size is (share · ε)-DP and sizes the grid; the cells are disjoint, so their counts together have
    sensitivity 1 and get the rest of ε.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> hg.publish([[0.2, 0.7]] * 1000, domain=square, epsilon=1, method=hg.UniformGrid(side=4))
    <Synopsis by ug: epsilon=1, 16 cells>
    """

    name: ClassVar[str] = "ug"
    title: ClassVar[str] = "UG"
    gist: ClassVar[str] = "equal cells, as many as the noise allows"
    examples: ClassVar[Examples] = Examples(small={"side": 2}, large={"side": 100})
    side: int | None = None
    c: float = 10.0  # Qardaji et al. 2013, Guideline 1

    def __post_init__(self) -> None:
        check_side(self.side, name="side")
        check_positive(self.c, name="c")

    @classmethod
    def paper(cls, side: int | None = None) -> Self:
        """The paper's U_m, which is the default.

        Without m, Guideline 1 finds it.
        """
        return cls(side=side, c=10.0)

    def public_partition(self, domain: Domain) -> Grid | None:
        """The grid, if its side was given."""
        return None if self.side is None else Grid(domain=domain, rows=self.side, columns=self.side)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a uniform grid."""
        side, notes = (self.side, ()) if self.side else self._guideline(counter, budget)
        grid = Grid(domain=counter.domain, rows=side, columns=side)
        measured = budget.measure(counter.count(grid), Fraction(1))
        return Synopsis.infer(
            grid,
            Measurements.of_leaves(measured),
            inference="direct",
            claim=budget.claim(),
            method=record(self, *notes),
        )

    def _guideline(self, counter: Counter, budget: Budget) -> tuple[int, tuple[str, ...]]:
        wanted = guideline_side(budget.noisy_size(counter), budget.epsilon, c=self.c)
        return clamp_side(wanted, most_cells=budget.most_cells())
