"""Query rectangles: the first bad one is named."""

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.geometry.rects import check_rects

GOOD = (0.0, 0.0, 1.0, 1.0)


def test_one_rectangle_becomes_a_row():
    """One rectangle becomes an array of shape (1, 4)."""
    assert check_rects(GOOD).tolist() == [list(GOOD)]


def test_no_rectangles_are_fine():
    """An empty list is a batch of none."""
    assert check_rects([]).shape == (0, 4)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        pytest.param((0, 0, np.nan, 1), "rectangle 1 .* holds NaN", id="nan"),
        pytest.param((1, 0, 0, 1), "rectangle 1 .* inverted: east is below west", id="inverted-in-longitude"),
        pytest.param((0, 1, 1, 0), "rectangle 1 .* inverted: north is below south", id="inverted-in-latitude"),
        pytest.param((0, 0, 0, 1), "rectangle 1 .* empty: west equals east", id="no-width"),
        pytest.param((0, 1, 1, 1), "rectangle 1 .* empty: south equals north", id="no-height"),
    ],
)
def test_a_bad_row_is_named(bad, words):
    """By its number, its values and what is wrong."""
    with pytest.raises(ArgumentError, match=words):
        check_rects([GOOD, bad])


@pytest.mark.parametrize("rects", [[1, 2, 3], [[1, 2, 3]], "a", [["a", 0, 1, 1]], np.zeros((2, 2, 4))])
def test_other_shapes_are_refused(rects):
    """The shape wanted is named."""
    with pytest.raises(ArgumentError, match="west, south, east, north"):
        check_rects(rects)


def test_an_unbounded_rectangle_is_allowed():
    """A rectangle may reach to infinity on either side."""
    assert np.isinf(check_rects((-np.inf, 0, np.inf, 1))).sum() == 2
