"""Real numbers enclosed between two integers, rigorously.

Both integers are divided by a power of two.

Every operation rounds outward, so an enclosure made from enclosures encloses the exact result. Only non-negative
numbers occur. Proofs: docs/privacy/noise.md, section 4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Self


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number v with ``low <= 2**precision * v <= high``."""

    low: int
    high: int
    precision: int

    @classmethod
    def of_integer(cls, number: int, precision: int) -> Self:
        """An integer, exactly."""
        return cls(number << precision, number << precision, precision)

    def __add__(self, other: "Enclosure") -> "Enclosure":
        return Enclosure(self.low + other.low, self.high + other.high, self.precision)

    def __sub__(self, other: "Enclosure") -> "Enclosure":
        # The exact difference is never negative where this is used, so zero is a lower bound too.
        return Enclosure(max(self.low - other.high, 0), self.high - other.low, self.precision)

    def __mul__(self, other: "Enclosure") -> "Enclosure":
        return Enclosure(
            self.low * other.low >> self.precision,
            _shift_up(self.high * other.high, self.precision),
            self.precision,
        )

    def __truediv__(self, other: "Enclosure") -> "Enclosure":
        return Enclosure(
            (self.low << self.precision) // other.high,
            _divide_up(self.high << self.precision, other.low),
            self.precision,
        )

    def scaled_floor(self, bits: int) -> int | None:
        """Floor of ``2**bits * v``, or None if unknown."""
        low = self.low >> (self.precision - bits)
        return low if low == self.high >> (self.precision - bits) else None


def certified_floor(enclose: Callable[[int], Enclosure], bits: int, *, guard: int = 64) -> int:
    """Floor of ``2**bits * v`` for an irrational v.

    Encloses v with rising precision until the floor is certain.

    Examples
    --------
    >>> certified_floor(lambda precision: exp_neg(Fraction(1), precision), 10)  # 1024 / e = 376.7
    376
    """
    precision = bits + guard
    while (floor := enclose(precision).scaled_floor(bits)) is None:
        precision *= 2
    return floor


def exp_neg(exponent: Fraction, precision: int) -> Enclosure:
    """Enclose ``exp(-exponent)`` for ``exponent >= 0``.

    The enclosure is usually two units wide.
    """
    numerator, denominator = exponent.numerator, exponent.denominator
    if numerator >= denominator * precision:
        return Enclosure(0, 1, precision)  # exp(-x) < 2**-x
    # exp(-x) = exp(-x / 2**halvings) squared `halvings` times; what is left of x is below 1/64.
    halvings = (numerator // denominator).bit_length() + 6
    working = precision + halvings + 16
    low, high = _small_exp_neg(numerator, denominator << halvings, working)
    for _ in range(halvings):
        low = low * low >> working
        high = _shift_up(high * high, working)
    excess = working - precision
    return Enclosure(low >> excess, _shift_up(high, excess), precision)


def _small_exp_neg(numerator: int, denominator: int, working: int) -> tuple[int, int]:
    """Bounds of ``2**working * exp(-x)``, for small x >= 0.

    They come from the alternating series. A partial sum that ends with an odd power is below exp(-x), one that ends
    with an even power above.
    """
    x_low = (numerator << working) // denominator
    x_high = _divide_up(numerator << working, denominator)
    low = high = term_low = term_high = 1 << working
    power = 0
    while True:
        power += 1
        term_low = (term_low * x_low >> working) // power
        term_high = _divide_up(_shift_up(term_high * x_high, working), power)
        if power % 2:
            low -= term_high
            high -= term_low
        else:
            high += term_high
            if term_high <= 1:
                return low, high
            low += term_low


def _shift_up(number: int, bits: int) -> int:
    """Ceiling of ``number / 2**bits``."""
    return -(-number >> bits)


def _divide_up(number: int, divisor: int) -> int:
    """Ceiling of ``number / divisor``."""
    return -(-number // divisor)
