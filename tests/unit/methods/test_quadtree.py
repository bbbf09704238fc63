"""The quadtree: its levels, its budget, its height."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import CELL_LIMIT, Grid
from hushgrid.geometry.guidelines import guideline_side
from hushgrid.methods.quadtree import GROWTH, LARGEST_HEIGHT, Quadtree, level_shares
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

POINTS = tuple(map(tuple, np.random.default_rng(0).beta(0.5, 2, (300, 2))))


class Passes(PlainCounter):
    """A counter that remembers what it was asked to count."""

    asked: list

    def count(self, partition):
        """Points in every cell."""
        self.asked.append(partition)
        return super().count(partition)


def release(method, *, epsilon=Fraction(1), public_size=None):
    """A simulated release, and the partitions that were counted for it."""
    counter = Passes(UNIT_SQUARE, POINTS)
    object.__setattr__(counter, "asked", [])
    budget = Budget(epsilon, bits=simulation_rng(0), public_size=public_size)
    return method.release(counter, budget), counter.asked


@given(st.integers(1, LARGEST_HEIGHT))
def test_shares_sum_to_one_and_grow_toward_the_leaves(height):
    """Exactly, and by the cube root of two."""
    shares = level_shares(height)

    assert sum(shares) == 1
    assert len(shares) == height + 1
    assert np.allclose(np.divide(shares[1:], shares[:-1]).astype(float), GROWTH, rtol=1e-3)


@pytest.mark.parametrize("height", [1, 2, 4])
def test_a_huge_epsilon_gives_back_the_truth(height):
    """In the order of the tree's leaves."""
    synopsis, _ = release(Quadtree(height=height), epsilon=Fraction(10**8))

    assert synopsis.partition.cells == 4**height
    assert np.allclose(synopsis.counts, PlainCounter(UNIT_SQUARE, POINTS).count(synopsis.partition), rtol=0, atol=1e-9)


def test_points_are_counted_once_on_the_finest_grid():
    """All levels come from one pass over the finest grid."""
    _, asked = release(Quadtree(height=3))

    assert asked == [Grid(domain=UNIT_SQUARE, rows=8, columns=8)]


def test_every_level_is_measured_at_its_share():
    """The root at the smallest, and nothing is spent on a size."""
    synopsis, _ = release(Quadtree(height=2), epsilon=Fraction(1, 3))
    claim, inner = synopsis.claim, synopsis.measurements.region_values
    shares = level_shares(2)

    assert claim.size is None
    assert [spend.epsilon for spend in claim.spends] == [share / 3 for share in shares]
    assert [inner.rates[index] for index in inner.rate_index] == [shares[0] / 3] + 4 * [shares[1] / 3]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 20_000))
def test_without_a_height_leaves_are_about_as_large_as_the_guideline_has_them(size):
    """Within a factor of the square root of two a side."""
    synopsis, _ = release(Quadtree(height=None), public_size=size)
    side, wanted = np.sqrt(synopsis.partition.cells), guideline_side(size, Fraction(1))

    assert 0.7 < side / max(wanted, 2) < 1.42


def test_the_largest_height_fits():
    """The largest height fits the limit of cells, and the next does not."""
    assert sum(4**level for level in range(LARGEST_HEIGHT + 1)) <= CELL_LIMIT
    assert sum(4**level for level in range(LARGEST_HEIGHT + 2)) > CELL_LIMIT


@pytest.mark.parametrize("height", [0, -1, LARGEST_HEIGHT + 1, 2.0, True, "3"])
def test_a_height_is_checked_when_given(height):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match="height must be a whole number from 1 to 12"):
        Quadtree(height=height)
