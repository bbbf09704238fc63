"""The regularised incomplete beta function: the cumulative probability of a Beta law."""

import math

from hushgrid.arrays import Floats
from hushgrid.compiled import compiled

MOST_TERMS = 500  # of the continued fraction; the laws of shares need fewer than fifty
PRECISION = 1e-14
TINY = 1e-300


@compiled
def continued_fraction(first: float, second: float, at: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method.

    Reference: Abramowitz and Stegun, 26.5.8; Thompson and Barnett, J. Comput. Phys. 64 (1986), for the method.
    """
    numerator, denominator = 1.0, 1 / (1 - (first + second) * at / (first + 1))
    fraction = denominator
    for term in range(1, MOST_TERMS):
        even = term * (second - term) * at / ((first + 2 * term - 1) * (first + 2 * term))
        odd = -(first + term) * (first + second + term) * at / ((first + 2 * term) * (first + 2 * term + 1))
        factor = 1.0
        for part in (even, odd):
            denominator = 1 + part * denominator
            denominator = 1 / (denominator if abs(denominator) > TINY else TINY)
            numerator = 1 + part / numerator
            numerator = numerator if abs(numerator) > TINY else TINY
            factor = numerator * denominator
            fraction *= factor
        if abs(factor - 1) < PRECISION:
            break
    return fraction


@compiled
def beta_cdf(first: float, second: float, at: float) -> float:
    """Probability that a share with the law Beta(first, second) is at most `at`."""
    if at <= 0:
        return 0.0
    if at >= 1:
        return 1.0
    log_front = math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
    front = math.exp(log_front + first * math.log(at) + second * math.log1p(-at))
    # The fraction converges fast below the mean; above it the other tail is taken.
    if at < (first + 1) / (first + second + 2):
        return front * continued_fraction(first, second, at) / first
    return 1 - front * continued_fraction(second, first, 1 - at) / second


@compiled
def beta_cdfs(first: Floats, second: Floats, at: Floats, out: Floats) -> None:
    """Cumulative probabilities of many laws at many points, shape (laws, points)."""
    for law in range(len(first)):
        for point in range(len(at)):
            out[law, point] = beta_cdf(first[law], second[law], at[point])
