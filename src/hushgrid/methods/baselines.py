"""The two ends: one count (uniform), a fine grid (identity).

Reference: a baseline of Hay et al.: "Principled Evaluation of Differentially Private Algorithms using DPBench", SIGMOD
2016. Aliases: UNIFORM; U_1.

Reference: Dwork, McSherry, Nissim, Smith: "Calibrating Noise to Sensitivity in Private Data Analysis", TCC 2006; a
baseline of DPBench (Hay et al., SIGMOD 2016). Aliases: IDENTITY; the Laplace mechanism on a histogram.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from hushgrid.counting.counter import Counter
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import CELL_LIMIT, Grid
from hushgrid.inference.measurements import Measurements
from hushgrid.methods.method import Examples, check_whole, record
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class OneCell:
    """The whole domain as one cell.

    There is hardly any noise, and nothing about where points are.

    Privacy
    -------
    One count, of sensitivity 1, gets all of ε.
    """

    name: ClassVar[str] = "uniform"
    title: ClassVar[str] = "One cell"
    gist: ClassVar[str] = "one cell: the total, and nothing about where"
    examples: ClassVar[Examples] = Examples(small={}, large={})

    @classmethod
    def paper(cls) -> Self:
        """DPBench's UNIFORM, which has no parameters."""
        return cls()

    def public_partition(self, domain: Domain) -> Grid:
        """The domain as one cell."""
        return Grid(domain=domain, rows=1, columns=1)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish one cell."""
        grid = self.public_partition(counter.domain)
        return Synopsis.infer(
            grid,
            Measurements.of_leaves(budget.measure(counter.count(grid), Fraction(1))),
            inference="direct",
            claim=budget.claim(),
            method=record(self),
        )


@dataclass(frozen=True, kw_only=True)
class FineGrid:
    """A grid whose side does not depend on data.

    Parameters
    ----------
    side : int
        Cells per side.

    Privacy
    -------
    The cells are public and disjoint, so their counts together have sensitivity 1 and get all of ε.
    """

    name: ClassVar[str] = "identity"
    title: ClassVar[str] = "Fine grid"
    gist: ClassVar[str] = "a fine grid of equal cells"
    examples: ClassVar[Examples] = Examples(small={"side": 3}, large={"side": 100})
    side: int = 256  # the largest of DPBench's grids

    def __post_init__(self) -> None:
        check_whole(self.side, name="side", low=1, high=math.isqrt(CELL_LIMIT))

    @classmethod
    def paper(cls) -> Self:
        """DPBench's IDENTITY on its largest grid, which is the default."""
        return cls(side=256)

    def public_partition(self, domain: Domain) -> Grid:
        """The grid."""
        return Grid(domain=domain, rows=self.side, columns=self.side)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a fine grid."""
        grid = self.public_partition(counter.domain)
        return Synopsis.infer(
            grid,
            Measurements.of_leaves(budget.measure(counter.count(grid), Fraction(1))),
            inference="direct",
            claim=budget.claim(),
            method=record(self),
        )
