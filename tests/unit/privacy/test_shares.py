"""Shares in proportion to weights sum to the whole, exactly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushgrid.privacy.exact import GRAIN, proportional_shares


@given(st.fractions(Fraction(1, 1000), 100), st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30))
def test_shares_sum_to_the_whole(whole, weights):
    """Whatever was rounded, and none is negative."""
    shares = proportional_shares(whole, weights)

    assert sum(shares) == whole
    assert min(shares) >= 0


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=30))
def test_no_share_but_the_last_exceeds_its_weight(weights):
    """By rounding down, by less than one part in a million each."""
    shares = proportional_shares(Fraction(1), weights)
    for share, weight in zip(shares[:-1], weights, strict=False):
        assert 0 <= weight / sum(weights) - share < 1.001 / GRAIN

    assert float(shares[-1]) == pytest.approx(weights[-1] / sum(weights), abs=len(weights) / GRAIN)
