"""Coins have their probability exactly."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.laplace import geometric
from hushgrid.privacy.selection import flip_exp_each


def test_gaps_are_compared_with_geometric_integers():
    """Draw for draw, in any shape."""
    gaps = np.arange(-3, 21).reshape(4, 6)

    flips = flip_exp_each(gaps, rate=Fraction(1, 5), bits=simulation_rng(6))

    assert flips.dtype == bool
    assert np.array_equal(flips, geometric(24, rate=Fraction(1, 5), bits=simulation_rng(6)).reshape(4, 6) >= gaps)


def test_awkward_gaps():
    """No gap and negative gaps are certain; the largest there is comes up tails."""
    flips = flip_exp_each([0, -1, -(2**63), 2**63 - 1] * 50, rate=Fraction(1, 2**44), bits=simulation_rng(7))

    assert flips.reshape(50, 4).all(axis=0).tolist() == [True, True, True, False]
    assert not flips.reshape(50, 4)[:, 3].any()


@pytest.mark.parametrize("gap", [1, 3, 40])
def test_coins_have_their_probability(gap):
    """As often heads as exp(-rate gap) says, to what the number of coins allows."""
    rate, bits = Fraction(1, 10), simulation_rng(8)
    bulk = int(flip_exp_each(np.full(200_000, gap), rate=rate, bits=bits).sum())

    expected = float(mpmath.exp(-gap / mpmath.mpf(10)))
    assert stats.binomtest(bulk, 200_000, expected).pvalue > 1e-4
    assert stats.binomtest(bulk, 200_000, expected * 0.95).pvalue < 1e-4
