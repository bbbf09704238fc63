"""The laws that an audit holds a build against: by plain counting of all cases, and against the proofs' bounds."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from hushgrid.audit import laws

RATE = 0.4


def test_coins_by_their_definition():
    """A coin shows heads with probability exp(-rate gap)."""
    assert laws.heads(np.array([0, 5]), RATE) == pytest.approx([1, np.exp(-2)])


def test_a_decision_is_the_tail_of_the_noise():
    """A sum over the noise, far out."""
    noise = np.arange(-400, 401)
    law = np.tanh(RATE / 2) * np.exp(-RATE * np.abs(noise))
    evidence = np.arange(-6, 7)

    expected = [law[value + noise > 0].sum() for value in evidence]
    assert laws.positive(evidence, RATE) == pytest.approx(expected)


@pytest.mark.parametrize("scores", [[0], [0, 0, 0], [4, 1, 0], [-3, 2, 2, -9]])
def test_permute_and_flip_over_all_orders_and_coins(scores):
    """The first heads in a uniform order, over every order and every outcome of the coins."""
    scores = np.array(scores)
    heads = laws.heads(scores.max() - scores, RATE)
    expected = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order, outcome in product(orders, product([0, 1], repeat=len(scores))):
        chance = np.prod([heads[i] if up else 1 - heads[i] for i, up in enumerate(outcome)])
        first = next((candidate for candidate in order if outcome[candidate]), None)
        if first is not None:
            expected[first] += chance / len(orders)

    assert laws.choice(scores, RATE) == pytest.approx(expected)


def test_a_thousand_candidates_have_shares_that_sum_to_one():
    """The quadrature is exact that far."""
    scores = -np.abs(np.arange(1023) - 400) // 7

    assert laws.choice(scores, 0.25).sum() == pytest.approx(1, abs=1e-12)


def test_a_choice_of_neighbouring_scores_costs_twice_its_rate_at_most():
    """Scores that change by one, up and down: what the proof of permute-and-flip says, and nearly reached."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(300):
        scores = rng.integers(-6, 1, 8)
        ratios = np.log(laws.choice(scores, RATE)) - np.log(laws.choice(scores + rng.choice([-1, 1], 8), RATE))
        worst = max(worst, np.abs(ratios).max())

    assert 1.5 * RATE < worst <= 2 * RATE + 1e-12


def test_decisions_of_privtree_along_any_path_cost_its_structure_at_most():
    """However many records there are, and however deep the path; and most of it is reached."""
    epsilon = Fraction(1, 2)
    rate = laws.privtree_rate(epsilon)
    costs = []
    for count in range(1, 60):
        path = [laws.privtree_evidence(np.array([count - 1, count]), level, rate) for level in range(12)]
        costs.append(sum(np.diff(np.log(laws.positive(evidence, float(rate))))[0] for evidence in path))

    assert 0.85 * epsilon < max(costs) <= epsilon


def test_a_decision_and_its_opposite_are_certain_together():
    """The probabilities of dividing and of not dividing add up to one."""
    evidence = np.arange(-5, 6)
    both = [np.exp(laws.log_decision(evidence, np.full(11, divided), RATE)) for divided in (True, False)]

    assert sum(both) == pytest.approx(np.ones(11))
