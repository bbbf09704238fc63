"""AG, the adaptive grid.

Reference: Qardaji, Yang, Li: "Differentially Private Grids for Geospatial Data", ICDE 2013, section IV-B.
Aliases: A_{m1,c2} with a given first-level side.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from hushgrid.counting.counter import Counter
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.geometry.guidelines import SMALLEST_FIRST_SIDE, clamp_first_side, clamp_sides, leaf_sides
from hushgrid.inference.measurements import Measurements, Regions
from hushgrid.methods.method import Examples, check_positive, check_side, record
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact_share
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class AdaptiveGrid:
    """A grid whose denser cells are divided more finely.

    Both levels are measured, and made to agree.

    Parameters
    ----------
    first_side : int, optional
        First-level cells per side (m1); by default a quarter of Guideline 1's side, at least 10.
    alpha : float, or anything exact
        Share of the budget for the first level; a float means its shortest decimal.
    c : float
        Constant of Guideline 1.
    c2 : float
        Constant of Guideline 2, by default half of c.
    smooth : bool
        Whether the density slopes inside leaves, as far as the counts around them foretell it; the paper's is flat.
        Measurements and counts are the same, and so are the variances of rectangles.

    Privacy
    -------
    The noisy size, the first-level counts (α) and the leaf counts (1 - α) are three measurements of disjoint cells,
    each of sensitivity 1; the leaves depend on released first-level counts only. Their shares sum to ε. Slopes follow
    from released values.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> release = hg.publish([[0.2, 0.7]] * 1000, domain=square, epsilon=1, method=hg.AdaptiveGrid(first_side=2))
    >>> round(release.count([0.0, 0.5, 0.5, 1.0]), -3)
    1000.0
    """

    name: ClassVar[str] = "ag"
    title: ClassVar[str] = "AG"
    gist: ClassVar[str] = "a coarse grid, whose cells are divided again where many points are"
    examples: ClassVar[Examples] = Examples(small={"first_side": 2}, large={"first_side": 30})
    first_side: int | None = None
    alpha: Exactable = 0.5
    c: float = 10.0  # Guideline 1
    c2: float = 5.0  # Guideline 2
    smooth: bool = False

    def __post_init__(self) -> None:
        check_side(self.first_side, name="first_side")
        exact_share(self.alpha, name="alpha")
        check_positive(self.c, name="c")
        check_positive(self.c2, name="c2")

    @classmethod
    def paper(cls, first_side: int | None = None, c2: float = 5.0) -> Self:
        """The paper's A_{m1,c2}, which is the default.

        Without m1, the rule of section IV-B finds it; α is one half.
        """
        return cls(first_side=first_side, alpha=0.5, c=10.0, c2=c2)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish an adaptive grid."""
        alpha = exact_share(self.alpha, name="alpha")
        side, notes = (self.first_side, ()) if self.first_side else self._guideline(counter, budget)
        grid = Grid(domain=counter.domain, rows=side, columns=side)
        cells = budget.measure(counter.count(grid), alpha, purpose="first level")
        sides = leaf_sides(cells.values, (1 - alpha) * budget.epsilon, c2=self.c2)
        nested = NestedGrid(grid=grid, sides=clamp_sides(sides, limit=budget.most_cells()))
        leaves = budget.measure(counter.count(nested), 1 - alpha, purpose="leaves")
        if not np.array_equal(sides, nested.sides):
            notes = (*notes, f"the guideline's leaf sides were scaled down to fit {budget.most_cells():,} cells")
        return Synopsis.infer(
            nested,
            Measurements(leaves=leaves, regions=Regions.between(nested.offsets), region_values=cells),
            inference="two-level-sloped" if self.smooth else "two-level",
            claim=budget.claim(),
            method=record(self, *notes),
        )

    def _guideline(self, counter: Counter, budget: Budget) -> tuple[int, tuple[str, ...]]:
        wanted = guideline_first_side(budget.noisy_size(counter), budget.epsilon, c=self.c)
        return clamp_first_side(wanted, most_cells=budget.most_cells())


def guideline_first_side(size: int, epsilon: Fraction, *, c: float = 10.0) -> int:
    """First-level cells per side (section IV-B).

    A quarter of ceil(sqrt(N ε / c)) rounded, at least 10.

    Examples
    --------
    >>> guideline_first_side(1_000_000, Fraction(1)), guideline_first_side(1_000_000, Fraction(1, 10))
    (79, 25)
    """
    quarter = math.ceil(math.sqrt(max(size, 0) * float(epsilon) / c)) / 4
    return max(SMALLEST_FIRST_SIDE, math.floor(quarter + 0.5))
