"""The height of a tree and the count it stops at, from points and epsilon."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushgrid.geometry.guidelines import HIGHEST, NOISE_STOP, fit_height, guideline_height, stop_count

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    ("size", "epsilon", "height"),
    [
        pytest.param(1_000_000, TENTH, 18, id="a-million"),
        pytest.param(16, Fraction(1), 6, id="sixteen"),
        pytest.param(0, Fraction(1), 2, id="nothing"),
        pytest.param(-(10**9), Fraction(1), 2, id="noise-below-zero"),
        pytest.param(10**12, Fraction(10**7), HIGHEST, id="more-than-fits"),
    ],
)
def test_a_tree_is_as_high_as_points_are_many(size, epsilon, height):
    """Two halvings for every four times as many points, within limits."""
    assert guideline_height(size, epsilon) == height


@given(st.integers(1, 10**5), st.sampled_from([Fraction(1, 100), TENTH, Fraction(1)]))
def test_a_height_is_even_and_two_above_the_logarithm(size, epsilon):
    """Never further from it than half of a step of two; it follows from the product alone."""
    height = guideline_height(size, epsilon)

    assert height % 2 == 0
    assert abs(height - 2 - math.log2(max(size * epsilon, 1))) <= 1 + 1e-9
    assert guideline_height(size * 10, epsilon / 10) == height


@given(st.integers(1, 30), st.integers(4, 2**26), st.sampled_from([2, 4]))
def test_a_height_that_fits_is_the_largest_that_does(wanted, most_cells, fan_out):
    """A complete tree of it fits, one of a level more does not, and only a height that was clamped has a note."""
    height, notes = fit_height(wanted, most_cells=most_cells, fan_out=fan_out)

    assert fan_out**height <= most_cells
    assert height == wanted or fan_out ** (height + 1) > most_cells
    assert bool(notes) == (height < wanted)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=100))
def test_the_noise_decides_where_a_tree_stops(epsilon):
    """The threshold is the same multiple of 1/epsilon, unless one is given."""
    assert NOISE_STOP <= stop_count(None, epsilon) * epsilon < NOISE_STOP + epsilon
    assert stop_count(7, epsilon) == 7
