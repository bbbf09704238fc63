"""Coins have their probability exactly."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from hushgrid.errors import ArgumentError
from hushgrid.privacy import bits as bits_module
from hushgrid.privacy.bits import SystemBits, simulation_rng
from hushgrid.privacy.coin import flip_exp, flip_exp_each
from hushgrid.privacy.laplace import geometric
from tests.plain_noise import NoMoreBits, ScriptedBits

GAMMAS = [Fraction(1, 10**6), Fraction(1, 7), Fraction(1), Fraction(355, 113), Fraction(11), Fraction(10**300)]
LENGTH = 24


def heads(gamma, length=LENGTH):
    """Number of strings of bits that come up heads, and that are undecided, all of them tried four bits at a time."""

    def count(integers):
        known = 4 * len(integers)
        try:
            return (2 ** (length - known) * flip_exp(gamma, ScriptedBits(integers=integers)), 0)
        except NoMoreBits:
            if known == length:
                return 0, 1
        parts = [count([*integers, nibble]) for nibble in range(16)]
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    return count([])


@pytest.mark.parametrize("gamma", GAMMAS, ids=lambda gamma: f"{float(gamma):.3g}")
def test_every_string_of_bits_leads_where_the_probability_says(gamma, monkeypatch):
    """Of all strings of 24 bits, floor(2**24 exp(-gamma)) come up heads and one is undecided."""
    monkeypatch.setattr(bits_module, "EXTENSION_BITS", 4)
    with mpmath.workprec(200):
        expected = int(mpmath.floor(2**LENGTH * mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator)))

    assert heads(gamma) == (expected, 1)


def test_certain_heads_take_no_bits():
    """exp(0) = 1."""
    assert flip_exp(Fraction(0), ScriptedBits())


def test_a_negative_gamma_is_refused():
    """There is no probability above one."""
    with pytest.raises(ArgumentError, match="gamma"):
        flip_exp(Fraction(-1), SystemBits())


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
def test_coins_one_by_one_and_in_bulk_agree(gap):
    """As often heads as exp(-rate gap) says, to what the number of coins allows."""
    rate, bits = Fraction(1, 10), simulation_rng(8)
    bulk = int(flip_exp_each(np.full(200_000, gap), rate=rate, bits=bits).sum())
    single = sum(flip_exp(rate * gap, bits) for _ in range(3000))

    expected = float(mpmath.exp(-gap / mpmath.mpf(10)))
    assert stats.binomtest(bulk, 200_000, expected).pvalue > 1e-4
    assert stats.binomtest(single, 3000, expected).pvalue > 1e-4
    assert stats.binomtest(bulk, 200_000, expected * 0.95).pvalue < 1e-4
