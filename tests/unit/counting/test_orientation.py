"""The side of a line that a point lies on, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting.area_loops import side_of

COORDINATES = st.floats(-180, 180).map(lambda value: value if abs(value) > 1e-100 else 0.0)  # no products underflow
PLACES = st.tuples(COORDINATES, COORDINATES)


def exact(a, b, p):
    """The sign of the determinant in fractions."""
    (ax, ay), (bx, by), (px, py) = (map(Fraction, place) for place in (a, b, p))
    determinant = (ax - px) * (by - py) - (ay - py) * (bx - px)
    return (determinant > 0) - (determinant < 0)


@settings(max_examples=300, deadline=None)
@given(PLACES, PLACES, PLACES)
def test_any_three_places(a, b, p):
    """The sign is that of exact arithmetic."""
    assert side_of(*a, *b, *p) == exact(a, b, p)


@settings(max_examples=300, deadline=None)
@given(PLACES, PLACES, st.floats(0, 1), st.integers(-2, 2))
def test_places_an_ulp_beside_a_line(a, b, share, ulps):
    """A point an ulp beside a line is on the side that exact arithmetic finds."""
    x, y = (one + share * (other - one) for one, other in zip(a, b, strict=True))
    for _ in range(abs(ulps)):
        y = np.nextafter(y, np.sign(ulps) * np.inf)
    x, y = (0.0 if abs(value) <= 1e-100 else float(value) for value in (x, y))

    assert side_of(*a, *b, x, y) == exact(a, b, (x, y))


NAMED = {
    "on a level line": ((0, 1), (3, 1), (2, 1)),
    "on an upright line": ((1, 0), (1, 3), (1, 2)),
    "at an end": ((0.1, 0.7), (0.3, 0.2), (0.3, 0.2)),
    "both ends in one place": ((0.1, 0.7), (0.1, 0.7), (5.0, 5.0)),
    "rounded to the line, and beside it": ((0.1, 0.1), (0.3, 0.3), (0.2, np.nextafter(0.2, 1))),
    "Kettner's, which plain arithmetic gets wrong": ((12.0, 12.0), (24.0, 24.0), (0.5, np.nextafter(0.5, 1))),
}


@pytest.mark.parametrize("places", NAMED.values(), ids=NAMED)
def test_awkward_places(places):
    """Degenerate and nearly straight triples have the exact side, in both directions."""
    a, b, p = (tuple(map(float, place)) for place in places)

    assert side_of(*a, *b, *p) == exact(a, b, p)
    assert side_of(*b, *a, *p) == -exact(a, b, p)


def test_the_check_would_notice_plain_arithmetic():
    """Negative control: near Kettner's line, the rounded determinant has the wrong sign somewhere."""
    start = np.arange(64) * 2.0**-53
    wrong = 0
    for x in 0.5 + start:
        for y in 0.5 + start:
            plain = (12.0 - x) * (24.0 - y) - (12.0 - y) * (24.0 - x)
            wrong += int(np.sign(plain)) != exact((12.0, 12.0), (24.0, 24.0), (x, y))
            assert side_of(12.0, 12.0, 24.0, 24.0, x, y) == exact((12.0, 12.0), (24.0, 24.0), (x, y))

    assert wrong > 0
