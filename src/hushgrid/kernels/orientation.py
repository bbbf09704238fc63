"""On which side of a line a point lies, exactly: rounding decides nothing.

Reference: Shewchuk: "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997.
"""

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.compiled import compiled

FILTER = (3 + 16 * 2.0**-53) * 2.0**-53  # Shewchuk 1997, the bound A of ORIENT2D
SPLITTER = 2.0**27 + 1  # halves the 53 bits of a double
TERMS = 16  # eight products, each a rounded value and its error


@compiled
def two_sum(one: float, other: float) -> tuple[float, float]:
    """A sum as it is rounded, and what rounding left out (Knuth)."""
    total = one + other
    virtual = total - one
    return total, (one - (total - virtual)) + (other - virtual)


@compiled
def two_product(one: float, other: float) -> tuple[float, float]:
    """A product as it is rounded, and what rounding left out (Dekker)."""
    product = one * other
    wide = SPLITTER * one
    one_high = wide - (wide - one)
    one_low = one - one_high
    wide = SPLITTER * other
    other_high = wide - (wide - other)
    other_low = other - other_high
    error = product - one_high * other_high - one_low * other_high - one_high * other_low
    return product, one_low * other_low - error


@compiled
def grow(terms: Floats, count: int, value: float) -> int:
    """Add a value to a sum that is kept as `count` terms that do not overlap, the largest last; returns one more."""
    for place in range(count):
        value, terms[place] = two_sum(value, terms[place])
    terms[count] = value
    return count + 1


@compiled
def exact_side(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """What `side_of` says, by sums that lose nothing."""
    factors = (
        (two_sum(ax, -px), two_sum(by, -py), 1.0),
        (two_sum(ay, -py), two_sum(bx, -px), -1.0),
    )
    terms, count = np.zeros(TERMS), 0
    for left, right, sign in factors:
        for one in left:
            for other in right:
                high, low = two_product(sign * one, other)
                count = grow(terms, count, low)
                count = grow(terms, count, high)
    for place in range(count - 1, -1, -1):
        if terms[place] != 0:
            return 1 if terms[place] > 0 else -1
    return 0


@compiled
def side_of(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """1 if a point lies left of the line from a to b, -1 if right of it, 0 if it lies on it."""
    left = (ax - px) * (by - py)
    right = (ay - py) * (bx - px)
    difference = left - right
    if abs(difference) > FILTER * (abs(left) + abs(right)):
        return 1 if difference > 0 else -1
    return exact_side(ax, ay, bx, by, px, py)
