"""The sizes the paper states, and what happens beyond the limits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.geometry.guidelines import clamp_sides, guideline_side, leaf_sides
from hushgrid.methods.adaptive_grid import AdaptiveGrid, guideline_first_side
from hushgrid.methods.uniform_grid import UniformGrid

ONE, TENTH = Fraction(1), Fraction(1, 10)


@pytest.mark.parametrize(
    ("size", "epsilon", "side"),
    [
        pytest.param(1_600_000, ONE, 400, id="road-1"),
        pytest.param(1_000_000, ONE, 316, id="checkin-1"),
        pytest.param(900_000, ONE, 300, id="landmark-1"),
        pytest.param(9_000, ONE, 30, id="storage-1"),
        pytest.param(1_600_000, TENTH, 126, id="road-0.1"),
        pytest.param(1_000_000, TENTH, 100, id="checkin-0.1"),
        pytest.param(900_000, TENTH, 95, id="landmark-0.1"),
    ],
)
def test_guideline_1_gives_the_sizes_of_table_ii(size, epsilon, side):
    """Guideline 1 with c = 10 gives the sizes of the paper's table."""
    assert guideline_side(size, epsilon) == side


@pytest.mark.parametrize(
    ("size", "epsilon", "side"),
    [(1_000_000, ONE, 79), (1_000_000, TENTH, 25), (900_000, ONE, 75), (900_000, TENTH, 24), (9_000, TENTH, 10)],
    ids=["checkin-1", "checkin-0.1", "landmark-1", "landmark-0.1", "storage-0.1-is-at-least-10"],
)
def test_the_first_level_has_the_sizes_of_the_paper(size, epsilon, side):
    """A quarter of the uniform grid's."""
    assert guideline_first_side(size, epsilon) == side


@pytest.mark.parametrize("size", [0, -5, -(10**9)])
def test_a_noisy_size_below_zero_still_gives_a_grid(size):
    """One cell, and the smallest first level."""
    assert guideline_side(size, ONE) == 1
    assert guideline_first_side(size, ONE) == 10


@given(st.lists(st.integers(-100, 10**7), min_size=1, max_size=50))
def test_guideline_2_divides_dense_cells_more(counts):
    """Never below one, and about c2 / (1 - alpha) epsilon points a leaf."""
    sides = leaf_sides(np.array(counts), Fraction(1, 2))

    assert (sides >= 1).all()
    assert np.all((sides == 1) | ((sides - 1) ** 2 < np.array(counts) / 10))


@given(st.lists(st.floats(1, 1e12), min_size=1, max_size=50), st.integers(100, 10**6))
def test_clamped_sides_fit(sides, limit):
    """Clamped sides are at least 1 and within the limit, whatever was asked for."""
    clamped = clamp_sides(np.floor(np.array(sides)), limit=limit)

    assert (clamped >= 1).all()
    assert np.sum(clamped**2) <= limit


@pytest.mark.parametrize(
    ("method", "parameters", "words"),
    [
        (UniformGrid, {"side": 0}, "side must be a whole number of at least 1, got side=0"),
        (UniformGrid, {"side": 2.5}, "side=2.5"),
        (UniformGrid, {"side": True}, "side=True"),
        (UniformGrid, {"side": 70710}, "70710 by 70710 cells is over the limit"),
        (UniformGrid, {"c": 0}, "c must be a finite number > 0"),
        (AdaptiveGrid, {"first_side": 10_000}, "over the limit"),
        (AdaptiveGrid, {"alpha": 1}, "alpha must lie strictly between 0 and 1"),
        (AdaptiveGrid, {"alpha": 0.0}, "alpha=0.0"),
        (AdaptiveGrid, {"c2": float("inf")}, "c2 must be a finite number"),
    ],
)
def test_parameters_are_checked_when_given(method, parameters, words):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match=words):
        method(**parameters)


def test_the_guideline_limit_is_what_describe_says():
    """The limit of a guideline is 2**24 cells."""
    assert GUIDELINE_CELL_LIMIT == 2**24
