"""Budgets along paths: units are whole, they sum, and no path has more than all."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError, BudgetError
from hushgrid.inference.measurements import NOT_MEASURED
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.paths import UNITS, PathBudget

CERTAIN = Fraction(10**9)  # noise at a thousandth of this rate is zero
COUNTS = np.array([3, 0, 5])


def paths(epsilon=CERTAIN, cells=3):
    """A simulated budget along paths."""
    return PathBudget(epsilon, cells, bits=simulation_rng(0))


def test_each_cell_is_measured_at_its_own_units():
    """Rates are units of epsilon, one entry for each number of units that occurs."""
    measured = paths(Fraction(7)).measure(COUNTS, [4, UNITS // 4, 4])

    assert measured.rates == (Fraction(7 * 4, UNITS), Fraction(7, 4))
    assert measured.rate_index.tolist() == [0, 1, 0]


def test_true_counts_come_back_at_a_huge_epsilon():
    """In their order; a cell without units is not measured."""
    measured = paths().measure(COUNTS, [500, 0, 600])

    assert measured.values.tolist() == [3, 0, 5]
    assert measured.rate_index.tolist() == [0, NOT_MEASURED, 1]


def test_no_cell_need_be_measured_at_all():
    """Cells may get no units, and there may be no cells."""
    budget = paths()

    assert set(budget.measure(COUNTS, np.zeros(3, np.int64)).rate_index) == {NOT_MEASURED}
    budget.descend([])
    assert len(budget.measure(COUNTS[:0], np.empty(0, np.int64)).values) == 0


def test_children_have_what_their_parent_has_left():
    """Each its own account from then on."""
    budget = paths()
    budget.measure(COUNTS, [24, 124, UNITS])
    budget.descend([1, 1, 0])
    budget.measure(COUNTS, [100, 0, 0])

    assert budget.left.tolist() == [UNITS - 224, UNITS - 124, UNITS - 24]


@pytest.mark.parametrize("units", [[UNITS + 1, 0, 0], [0, 0, UNITS + 1]])
def test_no_path_can_spend_more_than_all(units):
    """One measurement of more than all units is refused."""
    with pytest.raises(BudgetError, match=f"more than its {UNITS:,} units"):
        paths().measure(COUNTS, units)


def test_no_path_can_spend_more_than_all_over_several_rounds():
    """A path that would spend more than all is refused, and that costs nothing."""
    budget = paths(cells=1)
    budget.measure(COUNTS[:1], [UNITS - 96])
    budget.descend([0, 0, 0])

    with pytest.raises(BudgetError, match="more than"):
        budget.measure(COUNTS, [96, 97, 0])
    assert budget.left.tolist() == [96, 96, 96]


def test_what_is_left_cannot_be_changed_from_outside():
    """The account is the budget's own."""
    budget = paths()
    budget.left[:] = 10**6

    assert budget.left.tolist() == [UNITS] * 3


@pytest.mark.parametrize("units", [[1, 2], [1, -1, 1], [0.5, 1, 1], [[1, 1, 1]]], ids=str)
def test_units_are_whole_and_one_for_each_live_cell(units):
    """Anything else is an error."""
    with pytest.raises(ArgumentError, match="whole numbers"):
        paths().measure(COUNTS, units)


def test_counts_must_be_those_of_the_live_cells():
    """A measurement must give one count for each live cell."""
    with pytest.raises(ArgumentError, match="live cells"):
        paths().measure(COUNTS[:2], [1, 1, 1])


@pytest.mark.parametrize("parents", [[3], [-1]])
def test_parents_must_be_live_cells(parents):
    """A cell comes from one that is there."""
    with pytest.raises(ArgumentError, match="parents must be"):
        paths().descend(parents)


def test_the_budget_is_charged_once_for_all_paths():
    """With the share that was asked for, and no more than there is."""
    budget = Budget(Fraction(1, 2), bits=simulation_rng(0))
    granted = budget.paths(Fraction(1, 3), 4, purpose="counts")

    assert granted.epsilon(UNITS) == Fraction(1, 6) == budget.claim().epsilon
    assert [spend.measured for spend in budget.claim().spends] == [True]
    with pytest.raises(BudgetError, match="is left"):
        budget.paths(Fraction(3, 4), 4, purpose="counts")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_the_rates_along_every_path_are_what_was_taken_from_it(data):
    """Whatever is spent and wherever it goes down."""
    budget = paths(Fraction(1, 3), cells=2)
    spent = [Fraction(0)] * 2
    for _ in range(data.draw(st.integers(1, 4))):
        units = [data.draw(st.integers(0, int(left))) for left in budget.left]
        measured = budget.measure(np.zeros(len(units), np.int64), np.array(units, dtype=np.int64))
        rates = [*measured.rates, Fraction(0)]
        spent = [before + rates[index] for before, index in zip(spent, measured.rate_index, strict=True)]
        parents = data.draw(st.lists(st.integers(0, len(units) - 1), min_size=1, max_size=5))
        budget.descend(parents)
        spent = [spent[parent] for parent in parents]

    assert [Fraction(1, 3) - each for each in spent] == [Fraction(1, 3) * int(left) / UNITS for left in budget.left]
