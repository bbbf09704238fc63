"""Private choice among candidates: coins and permute-and-flip.

Reference: McKenna, Sheldon: "Permute-and-Flip: A New Mechanism for Differentially Private Selection", NeurIPS 2020.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.errors import ArgumentError
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.codes import check_counts
from hushgrid.privacy.laplace import geometric


def flip_exp_each(true_gaps: ArrayLike, *, rate: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """Flip a coin of probability ``exp(-rate * gap)`` per gap.

    The probability is exact; a gap that is not positive always gives heads.

    A geometric integer of the rate reaches the gap with that very probability.
    """
    gaps = check_counts(true_gaps)
    return geometric(gaps.size, rate=rate, bits=bits).reshape(gaps.shape) >= gaps


def permute_and_flip(
    true_scores: NDArray[np.int64], allowed: NDArray[np.bool_], *, rate: Fraction, bits: Bits
) -> NDArray[np.int64]:
    """Choose one allowed candidate per row of scores.

    The result is its column. Better candidates have higher probability.

    The mechanism visits the candidates in random order and takes the first whose coin of probability
    ``exp(-rate * gap)`` comes up heads; the gap is how far its score falls below the best. Flipping all coins at once
    and drawing uniformly among the heads is the same: given the heads, the first of them in a uniform order is uniform,
    and the coins behind it are never looked at. The best candidate's coin is always heads.

    Parameters
    ----------
    true_scores : array of int, shape (rows, candidates)
        Integers, higher is better.
    allowed : array of bool, shape (rows, candidates)
        The candidates of each row, at least one. They are public.
    rate : Fraction
        ε / (2 Δ), for scores one record changes by at most Δ each.

    Privacy
    -------
    ε-DP for each row, and for all rows together if one record changes the scores of one row only.

    Examples
    --------
    >>> from hushgrid.privacy.bits import SystemBits
    >>> scores = np.array([[-5, 0, -900], [-3, -1, 0]])
    >>> permute_and_flip(scores, scores > -900, rate=Fraction(1000), bits=SystemBits())
    array([1, 2])
    """
    if not allowed.any(axis=1).all():
        msg = "every selection needs at least one allowed candidate."
        raise ArgumentError(msg)
    best = np.max(true_scores, axis=1, where=allowed, initial=np.iinfo(np.int64).min, keepdims=True)
    heads = flip_exp_each(np.where(allowed, best - true_scores, 0), rate=rate, bits=bits) & allowed
    ranks = np.array([bits.below(int(count)) for count in heads.sum(axis=1)], dtype=np.int64)
    return np.asarray(np.argmax(np.cumsum(heads, axis=1) == ranks[:, None] + 1, axis=1), np.int64)
