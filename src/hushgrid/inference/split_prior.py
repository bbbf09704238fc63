"""The prior of a split's shares.

With probability w0 all of it is in one part, with probability w1 the share s is exactly its prior mean s0, and with
probability w_j it follows the law Beta(2 A_j s0, 2 A_j (1 - s0)), for six strengths A_j.
"""

import math
from functools import cache

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.compiled import compiled
from hushgrid.inference.belief_loops import FARTHEST_LOGIT, LOGITS, MEANS, PLACES
from hushgrid.inference.split_loops import CONCENTRATIONS

MOST_TERMS = 500  # of the continued fraction; the laws of shares need fewer than fifty
PRECISION = 1e-14
TINY = 1e-300


@compiled
def continued_fraction(first: float, second: float, at: float) -> float:
    """Continued fraction of the incomplete beta function.

    It is computed by Lentz's method.

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
    """Probability that a Beta(first, second) share is at most `at`."""
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
    """Cumulative probabilities of Beta laws, shape (laws, points)."""
    for law in range(len(first)):
        for point in range(len(at)):
            out[law, point] = beta_cdf(first[law], second[law], at[point])


ATOMS = 2  # of the weights of a prior, the first two are w0 and w1


def cumulative_tables(weights: Floats) -> Floats:
    """Tabulate the continuous part of priors, cumulative.

    There is an entry for each prior mean and each of PLACES evenly spaced shares, from 0 to 1.

    Parameters
    ----------
    weights : array, shape (..., 8)
        w0, w1 and the weights of the six laws.

    Returns
    -------
    array, shape (..., MEANS, PLACES)
    """
    return np.tensordot(weights[..., ATOMS:], _component_tables(), axes=1)


def second_tables(weights: Floats) -> Floats:
    """Tabulate the continuous part of second laws, shape (..., LOGITS, PLACES).

    Their prior means are evenly spaced as logits, because these come nearer to 0 and 1.
    """
    # Without BLAS, whose threads take thirty times as long to meet as there is to add up here.
    return np.asarray(np.einsum("...k,kmp->...mp", weights[..., ATOMS:], _second_component_tables()))


def laws_of_mean(means: Floats, shares: Floats) -> Floats:
    """Cumulative laws of shares, shape (6, means, shares)."""
    first = 2 * np.outer(CONCENTRATIONS, means)
    second = 2 * np.outer(CONCENTRATIONS, 1 - means)
    tables = np.empty((first.size, len(shares)))
    beta_cdfs(first.ravel(), second.ravel(), shares, tables)
    return tables.reshape(len(CONCENTRATIONS), len(means), len(shares))


@cache
def _component_tables() -> Floats:
    return laws_of_mean(np.arange(1, MEANS + 1) / (MEANS + 1), np.linspace(0, 1, PLACES))


@cache
def _second_component_tables() -> Floats:
    logits = np.linspace(-FARTHEST_LOGIT, FARTHEST_LOGIT, LOGITS)
    return laws_of_mean(1 / (1 + np.exp(-logits)), np.linspace(0, 1, PLACES))
