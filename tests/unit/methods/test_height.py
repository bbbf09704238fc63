"""The height of a tree from a number of points."""

from fractions import Fraction

import pytest

from hushgrid.methods.trees import HIGHEST, guideline_height

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    ("size", "epsilon", "height"),
    [
        pytest.param(1_000_000, TENTH, 17, id="a-million"),
        pytest.param(10, Fraction(1), 3, id="ten"),
        pytest.param(0, Fraction(1), 2, id="nothing"),
        pytest.param(-(10**9), Fraction(1), 2, id="noise-below-zero"),
        pytest.param(10**12, Fraction(10**7), HIGHEST, id="more-than-fits"),
    ],
)
def test_a_tree_is_as_high_as_points_are_many(size, epsilon, height):
    """One level for every doubling, within limits."""
    assert guideline_height(size, epsilon) == height


@pytest.mark.parametrize("size", range(1, 5000, 37))
def test_a_step_gives_whole_steps(size):
    """Never further from the wish than half of one."""
    even = guideline_height(size, Fraction(1), step=2)

    assert even % 2 == 0
    assert abs(even - guideline_height(size, Fraction(1))) <= 1
