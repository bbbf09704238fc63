"""The laws of all draws, written a second time.

Nothing here comes from the code that is audited: not the rates, not the constants, not the formulas. The proofs are in
docs/privacy.md and docs/privacy/.
"""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices

SIZE_SHARE = Fraction(1, 100)  # of epsilon, for the noisy number of records, unless a share is given
TOTAL_SHARE = Fraction(1, 20)  # of epsilon, for a private total that counts are scaled to
KEPT_SHARE = Fraction(1, 50)  # of epsilon, for one that only says which share of the records was kept
ALL_USERS_SHARE, ALL_REGIONS_SHARE = Fraction(1, 20), Fraction(1, 5)  # for users and regions of all records
RECORD_WEIGHT = 1024  # of one record in a region
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
    """Rate of the noise on the number of records.

    One record changes it by one.
    """
    return share * epsilon


def total_rate(epsilon: Fraction, cap: int, share: Fraction = TOTAL_SHARE) -> Fraction:
    """Rate of the noise on a private total.

    One user changes it by at most the cap.
    """
    return share * epsilon / cap


def users_rate(epsilon: Fraction) -> Fraction:
    """Rate of the noise on users by their records.

    A user is in one bin.
    """
    return ALL_USERS_SHARE * epsilon


def regions_rate(epsilon: Fraction, cap: int) -> Fraction:
    """Rate of the noise on all records by region.

    Those of a user weigh as much as the cap's at most.
    """
    return ALL_REGIONS_SHARE * epsilon / (RECORD_WEIGHT * cap)


def heads(gaps: Indices, rate: float) -> Floats:
    """Probability ``exp(-rate gap)`` that a coin comes up heads."""
    return np.asarray(np.exp(-rate * np.asarray(gaps, np.float64)))


def choice(true_scores: Indices, rate: float) -> Floats:
    """Probability of each candidate under permute-and-flip.

    The mechanism is that of McKenna and Sheldon (2020). Candidates come in random order until a coin of probability
    ``exp(-rate gap)`` shows heads. A candidate is taken if its own coin shows heads and it comes first among all heads:
    its share is the integral over its place t in the order of the chance that no earlier coin shows heads.

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
    """Nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    places, weights = np.polynomial.legendre.leggauss(NODES)
    return (places + 1) / 2, weights / 2


