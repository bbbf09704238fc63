"""A budget granted for users, and the noisy total that counts are scaled to."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit.laws import discrete_laplace_p_value
from hushgrid.errors import BudgetError
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import KEPT_SHARE, TOTAL_SHARE, Budget
from hushgrid.synopsis.claim import CappedTotal
from tests.plain import UNIT_SQUARE, PlainCounter

COUNTER = PlainCounter(UNIT_SQUARE, ((0.5, 0.5), (0.25, 0.5)))
EPSILON, MOST, CAP = Fraction(3), 5, 40


def budget(**options):
    """A simulated budget for users."""
    return Budget(EPSILON, bits=simulation_rng(1), unit="user", max_per_unit=MOST, **options)


def test_the_claim_names_the_unit_and_the_bound():
    """A method that spends its all spends epsilon on a user."""
    granted = budget()
    granted.measure(np.array([3, 4]), Fraction(1))

    assert granted.epsilon == EPSILON / MOST
    assert (granted.claim().unit, granted.claim().max_per_unit, granted.claim().epsilon) == ("user", MOST, EPSILON)


def test_total_size_and_counts_share_the_budget_exactly():
    """A twentieth, a hundredth and the rest."""
    granted = budget()
    granted.noisy_total(1000, cap=CAP)
    granted.noisy_size(COUNTER)
    granted.measure(np.array([3, 4]), Fraction(1))
    claim = granted.claim()

    assert claim.epsilon == EPSILON
    assert [spend.purpose for spend in claim.spends] == ["total", "size", "counts"]
    assert claim.spends[0].epsilon * MOST == TOTAL_SHARE * EPSILON


def test_a_total_for_the_share_of_records_kept_costs_a_fiftieth():
    """The claim keeps the noisy total, and tells the rate of its noise."""
    granted = budget()
    value = granted.noisy_total(1000, cap=CAP, share=KEPT_SHARE)
    granted.measure(np.array([3, 4]), Fraction(1))
    claim = granted.claim()

    assert claim.epsilon == EPSILON
    assert claim.spends[0].epsilon * MOST == EPSILON / 50
    assert claim.total == CappedTotal(value=value, cap=CAP)
    assert claim.total_rate == EPSILON / 50 / CAP


def test_the_total_comes_first():
    """What is left for counts is known before anything else is spent."""
    granted = budget()
    granted.measure(np.array([3]), Fraction(1, 2))

    with pytest.raises(BudgetError, match="first"):
        granted.noisy_total(1000, cap=CAP)


@pytest.mark.parametrize(("factor", "fits"), [(Fraction(1), True), (Fraction(4, 5), False)], ids=["exact", "20 % off"])
def test_the_noise_of_the_total_has_the_rate_that_one_user_asks_for(factor, fits):
    """Rate share times epsilon over the cap, for all that one user can add; another rate is rejected."""
    bits = simulation_rng(2)
    draws = np.array(
        [
            Budget(EPSILON, bits=bits, unit="user", max_per_unit=MOST).noisy_total(1000, cap=CAP) - 1000
            for _ in range(4000)
        ]
    )
    p_value = discrete_laplace_p_value(draws, factor * TOTAL_SHARE * EPSILON / CAP)

    assert (p_value > 1e-3) if fits else (p_value < 1e-6)
