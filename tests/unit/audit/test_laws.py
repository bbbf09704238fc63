"""Exact laws of decisions, against plain counting of all cases."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from hushgrid.audit.laws import heads_law, permute_and_flip_law, positive_law

RATE = Fraction(2, 5)


def test_coins_by_their_definition():
    """Probability exp(-rate gap)."""
    assert heads_law(np.array([0, 5]), RATE) == pytest.approx([1, np.exp(-2)])


def test_a_decision_is_the_tail_of_the_noise():
    """A sum over the noise, far out."""
    noise = np.arange(-400, 401)
    law = np.tanh(float(RATE) / 2) * np.exp(-float(RATE) * np.abs(noise))
    evidence = np.arange(-6, 7)

    expected = [law[value + noise > 0].sum() for value in evidence]
    assert positive_law(evidence, RATE) == pytest.approx(expected)


@pytest.mark.parametrize("scores", [[0], [0, 0, 0], [4, 1, 0], [-3, 2, 2, -9]])
def test_permute_and_flip_over_all_orders_and_coins(scores):
    """The first heads in a uniform order, over every order and every outcome of the coins."""
    scores = np.array(scores)
    heads = heads_law(scores.max() - scores, RATE)
    expected = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order, outcome in product(orders, product([0, 1], repeat=len(scores))):
        chance = np.prod([heads[i] if up else 1 - heads[i] for i, up in enumerate(outcome)])
        first = next((candidate for candidate in order if outcome[candidate]), None)
        if first is not None:
            expected[first] += chance / len(orders)

    assert permute_and_flip_law(scores, RATE) == pytest.approx(expected)
