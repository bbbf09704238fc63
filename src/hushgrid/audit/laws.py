"""The laws of everything a release draws, written down a second time from the proofs.

Nothing here comes from the code that is audited: not the rates, not the constants, not the formulas. The proofs are in
docs/privacy.md and docs/privacy/.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices

SIZE_SHARE = Fraction(1, 100)  # of epsilon, for the noisy number of records, unless a share is given
TOTAL_SHARE = Fraction(1, 20)  # of epsilon, for a private total
NODES = 512  # of the quadrature, which is exact for up to 1,024 candidates


def log_laplace(noise: Indices, rate: float) -> Floats:
    """Log of the discrete Laplace probability ``tanh(rate / 2) exp(-rate |z|)``.

    Examples
    --------
    >>> round(float(np.exp(log_laplace(np.arange(-50, 51), 0.5)).sum()), 9)
    1.0
    """
    return np.asarray(math.log(math.tanh(rate / 2)) - rate * np.abs(noise))


def size_rate(epsilon: Fraction, share: Fraction = SIZE_SHARE) -> Fraction:
    """Rate of the noise on the number of records: one record changes it by one."""
    return share * epsilon


def total_rate(epsilon: Fraction, cap: int) -> Fraction:
    """Rate of the noise on a private total: one user changes it by the cap at most."""
    return TOTAL_SHARE * epsilon / cap


def heads(gaps: Indices, rate: float) -> Floats:
    """Probability ``exp(-rate gap)`` that a coin comes up heads."""
    return np.asarray(np.exp(-rate * np.asarray(gaps, np.float64)))


def choice(true_scores: Indices, rate: float) -> Floats:
    """Probability of each candidate under permute-and-flip (McKenna and Sheldon 2020).

    Candidates come in random order until a coin of probability ``exp(-rate gap)`` shows heads. A candidate is taken if
    its own coin shows heads and it comes first among all heads: its share is the integral over its place t in the
    order of the chance that no earlier coin shows heads.

    Examples
    --------
    >>> choice(np.array([3, 3]), 1.0).round(12).tolist()
    [0.5, 0.5]
    >>> law = choice(np.array([0, -1]), 1.0)  # the worse one needs heads, and to be first
    >>> bool(np.isclose(law[1], math.exp(-1) / 2))
    True
    """
    coins = heads(np.max(true_scores) - true_scores, rate)
    # Equal coins have equal shares: a thousand candidates have few different scores.
    different, which, times = np.unique(coins, return_inverse=True, return_counts=True)
    places, weights = _quadrature()
    tails = 1 - np.outer(different, places)  # that such a coin is not an earlier heads
    log_all = times @ np.log(tails)
    shares = different * np.sum(weights * np.exp(log_all - np.log(tails)), axis=1)
    return np.asarray(shares[which])


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Places between 0 and 1, and their weights, after Gauss and Legendre."""
    places, weights = np.polynomial.legendre.leggauss(NODES)
    return (places + 1) / 2, weights / 2


def positive(evidence: Indices, rate: float) -> Floats:
    """Probability that an integer and discrete Laplace noise are above zero together.

    Examples
    --------
    >>> below, above = positive(np.array([0, 1]), 0.5)
    >>> round(float(below + above), 12)  # as likely above zero from 0 as at or below it from 1
    1.0
    """
    x = np.asarray(evidence, np.float64)
    q = math.exp(-rate)
    return np.asarray(np.where(x > 0, 1 - q ** np.abs(x) / (1 + q), q ** (1 + np.abs(x)) / (1 + q)))


def log_decision(evidence: Indices, divided: NDArray[np.bool_], rate: float) -> Floats:
    """Log of the probability that noisy evidence is above zero where it was, and not above where it was not."""
    # 1 - P(x) is P(1 - x): the law is symmetric.
    return np.asarray(np.log(positive(np.where(divided, evidence, 1 - np.asarray(evidence)), rate)))


def privtree_rate(structure_epsilon: Fraction) -> Fraction:
    """Rate of PrivTree's noise: decisions of a whole path cost it (2 * 4 - 1) / (4 - 1) times."""
    return structure_epsilon * 3 / 7


def privtree_evidence(true_counts: Indices, level: int, rate: Fraction) -> Indices:
    """Counts less a decay of δ = ⌈ln 4 / rate⌉ a level, but never below -δ.

    Examples
    --------
    >>> privtree_evidence(np.array([0, 20, 100]), 2, Fraction(1, 10)).tolist()
    [-14, -8, 72]
    """
    decay = math.ceil(math.log(4) / rate)
    return np.maximum(np.asarray(true_counts, np.int64) - level * decay, -decay)
