"""Exact discrete Laplace noise.

``P(Z = z) = (1 - q) / (1 + q) * q**abs(z)`` with ``q = exp(-rate)``, for a rational rate.

No float, no rounding and no cut-off anywhere: given uniform bits, the law is exact. Proofs: docs/privacy/noise.md.

The stream of a simulation is frozen, as a function of seed, rate and size. Draws come in blocks of 16,384, the last
one shorter. A block of n draws of m digits takes m n words of 32 bits: those of the lowest digits, then of the next.
Then draws with a word that is zero or equals a threshold are settled in rising order, digit by digit from the
lowest, reading 64 bits at a time. `split` fixes the digits. `bits` says how the two streams of a seed are read.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.errors import ArgumentError
from hushgrid.privacy.bits import WORD_BITS, Bits
from hushgrid.privacy.codes import BLOCK, INT64, add_block, add_codes, check_counts, code_blocks, place_digit
from hushgrid.privacy.digit import Digit, DigitLaw

SMALLEST_RATE = Fraction(1, 2**44)  # keeps all noise that kernels decide below 2**61 in size


def add_noise(true_counts: ArrayLike, *, rate: Fraction, bits: Bits) -> NDArray[np.int64]:
    """Add independent discrete Laplace noise to every count.

    Parameters
    ----------
    true_counts : array of int, any shape
        Exact counts, each within plus or minus 2**62.
    rate : Fraction
        Budget divided by L1 sensitivity, at least 2**-44.
    bits : Bits
        Where randomness comes from.

    Privacy
    -------
    If neighbouring inputs differ by at most one in one count, the output is `rate`-differentially private.

    Examples
    --------
    >>> from hushgrid.privacy.bits import SystemBits
    >>> add_noise([[3, 0], [1, 8]], rate=Fraction(1000), bits=SystemBits())
    array([[3, 0],
           [1, 8]])
    """
    return add_codes(check_counts(true_counts), plan_for(check_rate(rate), signed=True), bits)


def discrete_laplace(size: int, *, rate: Fraction, bits: Bits) -> NDArray[np.int64]:
    """Draw discrete Laplace noise alone."""
    noise = np.empty(size, np.int64)
    zeros = np.zeros(min(size, BLOCK), np.int64)
    for block in code_blocks(size, plan_for(check_rate(rate), signed=True), bits):
        add_block(zeros[: len(block.codes)], block, noise[block.where])
    return noise


def geometric(size: int, *, rate: Fraction, bits: Bits) -> NDArray[np.int64]:
    """Draw geometric integers: ``P(G >= k) = exp(-rate * k)``.

    They are clamped to int64 where they do not fit.
    """
    values = np.empty(size, np.int64)
    for block in code_blocks(size, plan_for(check_rate(rate), signed=False), bits):
        part = values[block.where]
        part[:] = block.codes
        for i, code in block.settled.items():
            part[i] = min(code, INT64.max)
    return values


def check_rate(rate: object) -> Fraction:
    """Check that noise of this rate can be drawn."""
    if not isinstance(rate, Rational) or rate < SMALLEST_RATE:
        msg = f"the rate of noise must be a rational number of at least 2**-44, got rate={rate!r}."
        raise ArgumentError(msg)
    return Fraction(rate)


@dataclass(frozen=True, eq=False)
class DigitPlan:
    """Digits of the codes of one rate.

    They come lowest first, each with its place in the code. A plan is a `Coder`.
    """

    digits: tuple[Digit, ...]
    places: tuple[int, ...]

    @property
    def word_bits(self) -> int:
        """Bits of a word."""
        return self.digits[0].word_bits

    @property
    def words_per_draw(self) -> int:
        """Number of digits."""
        return len(self.digits)

    def encode(
        self,
        words: NDArray[np.uint32],
        where: slice,  # noqa: ARG002 - all draws have the same digits
        codes: NDArray[np.int64],
        undecided: NDArray[np.int32],
    ) -> int:
        """Codes of a block, from one word per digit."""
        found = 0
        for j, (digit, place) in enumerate(zip(self.digits, self.places, strict=True)):
            found = place_digit(
                words[j],
                digit.thresholds,
                digit.guide,
                digit.guide_shift,
                place,
                j == 0,
                codes,
                undecided,
                found,
            )
        return found

    def settle(self, words: list[int], draw: int, bits: Bits) -> int:  # noqa: ARG002
        """Code of one draw."""
        return sum(
            digit.settle(word, bits) << place
            for digit, place, word in zip(self.digits, self.places, words, strict=False)
        )


@lru_cache(maxsize=128)
def plan_for(rate: Fraction, *, signed: bool, word_bits: int = WORD_BITS) -> DigitPlan:
    """Plan the digits for a rate.

    Rates from 2**-8 on have one digit, others a top digit above low ones of at most 12 bits.
    """
    laws, places = split(rate, signed=signed, single=8, top=3, widest=12)
    return DigitPlan(tuple(Digit.tabulate(law, word_bits=word_bits) for law in laws), places)


def split(
    rate: Fraction, *, signed: bool, single: int, top: int, widest: int
) -> tuple[tuple[DigitLaw, ...], tuple[int, ...]]:
    """Cut codes into digits: laws and places, lowest first.

    How they are cut concerns speed and memory, never the law.

    Parameters
    ----------
    rate, signed
        Noise of this rate, or unsigned geometric integers.
    single : int
        Rates of at least ``2**-single`` have one digit.
    top : int
        Smaller rates get just enough low bits that the rate of the top digit is at least ``2**-top``.
    widest : int
        Most bits of a low digit. Low bits are shared out as evenly as possible, wider digits first.
    """
    if rate >= Fraction(1, 2**single):
        return (DigitLaw(rate=rate, signed=signed, size=None),), (0,)
    doublings = (-(-rate.denominator // (rate.numerator << top)) - 1).bit_length()
    low_bits = doublings + signed
    laws, places = [], [0]
    for digits_left in range(-(-low_bits // widest), 0, -1):
        width = -(-(low_bits - places[-1]) // digits_left)
        laws.append(_law_at(places[-1], rate, signed=signed, size=2**width))
        places.append(places[-1] + width)
    laws.append(_law_at(places[-1], rate, signed=signed, size=None))
    return tuple(laws), tuple(places)


def _law_at(place: int, rate: Fraction, *, signed: bool, size: int | None) -> DigitLaw:
    """Law of the digit at a place.

    The lowest digit holds the sign.
    """
    if place == 0:
        return DigitLaw(rate=rate, signed=signed, size=size)
    return DigitLaw(rate=rate * 2 ** (place - signed), signed=False, size=size)
