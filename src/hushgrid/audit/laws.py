"""Exact laws of what releases decide at random, as plain formulas that share nothing with the samplers."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def heads_law(gaps: Indices, rate: Fraction) -> Floats:
    """Probability of heads for coins of probability exp(-rate gap)."""
    return np.asarray(np.exp(-float(rate) * gaps))


def positive_law(evidence: Indices, rate: Fraction) -> Floats:
    """Probability that an integer and discrete Laplace noise of a rate are above zero together.

    Examples
    --------
    >>> below, above = positive_law(np.array([0, 1]), Fraction(1, 2))
    >>> round(float(below + above), 12)  # as likely above zero from 0 as at or below it from 1
    1.0
    """
    q = np.exp(-float(rate))
    tail = q ** np.abs(evidence) / (1 + q)
    return np.asarray(np.where(evidence > 0, 1 - tail, q * tail))


def permute_and_flip_law(scores: Indices, rate: Fraction) -> Floats:
    """Probability of each candidate: heads, and then one of all heads; by the law of the number of other heads.

    Reference: McKenna, Sheldon: "Permute-and-Flip: A New Mechanism for Differentially Private Selection", NeurIPS 2020.

    Examples
    --------
    >>> permute_and_flip_law(np.array([3, 3]), Fraction(1)).tolist()
    [0.5, 0.5]
    """
    heads = heads_law(scores.max() - scores, rate)
    law = np.empty(len(scores))
    for candidate, own in enumerate(heads):
        others = np.ones(1)
        for probability in np.delete(heads, candidate):
            others = np.convolve(others, [1 - probability, probability])
        law[candidate] = own * np.sum(others / np.arange(1, len(others) + 1))
    return law
