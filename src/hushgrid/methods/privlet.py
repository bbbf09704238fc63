"""Privlet: noise on the wavelet coefficients of a grid.

Reference: Xiao, Wang, Gehrke: "Differential Privacy via Wavelet Transforms", TKDE 2011 (first at ICDE 2010), the
multi-dimensional Haar transform of section VI. Aliases: W_m with a given side m.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.counting.counter import Counter
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.guidelines import clamp_side, guideline_side
from hushgrid.inference.haar import touched, transform
from hushgrid.inference.measurements import Measurements, NoisyValues, Wavelet
from hushgrid.methods.method import Examples, check_positive, check_side, record
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class Privlet:
    """A grid known by its Haar wavelet coefficients.

    Their noise cancels inside large rectangles. The transform is kept in whole numbers: sums and differences of counts,
    each equal to a coefficient of the paper times its weight there.

    Parameters
    ----------
    side : int, optional
        Cells per side; by default the power of two nearest to Guideline 1's, from the noisy number of points. The
        transform pads any other side to a power of two, and noise grows with that.
    c : float
        Constant of Guideline 1.

    Privacy
    -------
    The noisy size sizes the grid. One record changes (1 + log2 M)² integer coefficients, M the padded side, each by
    one; with noise on each at the rate of what is left of ε divided by that number, their ratios multiply to at most
    exp(ε).
    """

    name: ClassVar[str] = "privlet"
    title: ClassVar[str] = "Privlet"
    gist: ClassVar[str] = "equal cells, counted by differences of their sums, which favours large areas"
    examples: ClassVar[Examples] = Examples(small={"side": 4}, large={"side": 64})
    side: int | None = None
    c: float = 10.0  # Qardaji et al. 2013, Guideline 1

    def __post_init__(self) -> None:
        check_side(self.side, name="side")
        check_positive(self.c, name="c")

    @classmethod
    def paper(cls, side: int = 360) -> Self:
        """W_m of Qardaji et al. 2013, by default on their grid of 360."""
        return cls(side=side)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish the wavelet coefficients of a grid."""
        if self.side is None:
            wanted = nearest_power_of_two(guideline_side(budget.noisy_size(counter), budget.epsilon, c=self.c))
            largest = 4 ** ((budget.most_cells().bit_length() - 1) // 2)  # a grid of a power of two a side
            side, notes = clamp_side(wanted, most_cells=largest)
        else:
            side, notes = self.side, ()
        grid = Grid(domain=counter.domain, rows=side, columns=side)
        true_coefficients = transform(counter.count(grid).reshape(side, side))
        wavelet = measure_coefficients(budget, true_coefficients)
        return Synopsis.infer(
            grid,
            Measurements.of_wavelet(wavelet, cells=grid.cells),
            inference="haar",
            claim=budget.claim(),
            method=record(self, *notes),
        )


def nearest_power_of_two(side: int) -> int:
    """The power of two nearest by ratio.

    Examples
    --------
    >>> nearest_power_of_two(129), nearest_power_of_two(200), nearest_power_of_two(1)
    (128, 256, 1)
    """
    return int(2 ** round(math.log2(side)))


def measure_coefficients(budget: Budget, true_coefficients: NDArray[np.int64]) -> Wavelet:
    """Noisy coefficients, for all of the budget.

    Privacy
    -------
    ε-DP: a record changes as many coefficients as the rate is divided by, each by one.
    """
    rows, columns = true_coefficients.shape
    rate = budget.charge(Fraction(1), purpose="wavelet coefficients", measured=True) / touched(rows, columns)
    values = budget.perturb(true_coefficients.ravel(), rate)
    return Wavelet(rows=rows, columns=columns, coefficients=NoisyValues.at_one_rate(values, rate))
