"""The two ends: one cell, and a fine grid."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.methods.baselines import FineGrid, OneCell
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

POINTS = ((0.1, 0.1), (0.9, 0.2), (0.9, 0.2), (2.0, 0.5))


def release(method, epsilon):
    """A simulated release of a few points."""
    return method.release(PlainCounter(UNIT_SQUARE, POINTS), Budget(epsilon, bits=simulation_rng(0)))


@pytest.mark.parametrize("method", [OneCell(), FineGrid(side=3)], ids=lambda method: method.name)
class TestTrivialMethods:
    """What both have in common."""

    def test_all_of_the_budget_goes_to_the_counts(self, method):
        """No size is asked for."""
        claim = release(method, Fraction(1, 3)).claim

        assert claim.size is None
        assert [spend.epsilon for spend in claim.spends] == [Fraction(1, 3)]

    def test_a_huge_epsilon_gives_back_the_truth(self, method):
        """With next to no noise, every cell has its true count."""
        synopsis = release(method, Fraction(10**6))

        assert np.array_equal(synopsis.counts, PlainCounter(UNIT_SQUARE, POINTS).count(synopsis.partition))


def test_one_cell_is_one_cell():
    """One cell holds the whole count, spread evenly."""
    synopsis = release(OneCell(), Fraction(10**6))

    assert synopsis.counts.tolist() == [3]
    assert np.isclose(synopsis.count([0, 0, 0.5, 0.5]), 0.75)


def test_a_fine_grid_is_of_public_size():
    """256 by 256, however few points there are."""
    assert release(FineGrid(), Fraction(1)).partition.cells == 256**2


@pytest.mark.parametrize("side", [0, -1, 2.5, True, None, 8193])
def test_a_side_is_checked_when_given(side):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match=r"side must be a whole number from 1 to 8,192, got side="):
        FineGrid(side=side)
