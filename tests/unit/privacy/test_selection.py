"""Permute-and-flip against the law that enumerating all orders and coins gives."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from hushgrid.errors import ArgumentError
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.selection import permute_and_flip

SCORES = (-4, 0, -1, -1)
DRAWS = 40_000


def law(scores, rate):
    """Probability of each candidate, over all orders, coin by coin."""
    heads = np.exp(-rate * (max(scores) - np.array(scores)))
    chosen = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        reached = 1.0
        for candidate in order:
            chosen[candidate] += reached * heads[candidate] / len(orders)
            reached *= 1 - heads[candidate]
    return chosen


@pytest.fixture(scope="module")
def chosen():
    """Candidates chosen in many independent rows."""
    scores = np.tile(np.array(SCORES), (DRAWS, 1))
    return permute_and_flip(scores, np.ones_like(scores, bool), rate=Fraction(1, 2), bits=simulation_rng(3))


def test_candidates_are_chosen_with_the_probabilities_of_the_mechanism(chosen):
    """By chi-square, at the rate asked for."""
    assert stats.chisquare(np.bincount(chosen, minlength=4), DRAWS * law(SCORES, 0.5)).pvalue > 0.001


@pytest.mark.parametrize("factor", [0.8, 1.25], ids=["too-random", "too-sharp"])
def test_the_check_would_notice_a_wrong_rate(chosen, factor):
    """Negative control: another rate is rejected, either way."""
    assert stats.chisquare(np.bincount(chosen, minlength=4), DRAWS * law(SCORES, 0.5 * factor)).pvalue < 1e-6


def test_a_candidate_that_is_not_allowed_is_never_chosen():
    """The best score does not help a candidate that is not allowed."""
    scores = np.tile(np.array([0, 100, -1]), (500, 1))
    allowed = np.tile(np.array([True, False, True]), (500, 1))

    assert set(permute_and_flip(scores, allowed, rate=Fraction(1, 10), bits=simulation_rng(0))) == {0, 2}


def test_no_candidate_at_all_is_an_error():
    """A choice among no allowed candidates is an error."""
    with pytest.raises(ArgumentError, match="at least one allowed"):
        permute_and_flip(np.zeros((1, 2), np.int64), np.zeros((1, 2), bool), rate=Fraction(1), bits=simulation_rng(0))


def test_no_rows_make_no_choice():
    """An empty level of a tree."""
    nothing = np.zeros((0, 3), np.int64)

    assert permute_and_flip(nothing, nothing.astype(bool), rate=Fraction(1), bits=simulation_rng(0)).shape == (0,)
