"""Whole levels of a tree, measured."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import BudgetError
from hushgrid.inference.least_squares import nodes_of_runs
from hushgrid.inference.measurements import NOT_MEASURED, rate_totals
from hushgrid.methods.pyramids import measure_levels, pyramid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE

TREE = pyramid(UNIT_SQUARE, [2, 4])
TRUE_COUNTS = np.arange(16) ** 2


def measured(shares, epsilon=Fraction(10**6)):
    """Measurements at a budget so large that there is no noise."""
    return measure_levels(Budget(epsilon, bits=simulation_rng(0)), TREE, TRUE_COUNTS, shares)


def test_inner_nodes_are_sums_of_their_leaves():
    """All of a level, in order."""
    measurements = measured([Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)])
    nodes = nodes_of_runs(TREE, measurements.regions.first, measurements.regions.stop)

    assert nodes.tolist() == [0, 1, 2, 3, 4]
    assert measurements.region_values.values.tolist() == [
        TRUE_COUNTS.sum(),
        *TRUE_COUNTS.reshape(4, 4).sum(axis=1),
    ]
    assert np.array_equal(measurements.leaves.values, TRUE_COUNTS)


def test_levels_without_a_share_are_not_measured():
    """Those above the list, and those whose share is zero."""
    measurements = measured([Fraction(0), Fraction(1)])

    assert len(measurements.region_values.values) == 0
    assert NOT_MEASURED not in measurements.leaves.rate_index


def test_every_leaf_pays_all_shares():
    """The shares of all levels add up exactly at every leaf."""
    totals, denominator = rate_totals(
        measured([Fraction(1, 7), Fraction(2, 7), Fraction(3, 7)], epsilon=Fraction(1, 3))
    )

    assert {Fraction(int(total), denominator) for total in totals} == {Fraction(2, 7)}


def test_shares_beyond_the_budget_are_refused():
    """Before the level that would overspend is measured."""
    with pytest.raises(BudgetError):
        measured([Fraction(1, 2), Fraction(2, 3)])