def positive(evidence: Indices, rate: float) -> Floats:
    """Probability that integer plus noise is positive.

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
    """Log-probability of decisions by noisy evidence.

    A cell was divided where its noisy evidence was above zero.
    """
    # 1 - P(x) is P(1 - x): the law is symmetric.
    return np.asarray(np.log(positive(np.where(divided, evidence, 1 - np.asarray(evidence)), rate)))


def privtree_rate(structure_epsilon: Fraction) -> Fraction:
    """Rate of PrivTree's noise.

    The decisions of a whole path cost (2 * 4 - 1) / (4 - 1) times as much.
    """
    return structure_epsilon * 3 / 7


def privtree_evidence(true_counts: Indices, level: int, rate: Fraction) -> Indices:
    """Counts less PrivTree's decay.

    The decay is δ = ⌈ln 4 / rate⌉ per level; the result is never below -δ.

    Examples
    --------
    >>> privtree_evidence(np.array([0, 20, 100]), 2, Fraction(1, 10)).tolist()
    [-14, -8, 72]
    """
    decay = math.ceil(math.log(4) / rate)
    return np.maximum(np.asarray(true_counts, np.int64) - level * decay, -decay)


SMALLEST_EXPECTED = 10  # draws in a bin, so that the statistic follows its limit law


def discrete_laplace_p_value(draws: NDArray[np.int64], rate: Fraction) -> float:
    """P-value of draws under the discrete Laplace law.

    The law is ``P(z) = tanh(rate / 2) exp(-rate |z|)``.

    Every integer has its own bin, so that a flaw in the lowest digit shows too. Where fewer than ten draws are
    expected, neighbouring bins are merged. The outer bins reach to infinity.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.geometric(1 - math.exp(-0.5), (2, 10_000))  # a difference of two geometrics has the law
    >>> discrete_laplace_p_value(noise[0] - noise[1], Fraction(1, 2)) > 0.01
    True
    >>> discrete_laplace_p_value(noise[0] - noise[1], Fraction(6, 10)) < 1e-9
    True
    """
    return mixed_p_value({rate: draws})


def mixed_p_value(draws: Mapping[Fraction, NDArray[np.int64]]) -> float:
    """P-value of draws of several rates.

    Those of each rate are compared with its own law.

    Examples
    --------
    >>> mixed_p_value({Fraction(1): np.zeros(500, np.int64), Fraction(2): np.zeros(500, np.int64)}) < 1e-9
    True
    """
    pairs = []
    for rate, drawn in draws.items():
        edges, probabilities = _bins(len(drawn), float(rate))
        observed = np.bincount(np.searchsorted(edges, drawn, side="left"), minlength=len(probabilities))
        pairs.append((observed, len(drawn) * probabilities))
    return pooled_p_value(pairs)


def chi_square_p_value(observed: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """P-value of counts under their expectations.

    Both have shape (bins,) and the same sum, as when the expectations owe nothing to the draws.

    Examples
    --------
    >>> round(chi_square_p_value(np.array([60, 40]), np.array([50.0, 50.0])), 4)
    0.0455
    """
    return pooled_p_value([(observed, expected)])


def pooled_p_value(pairs: Iterable[tuple[NDArray[np.int64], NDArray[np.float64]]]) -> float:
    """P-value of several independent sets of counts.

    Examples
    --------
    >>> one = np.array([60, 40]), np.array([50.0, 50.0])
    >>> round(pooled_p_value([one, one]), 4)  # exp(-4)
    0.0183
    """
    freedom, statistic = 0, 0.0
    for observed, expected in pairs:
        freedom += len(expected) - 1
        statistic += float(np.sum((observed - expected) ** 2 / expected))
    return upper_gamma(freedom / 2, statistic / 2) if freedom else 1.0


def merged_p_value(found: Indices, expected: Floats) -> float:
    """P-value with rare outcomes merged into the likeliest."""
    observed, law = found.copy(), expected.copy()
    best, rare = int(np.argmax(law)), law < SMALLEST_EXPECTED
    observed[best] += observed[rare].sum()
    law[best] += law[rare].sum()
    return chi_square_p_value(observed[~rare], law[~rare])


def binary_p_value(heads: Indices, flips: Indices, law: Floats) -> float:
    """P-value of several kinds of coins.

    Kinds of which one side is rarely expected are left out.
    """
    expected = flips[:, None] * np.stack([law, 1 - law], axis=1)
    observed = np.stack([heads, flips - heads], axis=1)
    telling = expected.min(axis=1) >= SMALLEST_EXPECTED
    return pooled_p_value(zip(observed[telling], expected[telling], strict=True))


def _bins(draws: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Upper ends and probabilities of the bins.

    The last bin has no end.
    """
    smallest = SMALLEST_EXPECTED / draws
    # Beyond the reach each tail has a probability below that of a bin.
    reach = max(1, math.ceil(-math.log(min(smallest, 1.0)) / rate))
    values = np.arange(-reach, reach + 1)
    up_to = _cumulative(values, rate)
    edges: list[int] = []
    covered = 0.0
    while (index := int(np.searchsorted(up_to, covered + smallest))) < len(values) and 1 - up_to[index] >= smallest:
        edges.append(index)
        covered = float(up_to[index])
    return values[edges], np.diff(up_to[edges], prepend=0.0, append=1.0)


def _cumulative(values: NDArray[np.int64], rate: float) -> NDArray[np.float64]:
    """Probability of each value or less."""
    tails = np.exp(-rate * np.abs(values + (values >= 0))) / (1 + math.exp(-rate))
    return np.where(values < 0, tails, 1 - tails)


def upper_gamma(shape: float, x: float) -> float:
    """Regularised upper incomplete gamma function Q(shape, x).

    By the power series of its complement below the mean, by the continued fraction above (Abramowitz and Stegun
    6.5.29 and 6.5.31).

    Examples
    --------
    >>> round(upper_gamma(1, 2.0), 6)  # exp(-2)
    0.135335
    """
    if x <= 0:
        return 1.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    return 1 - front * _lower_series(shape, x) if x < shape + 1 else front * _upper_fraction(shape, x)


def _lower_series(shape: float, x: float) -> float:
    """Sum of ``x**n / (shape (shape + 1) ... (shape + n))``."""
    total = term = 1 / shape
    while term > total * 1e-17:
        shape += 1
        term *= x / shape
        total += term
    return total


def _upper_fraction(shape: float, x: float) -> float:
    """Continued fraction of the function, by Lentz's method.

    It is ``1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...))``.
    """
    b = x + 1 - shape
    c, d = math.inf, 1 / b
    value = d
    step = 0
    change = 0.0
    while abs(change - 1) > 1e-15:
        step += 1
        a = step * (shape - step)
        b += 2
        d = 1 / (b + a * d)
        c = b + a / c
        change = c * d
        value *= change
    return value
