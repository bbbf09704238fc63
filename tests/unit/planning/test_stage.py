"""Rectangles around made-up people, and how many they hold."""

import numpy as np
import pytest

from hushgrid.planning.rehearsal import AREA_SHARES, PLACES, points_in, rect_places, stage
from hushgrid.privacy.bits import simulation_rng

POINTS = np.random.default_rng(6).random((500, 2))


@pytest.mark.parametrize("area_share", AREA_SHARES.values())
def test_rectangles_lie_in_the_square_around_a_point(area_share: float) -> None:
    """Each has the area asked for, is a square, stays inside, and holds at least the point it was drawn around."""
    rects = rect_places(POINTS, area_share, 300, bits=simulation_rng(1))

    extent = rects[:, 2:] - rects[:, :2]
    np.testing.assert_allclose(extent, np.sqrt(area_share))
    assert rects.min() >= 0
    assert rects.max() <= 1 + 1e-12
    assert points_in(rects, POINTS).min() >= 1


def test_points_are_counted_as_one_by_one() -> None:
    """Counts are those of comparing every point with every rectangle, edges included."""
    low = np.random.default_rng(7).random((50, 2)) * 0.8
    rects = np.vstack([np.hstack([low, low + 0.2]), [[*POINTS[0], *POINTS[0]], [0, 0, 1, 1], [2, 2, 3, 3]]])

    plain = [
        sum(west <= x <= east and south <= y <= north for x, y in POINTS) for west, south, east, north in rects.tolist()
    ]
    np.testing.assert_array_equal(points_in(rects, POINTS), plain)


@pytest.mark.parametrize("size", [1, 2, 10_000])
def test_a_stage_knows_what_its_rectangles_hold(size: int) -> None:
    """As many rectangles of each size, none empty, with the counts of their own points."""
    made = stage(size, 0.2, 1)

    assert made.rects.shape == (len(AREA_SHARES), PLACES, 4)
    assert made.held.min() >= 1
    for rects, held in zip(made.rects, made.held, strict=True):
        np.testing.assert_array_equal(points_in(rects, made.points), held)
