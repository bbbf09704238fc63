"""Exact one-sided confidence bounds of a probability, after Clopper and Pearson (1934)."""

import math

LARGEST_ERROR = 0.25  # up to which a lower bound is sure to lie below the observed share


def lower_bound(successes: int, trials: int, *, error: float) -> float:
    """A probability that the true one exceeds, except in a share `error` of all samples.

    It is the p at which as many successes or more have the probability `error`; zero if there were none.

    Examples
    --------
    >>> round(lower_bound(10, 10, error=0.05), 6)  # 0.05 ** (1 / 10)
    0.741134
    """
    assert 0 < error <= LARGEST_ERROR
    if successes == 0:
        return 0.0
    log_error = math.log(error)
    low, high = 0.0, successes / trials
    while low < (middle := (low + high) / 2) < high:
        if _log_upper_tail(successes, trials, middle) <= log_error:
            low = middle
        else:
            high = middle
    return low


def upper_bound(successes: int, trials: int, *, error: float) -> float:
    """A probability that the true one stays below, except in a share `error` of all samples.

    Examples
    --------
    >>> round(upper_bound(0, 100, error=0.05), 4)  # about 3 / n
    0.0295
    """
    return 1 - lower_bound(trials - successes, trials, error=error)


def _log_upper_tail(successes: int, trials: int, p: float) -> float:
    """Log of the binomial probability of `successes` or more, for a p of at most ``successes / trials``."""
    odds = p / (1 - p)
    total = term = 1.0
    # Relative to the first term; below the mean of p they only fall, and soon add nothing.
    for count in range(successes, trials):
        term *= (trials - count) / (count + 1) * odds
        total += term
        if term < total * 1e-17:
            break
    log_ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return log_ways + successes * math.log(p) + (trials - successes) * math.log1p(-p) + math.log(total)
