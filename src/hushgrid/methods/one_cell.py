"""Uniform: one noisy count, spread evenly over the domain.

Reference: a baseline of Hay et al.: "Principled Evaluation of Differentially Private Algorithms using DPBench", SIGMOD
2016. Aliases: UNIFORM; U_1.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hushgrid.counting.counter import Counter
from hushgrid.geometry.grid import Grid
from hushgrid.inference.measurements import Measurements
from hushgrid.methods.method import record
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class OneCell:
    """The whole domain as one cell: hardly any noise, and nothing about where points are.

    Privacy
    -------
    One count, of sensitivity 1, gets all of ε.
    """

    name: ClassVar[str] = "uniform"
    passes: ClassVar[int] = 1

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish one cell."""
        grid = Grid(domain=counter.domain, rows=1, columns=1)
        return Synopsis.infer(
            grid,
            Measurements.of_leaves(budget.measure(counter.count(grid), Fraction(1))),
            inference="direct",
            claim=budget.claim(),
            method=record(self),
        )
