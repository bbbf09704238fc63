"""Exact noise of different rates in one array.

Every draw follows the law of `hushgrid.privacy.laplace`. Only the cut into digits differs: its tables are so small that
those of hundreds of rates stay in the processor's cache. The stream of a simulation has the same layout. Every draw
takes as many words as the rate with the most digits needs; it ignores words of digits that its own rate lacks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.errors import ArgumentError
from hushgrid.inference.measurements import NOT_MEASURED
from hushgrid.privacy.bits import WORD_BITS, Bits
from hushgrid.privacy.codes import add_codes, check_counts, place_mixed_digit
from hushgrid.privacy.digit import Digit
from hushgrid.privacy.laplace import DigitPlan, check_rate, split

GUIDE_BITS = 10  # 2 KiB a digit


def add_noise_each(
    true_counts: ArrayLike, *, rates: Sequence[Fraction], rate_index: ArrayLike, bits: Bits
) -> NDArray[np.int64]:
    """Add noise to every count, each at its rate.

    Parameters
    ----------
    true_counts : array of int, any shape
        Exact counts, each within plus or minus 2**62.
    rates : sequence of Fraction
        The rates that occur, each at least 2**-44.
    rate_index : array of int, of the same shape
        Which of the rates each count gets. Every count gets noise: there is no `NOT_MEASURED` here.
    bits : Bits
        Where randomness comes from.

    Privacy
    -------
    If neighbouring inputs differ by at most one in one count, the output is differentially private at the rate of
    that count.

    Examples
    --------
    >>> from hushgrid.privacy.bits import SystemBits
    >>> add_noise_each([3, 0, 8], rates=[Fraction(900), Fraction(1000)], rate_index=[0, 1, 1], bits=SystemBits())
    array([3, 0, 8])
    """
    counts = check_counts(true_counts)
    index = _check_rate_index(rate_index, shape=counts.shape, rates=len(rates))
    plans = tuple(compact_plan(check_rate(rate)) for rate in rates)
    return add_codes(counts, Mixture.of(plans, index), bits) if plans else counts


@dataclass(frozen=True, eq=False)
class Position:
    """The digits of all rates at one position.

    A rate without a digit there has a guide of zeros.
    """

    thresholds: NDArray[np.uint32]
    starts: NDArray[np.int64]
    guides: NDArray[np.int16]
    places: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mixture:
    """A `Coder` for draws of different rates."""

    plans: tuple[DigitPlan, ...]
    rate_index: NDArray[np.int32]
    positions: tuple[Position, ...]

    @classmethod
    def of(cls, plans: tuple[DigitPlan, ...], rate_index: NDArray[np.int32]) -> Self:
        """Pack the tables of the plans.

        All guides must have one width.
        """
        columns = zip_longest(*(zip(plan.digits, plan.places, strict=True) for plan in plans))
        return cls(plans, rate_index, tuple(_pack(column) for column in columns))

    @property
    def word_bits(self) -> int:
        """Bits of a word."""
        return self.plans[0].word_bits

    @property
    def words_per_draw(self) -> int:
        """Largest number of digits of any rate."""
        return len(self.positions)

    def encode(
        self, words: NDArray[np.uint32], where: slice, codes: NDArray[np.int64], undecided: NDArray[np.int32]
    ) -> int:
        """Codes of a block, from one word per digit."""
        rate_index = self.rate_index[where]
        guide_shift = self.plans[0].digits[0].guide_shift
        found = 0
        for j, position in enumerate(self.positions):
            found = place_mixed_digit(
                words[j],
                rate_index,
                position.thresholds,
                position.starts,
                position.guides,
                guide_shift,
                position.places,
                j == 0,
                codes,
                undecided,
                found,
            )
        return found

    def settle(self, words: list[int], draw: int, bits: Bits) -> int:
        """Code of one draw."""
        return self.plans[int(self.rate_index[draw])].settle(words, draw, bits)


@lru_cache(maxsize=1024)
def compact_plan(rate: Fraction, *, word_bits: int = WORD_BITS) -> DigitPlan:
    """Plan digits with small tables.

    Rates from 1/8 on have one digit, rates down to about 1e-4 two.
    """
    top, widest = (3, 8) if rate >= Fraction(1, 2**10) else (5, 10)
    laws, places = split(rate, signed=True, single=3, top=top, widest=widest)
    digits = (Digit.tabulate(law, word_bits=word_bits, guide_bits=GUIDE_BITS) for law in laws)
    return DigitPlan(tuple(digits), places)


def _pack(column: Sequence[tuple[Digit, int] | None]) -> Position:
    present = [(rate, *entry) for rate, entry in enumerate(column) if entry is not None]
    starts, places = np.zeros((2, len(column)), np.int64)
    guides = np.zeros((len(column), len(present[0][1].guide)), np.int16)
    tables: list[NDArray[np.uint32]] = []
    filled = 0
    for rate, digit, place in present:
        starts[rate], places[rate], guides[rate] = filled, place, digit.guide
        tables.append(digit.thresholds)
        filled += len(digit.thresholds)
    return Position(np.concatenate(tables), starts, guides, places)


def _check_rate_index(rate_index: ArrayLike, *, shape: tuple[int, ...], rates: int) -> NDArray[np.int32]:
    """The index, flat and checked; kernels trust it."""
    index = np.asarray(rate_index)
    if index.shape != shape or not np.can_cast(index.dtype, np.int64):
        msg = f"rate_index must be integers of shape {shape} like the counts, got {index.dtype} of shape {index.shape}."
        raise ArgumentError(msg)
    if index.size and not (index.min() >= 0 and index.max() < rates):
        msg = (
            f"rate_index must be at least 0 and below the number of rates, {rates}; {NOT_MEASURED} is not allowed here."
        )
        raise ArgumentError(msg)
    return np.ascontiguousarray(index, np.int32).ravel()
