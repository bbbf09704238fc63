"""The exact noise a second time: probabilities by mpmath, draws by plain numpy, and bits that follow a script.

Nothing here uses the enclosures, tables, guides or kernels of the library. `draw_codes` follows the contract in the
docstring of `hushgrid.privacy.laplace` word for word, so that it must agree draw for draw.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import mpmath
import numpy as np

from hushgrid.privacy.bits import Bits

BLOCK = 16_384


class NoMoreBits(Exception):
    """A script has come to its end."""


class ScriptedBits(Bits):
    """Bits written down beforehand; zeros for ever after if so asked, else an exception."""

    simulation = True

    def __init__(self, *, words=(), integers=(), then_zeros=False):
        self._words, self._integers, self._then_zeros = list(words), list(integers), then_zeros

    def words(self, count):
        """The next words of the script."""
        taken, self._words = self._words[:count], self._words[count:]
        assert len(taken) == count
        words = np.array(taken, np.uint32)
        words.flags.writeable = False
        return words

    def integer(self, bit_count):
        """The next integer of the script."""
        if self._integers:
            return self._integers.pop(0)
        if self._then_zeros:
            return 0
        raise NoMoreBits


def survival(value, *, rate, signed, size, precision):
    """P(digit >= value) to so many bits, as written in docs/privacy/noise.md, section 2."""
    with mpmath.workprec(precision):
        q = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)
        values = None if size is None else size // 2 if signed else size

        def reaches(k):
            if values is None:
                return q**k
            return (q**k - q**values) / (1 - q**values) if k < values else mpmath.mpf(0)

        if not signed:
            return reaches(value)
        k, odd = divmod(value, 2)
        return (q * reaches(k) + reaches(k + 1)) / (1 + q) if odd else reaches(k)


def scaled_floor(value, bits, *, rate, signed, size):
    """Floor of 2**bits P(digit >= value), from 300 bits more than it has."""
    precision = bits + 300 + rate.denominator.bit_length()
    with mpmath.workprec(precision):
        exact = survival(value, rate=rate, signed=signed, size=size, precision=precision)
        return int(mpmath.floor(mpmath.ldexp(exact, bits)))


def probability(z, rate):
    """P(Z = z) of the discrete Laplace law, at the precision mpmath is set to."""
    q = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)
    return (1 - q) / (1 + q) * q ** abs(z)


@dataclass(frozen=True)
class PlainDigit:
    """One digit of a code."""

    place: int
    rate: Fraction
    signed: bool
    size: int | None

    @property
    def law(self):
        """What `survival` and `scaled_floor` want."""
        return {"rate": self.rate, "signed": self.signed, "size": self.size}

    def values(self, words, word_bits):
        """Value of the digit for every word, and whether the word tells it."""
        rising = plain_thresholds(self, word_bits)[::-1]
        values = len(rising) - np.searchsorted(rising, words, side="right")
        return values, ~np.isin(words, rising) & (words > 0)

    def settle(self, word, word_bits, bits):
        """Value of the digit for one word and as many more bits as it takes."""
        number, length = word, word_bits
        value = int(np.sum(plain_thresholds(self, word_bits) > word))
        while self.size is None or value + 1 < self.size:
            floor = scaled_floor(value + 1, length, **self.law)
            if number == floor:
                number, length = number * 2**64 + bits.integer(64), length + 64
            elif number < floor:
                value += 1
            else:
                break
        return value


@lru_cache(maxsize=64)
def plain_thresholds(digit, word_bits):
    """Positive floors of the survival function, one by one."""
    table, value = [], 1
    while digit.size is None or value < digit.size:
        floor = scaled_floor(value, word_bits, **digit.law)
        if floor == 0:
            break
        table.append(floor)
        value += 1
    return np.array(table, np.int64)


def plain_digits(rate, *, signed=True, single=8, top=3, widest=12):
    """The digits of codes of a rate, lowest first."""
    if rate * 2**single >= 1:
        return [PlainDigit(0, rate, signed, None)]
    doublings = 0
    while rate * 2**doublings * 2**top < 1:
        doublings += 1
    low_bits = doublings + (1 if signed else 0)
    count = (low_bits + widest - 1) // widest
    widths = [low_bits // count + (1 if j < low_bits % count else 0) for j in range(count)]
    digits, place = [], 0
    for width in [*widths, None]:
        of_geometric = place - 1 if signed and place else place
        digits.append(
            PlainDigit(place, rate * 2**of_geometric, signed and place == 0, None if width is None else 2**width)
        )
        place += width or 0
    return digits


def compact_digits(rate):
    """The digits of codes in a mixture."""
    if rate * 2**10 >= 1:
        return plain_digits(rate, single=3, top=3, widest=8)
    return plain_digits(rate, single=3, top=5, widest=10)


def draw_codes(plans, plan_index, bits, *, word_bits=32):
    """Codes of as many draws as there are indices, each with the digits that its index names."""
    depth = max(len(digits) for digits in plans)
    codes = np.zeros(len(plan_index), object)
    for start in range(0, len(plan_index), BLOCK):
        index = np.asarray(plan_index[start : start + BLOCK])
        words = bits.words(depth * len(index)).astype(np.int64).reshape(depth, -1) >> (32 - word_bits)
        told = np.ones(len(index), bool)
        for plan, digits in enumerate(plans):
            mine = np.flatnonzero(index == plan)
            for digit, row in zip(digits, words, strict=False):
                values, clear = digit.values(row[mine], word_bits)
                codes[start + mine] += values.astype(object) << digit.place
                told[mine] &= clear
        for i in np.flatnonzero(~told):
            pairs = zip(plans[index[i]], words[:, i].tolist(), strict=False)
            codes[start + i] = sum(digit.settle(word, word_bits, bits) << digit.place for digit, word in pairs)
    return codes


def zigzag_noise(codes):
    """What signed codes stand for."""
    return [code // 2 if code % 2 == 0 else -1 - code // 2 for code in codes]
