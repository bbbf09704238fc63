"""Made-up people, in clumps of all sizes.

They follow a multiplicative cascade: every square passes its points on to its four quarters in the same four shares,
in an order of its own (the p model; Meneveau and Sreenivasan, Physical Review Letters 59, 1987). Real places are much
like that (docs/plan.md): how likely two points of a square lie in the same quarter of it hardly depends on its size.
"""

from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError
from hushgrid.geometry.quadrants import DEEPEST, gather_bits
from hushgrid.privacy.bits import WORD_BITS, Bits, simulation_rng

FILLED_LEVELS = 6  # `filled` is a share of 64 by 64 parts of the domain
MOST = 0.95  # of the points lie in that share
LEAST_FILLED = 0.001

ORDERS = np.array(list(permutations(range(4))))


def population(size: int, filled: float, *, seed: int) -> Floats:
    """Points of the unit square, shape (size, 2).

    Parameters
    ----------
    size : int
        How many.
    filled : float
        Share of 64 by 64 parts of the square that 95 % of the points lie in.
    seed : int
        Which of the populations of this kind.

    Examples
    --------
    >>> points = population(10_000, 0.2, seed=1)
    >>> counts, _, _ = np.histogram2d(*points.T, bins=64, range=[[0, 1], [0, 1]])
    >>> bool(0.15 < np.mean(counts > 1) < 0.35)
    True
    """
    bits = simulation_rng(seed)
    limits = np.cumsum(quarter_shares(filled))[:-1]
    codes = np.zeros(size, np.int64)
    for level in range(DEEPEST):
        ranks = np.searchsorted(limits, uniform(bits, size), side="right")
        orders = _scrambled(codes + (1 << 2 * level), seed) % len(ORDERS)
        codes = 4 * codes + ORDERS[orders, ranks]
    within = uniform(bits, 2 * size).reshape(size, 2)
    return np.asarray((np.stack([gather_bits(codes), gather_bits(codes >> 1)], axis=1) + within) / (1 << DEEPEST))


@cache
def quarter_shares(filled: float) -> Floats:
    """Shares of a square's quarters, for a filled share.

    Each is the same multiple of the one before.

    Examples
    --------
    >>> quarter_shares(0.2).round(2), quarter_shares(1.0)
    (array([0.64, 0.24, 0.09, 0.03]), array([0.25, 0.25, 0.25, 0.25]))
    """
    check_filled(filled)
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if filled_share(_geometric(middle)) < filled else (low, middle)
    return _geometric(high)


def filled_share(shares: Floats) -> float:
    """Share of 4,096 parts that holds 95 % of points.

    The parts are 64 by 64; the orders of quarters do not matter.

    Examples
    --------
    >>> filled_share(np.array([1.0, 0.0, 0.0, 0.0])) == 1 / 64**2
    True
    """
    masses: Floats = np.ones(1)
    for _ in range(FILLED_LEVELS):
        masses = np.outer(masses, shares).ravel()
    held = np.cumsum(np.sort(masses)[::-1])
    return float(np.searchsorted(held, MOST) + 1) / len(masses)


def uniform(bits: Bits, count: int) -> Floats:
    """Numbers from 0 up to 1, shape (count,)."""
    return np.asarray(bits.words(count) / 2.0**WORD_BITS)


def check_filled(filled: float) -> None:
    """Refuse what no population fills."""
    if not LEAST_FILLED <= filled <= 1:
        msg = f"filled must be a share of the domain from {LEAST_FILLED} to 1, got filled={filled!r}."
        raise ArgumentError(msg)


def _geometric(ratio: float) -> Floats:
    powers = ratio ** np.arange(4.0)
    return np.asarray(powers / powers.sum())


def _scrambled(numbers: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """A number that looks random for each number.

    SplitMix64; Steele, Lea and Flood 2014.
    """
    mixed = (numbers.astype(np.uint64) + np.uint64(seed << 40)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
