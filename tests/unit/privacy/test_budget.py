"""The budget: what it grants, what it refuses, what it claims."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import ArgumentError, BudgetError
from hushgrid.inference.measurements import NOT_MEASURED
from hushgrid.privacy.bits import SystemBits, simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.claim import Size
from tests.plain import UNIT_SQUARE, PlainCounter

COUNTER = PlainCounter(UNIT_SQUARE, ((0.5, 0.5), (0.25, 0.5), (7.0, 7.0)))
CERTAIN = Fraction(10**6)  # noise at this rate is zero
COUNTS = np.array([3, 0, 5])


def budget(epsilon=Fraction(1), **options):
    """A simulated budget."""
    return Budget(epsilon, bits=simulation_rng(0), **options)


def test_shares_become_rates():
    """Each measurement knows its own."""
    granted = budget(Fraction(1, 10))
    first, second = granted.measure(COUNTS, Fraction(1, 3)), granted.measure(COUNTS, Fraction(2, 3))

    assert (first.rates, second.rates) == ((Fraction(1, 30),), (Fraction(2, 30),))
    assert granted.claim().epsilon == Fraction(1, 10)


def test_spending_more_than_was_granted_is_an_error():
    """Spending a trillionth more than is left is an error."""
    granted = budget()
    granted.measure(COUNTS, Fraction(1, 2))

    with pytest.raises(BudgetError, match="only 1/2 of 1 is left"):
        granted.measure(COUNTS, Fraction(1, 2) + Fraction(1, 10**12))


def test_spending_less_claims_less():
    """The claim is what was spent."""
    granted = budget()
    granted.measure(COUNTS, Fraction(1, 4))

    assert granted.claim().epsilon == Fraction(1, 4)


def test_a_share_of_zero_measures_nothing():
    """A share of zero measures nothing and costs nothing."""
    granted = budget()
    nothing = granted.measure(COUNTS, Fraction(0))

    assert set(nothing.rate_index) == {NOT_MEASURED}
    assert granted.claim().spends == ()


def test_a_negative_share_is_an_error():
    """It would be a refund."""
    with pytest.raises(ArgumentError, match="cannot be negative"):
        budget().measure(COUNTS, Fraction(-1, 2))


def test_certain_noise_is_none():
    """At a huge rate the truth comes back."""
    assert budget(CERTAIN).measure(COUNTS, Fraction(1)).values.tolist() == COUNTS.tolist()


@pytest.mark.parametrize(("source", "expected"), [("rows", 3), ("domain", 2)])
def test_the_noisy_size_counts_what_was_asked(source, expected):
    """All rows, or those in the domain."""
    granted = budget(100 * CERTAIN, size_from=source)

    assert granted.noisy_size(COUNTER) == expected
    assert granted.claim().size == Size(source=source, value=expected)


def test_the_noisy_size_is_paid_for():
    """With its share; the rest is for counts."""
    granted = budget(size_share=Fraction(1, 50))
    granted.noisy_size(COUNTER)
    granted.measure(COUNTS, Fraction(1))

    assert granted.epsilon == Fraction(49, 50)
    assert [(spend.purpose, spend.epsilon) for spend in granted.claim().spends] == [
        ("size", Fraction(1, 50)),
        ("counts", Fraction(49, 50)),
    ]


def test_the_noisy_size_is_drawn_once():
    """Asking again gives the same value for the same price."""
    granted = budget()

    assert granted.noisy_size(COUNTER) == granted.noisy_size(COUNTER)
    assert len(granted.claim().spends) == 1


def test_a_public_size_is_free():
    """A public size costs nothing, and the claim says that it is public."""
    granted = budget(public_size=1000)

    assert granted.noisy_size(COUNTER) == 1000
    assert granted.epsilon == 1
    assert granted.claim().size == Size(source="public", value=1000)


def test_the_size_comes_first():
    """Shares are of what is left after it."""
    granted = budget()
    granted.measure(COUNTS, Fraction(1, 2))

    with pytest.raises(BudgetError, match="first thing"):
        granted.noisy_size(COUNTER)


def test_a_unit_of_several_records_divides_every_rate():
    """A method sees epsilon / K; the claim is epsilon."""
    granted = budget(Fraction(1), max_per_unit=4)
    measured = granted.measure(COUNTS, Fraction(1))

    assert measured.rates == (Fraction(1, 4),)
    assert (granted.claim().epsilon, granted.claim().max_per_unit) == (1, 4)


def test_a_simulation_is_marked():
    """A claim of a simulation says so, and a claim of a release does not."""
    assert budget().claim().simulation
    assert not Budget(Fraction(1), bits=SystemBits()).claim().simulation
