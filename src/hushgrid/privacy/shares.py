"""A budget divided in proportion to weights, exactly."""

import math
from collections.abc import Sequence
from fractions import Fraction

GRAIN = 2**20  # parts of a share that weights are rounded down to


def proportional_shares(whole: Fraction, weights: Sequence[float]) -> tuple[Fraction, ...]:
    """Parts of a whole in proportion to weights, which may be irrational: rounded down, and the last gets the rest.

    Examples
    --------
    >>> proportional_shares(Fraction(7, 10), [1, 1, 2])
    (Fraction(7, 40), Fraction(7, 40), Fraction(7, 20))
    """
    total = math.fsum(weights)
    parts = [whole * Fraction(math.floor(weight / total * GRAIN), GRAIN) for weight in weights[:-1]]
    return (*parts, whole - sum(parts))
