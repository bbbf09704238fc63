"""One digit of the noise: its law and tables.

A digit X is read off a uniform real number U by its survival function: ``X = #{x >= 1: U < P(X >= x)}``. The first
word of U is compared with a table of floors of that function; in the rare case that it equals one of them, more bits
of U are read. Nothing is rounded and nothing is cut off. Proofs: docs/privacy/noise.md, sections 2 to 4.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import count, cycle
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.privacy.bits import WORD_BITS, Bits, UniformReal
from hushgrid.privacy.enclosure import Enclosure, certified_floor, exp_neg

GUARD_BITS = 64  # beyond those of a threshold, at first; more where they do not suffice
WIDEST_GUIDE = 16  # bits: 128 KiB


@dataclass(frozen=True, kw_only=True)
class DigitLaw:
    """The law of one digit.

    Unsigned, it is that of a geometric G, ``P(G >= k) = exp(-rate k)``. Signed, it is that of ``2 G + S``, where S is
    one with probability ``exp(-rate) / (1 + exp(-rate))`` and stands for negative noise. With a size, it is the same
    law given that the digit is below the size.

    Parameters
    ----------
    rate : Fraction
        Decay per unit of G; positive.
    signed : bool
        Whether the lowest bit of the digit is the sign of the noise.
    size : int or None
        Number of values; even for a signed digit. None if it is unbounded.
    """

    rate: Fraction
    signed: bool
    size: int | None

    def threshold(self, value: int, bits: int) -> int:
        """Floor of ``2**bits * P(X >= value)``.

        The value is from 1 to below the size.

        Examples
        --------
        >>> DigitLaw(rate=Fraction(1), signed=False, size=None).threshold(1, bits=8)  # 256 / e = 94.2
        94
        """
        return certified_floor(partial(self._survival, value), bits, guard=self._guard)

    def thresholds(self, word_bits: int) -> list[int]:
        """Thresholds of 1, 2, ... until they reach zero.

        They are the numbers that `threshold` gives, found a hundred times faster: each value multiplies the last.
        """
        precision = word_bits + self._guard + 32
        beyond = self._beyond(precision)
        stretch = _one(precision) / (_one(precision) - beyond)
        surplus = 2 * precision - word_bits
        low = high = 1 << precision
        table: list[int] = []
        # An enclosure in two bare integers: this loop is the cost of a new rate.
        for value, ratio in zip(count(1), cycle(self._ratios(precision)), strict=False):
            if value == self.size:
                return [*table, 0]
            low = low * ratio.low >> precision
            high = -(-high * ratio.high >> precision)
            floor = (low - beyond.high) * stretch.low >> surplus
            if floor != (high - beyond.low) * stretch.high >> surplus:
                floor = self.threshold(value, word_bits)
            table.append(floor)
            if floor == 0:
                break
        return table

    @property
    def _guard(self) -> int:
        # The size may leave a probability of the order of the rate, which loses as many bits again.
        return GUARD_BITS + (self.rate.denominator // self.rate.numerator).bit_length()

    def _survival(self, value: int, precision: int) -> Enclosure:
        beyond = self._beyond(precision)
        return (self._unbounded(value, precision) - beyond) / (_one(precision) - beyond)

    def _beyond(self, precision: int) -> Enclosure:
        """Probability that the size excludes."""
        return Enclosure(0, 0, precision) if self.size is None else self._unbounded(self.size, precision)

    def _unbounded(self, value: int, precision: int) -> Enclosure:
        """Survival function without the size."""
        ratios = self._ratios(precision)
        rounds, rest = divmod(value, len(ratios))
        probability = exp_neg(rounds * self.rate, precision)
        return probability * ratios[0] if rest else probability

    def _ratios(self, precision: int) -> tuple[Enclosure, ...]:
        """Ratios of successive survival probabilities, without the size."""
        decay = exp_neg(self.rate, precision)
        if not self.signed:
            return (decay,)
        one = _one(precision)
        return (decay + decay) / (one + decay), (one + decay) / (one + one)


@dataclass(frozen=True, kw_only=True, eq=False)
class Digit:
    """A digit with its tables.

    Parameters
    ----------
    law : DigitLaw
    word_bits : int
        Bits of a word, at most 32. Fewer change nothing but how often a word does not suffice.
    thresholds : array of uint32
        Thresholds of the values 1, 2, ..., never increasing, ending with a zero.
    guide : array of int16, of a power of two
        For the leading bits of a word, its digit d, or ``~d`` if the digit is d or more and thresholds must tell.
    """

    law: DigitLaw
    word_bits: int
    thresholds: NDArray[np.uint32]
    guide: NDArray[np.int16]

    @classmethod
    def tabulate(cls, law: DigitLaw, *, word_bits: int = WORD_BITS, guide_bits: int | None = None) -> Self:
        """Make the tables.

        The guide is as wide as the thresholds suggest unless told; its width concerns speed alone.
        """
        thresholds = np.array(law.thresholds(word_bits), np.uint32)
        assert np.all(thresholds[1:] <= thresholds[:-1])
        if guide_bits is None:
            guide_bits = min(WIDEST_GUIDE, 9 + len(thresholds).bit_length() // 2)
        guide = guide_to(thresholds, word_bits=word_bits, guide_bits=min(guide_bits, word_bits))
        thresholds.flags.writeable = guide.flags.writeable = False
        return cls(law=law, word_bits=word_bits, thresholds=thresholds, guide=guide)

    @property
    def guide_shift(self) -> int:
        """Bits of a word that the guide ignores."""
        return self.word_bits - (len(self.guide) - 1).bit_length()

    def settle(self, word: int, bits: Bits) -> int:
        """Digit of any word, reading more bits as needed."""
        uniform = UniformReal(bits, prefix=word, length=self.word_bits)
        value = int(np.count_nonzero(self.thresholds > word))
        while value + 1 != self.law.size and uniform.is_below(partial(self.law.threshold, value + 1)):
            value += 1
        return value


def guide_to(thresholds: NDArray[np.uint32], *, word_bits: int, guide_bits: int) -> NDArray[np.int16]:
    """Make a guide of ``2**guide_bits`` entries.

    Each entry is about the words that share their leading bits.
    """
    assert len(thresholds) <= np.iinfo(np.int16).max
    rising = thresholds[::-1].astype(np.int64)
    first = np.arange(1 << guide_bits, dtype=np.int64) << (word_bits - guide_bits)
    last = first + (1 << (word_bits - guide_bits)) - 1
    above_all = len(rising) - np.searchsorted(rising, last, side="right")
    reached = len(rising) - np.searchsorted(rising, first, side="left")
    return np.where(above_all == reached, above_all, ~above_all).astype(np.int16)


def _one(precision: int) -> Enclosure:
    return Enclosure.of_integer(1, precision)
