"""The area of every point, against shapely."""

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hushgrid.answering.areas import AreaShapes, area_partition
from hushgrid.counting import areas as area_index
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from tests.districts import districts, exactly_holds, first_holders, mosaic
from tests.plain import UNIT_SQUARE


def on_borders(areas):
    """Vertices, middles of edges, and places an ulp beside both."""
    one, other = areas.segments[:, :2], areas.segments[:, 2:]
    places = np.concatenate([one, (one + other) / 2, 0.3 * one + 0.7 * other])
    return np.concatenate([places, np.nextafter(places, -1), np.nextafter(places, 2)])


def named(shapes, domain=UNIT_SQUARE):
    """Areas called by their numbers."""
    return area_partition(shapes, list(map(str, range(len(shapes)))), domain)


def numbers(areas, points):
    """What the index says."""
    points = np.asarray(points, np.float64)
    return AreaIndex.of(areas).numbers(points[:, 0].copy(), points[:, 1].copy())


@pytest.mark.parametrize("areas", [districts(), named(mosaic())], ids=["holes and islands", "a mosaic"])
def test_points_on_borders_and_anywhere(areas):
    """Each lies in the first area that holds it, borders included."""
    anywhere = np.random.default_rng(1).uniform(-0.1, 1.1, (20_000, 2))
    tenths = np.round(anywhere, 1)
    points = np.concatenate([on_borders(areas), anywhere, tenths])

    assert np.array_equal(numbers(areas, points), first_holders(AreaShapes(areas).shapes, points))


def test_a_shared_border_belongs_to_the_first_area():
    """A point on a shared border lies in the first area, whichever that is."""
    left, right = shapely.box(0, 0, 0.5, 1), shapely.box(0.5, 0, 1, 1)

    assert numbers(named([left, right]), [[0.5, 0.3], [0.5, 1.0]]).tolist() == [0, 0]
    assert numbers(named([right, left]), [[0.5, 0.3], [0.5, 1.0]]).tolist() == [0, 0]


STRANGE = {
    "not a number": [np.nan, 0.5],
    "infinite": [np.inf, 0.5],
    "far": [1e300, -1e300],
    "in no area": [0.05, 0.55],
    "negative zero": [-0.0, -0.0],
}


@pytest.mark.parametrize("point", STRANGE.values(), ids=STRANGE)
def test_strange_points(point):
    """Lie in no area, but for one on a corner."""
    assert numbers(districts(), [point])[0] == (0 if point == STRANGE["negative zero"] else -1)


COORDINATES = st.integers(0, 12).map(lambda number: number / 12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(COORDINATES, COORDINATES), min_size=3, max_size=9, unique=True))
@example([(0.0, 4 / 12), (1 / 12, 0.25), (10 / 12, 0.0)])  # GEOS has points on its border that lie beside it
def test_any_polygon_on_a_lattice(corners):
    """All points of a lattice, many of them on the outline, or next to nothing beside it: as fractions have it."""
    shape = shapely.Polygon(corners)
    if shapely.area(shapely.make_valid(shape)) == 0:
        return
    areas = named([shape])
    points = np.stack(np.meshgrid(np.arange(13) / 12, np.arange(13) / 12), axis=-1).reshape(-1, 2)
    (outline,) = AreaShapes(areas).shapes

    assert (numbers(areas, points) == 0).tolist() == [exactly_holds(outline, point) for point in points.tolist()]


def held_by_ring(ring, points):
    """Whether a ring holds points or has them on it, in whole numbers."""
    x, y = points.T
    on, inside = np.zeros(len(points), bool), np.zeros(len(points), bool)
    for (ax, ay), (bx, by) in (sorted(edge, key=lambda end: end[1]) for edge in pairwise(ring)):
        side = (ax - x) * (by - y) - (ay - y) * (bx - x)
        on |= (side == 0) & (x >= min(ax, bx)) & (x <= max(ax, bx)) & (y >= ay) & (y <= by)
        inside ^= (ay <= y) & (y < by) & (side > 0)
    return on | inside


CORNERS = st.tuples(st.integers(0, 16), st.integers(0, 16))


@settings(max_examples=150, deadline=None)
@given(corners=st.lists(CORNERS, min_size=3, max_size=30), side=st.sampled_from([1, 2, 3, 16, 32, 100]))
def test_any_ring_that_crosses_itself(corners, side):
    """Outlines that leave a cell and come back, many times a row, along lines between cells and on them."""
    ring = np.array([*corners, corners[0]])
    if np.any(np.ptp(ring, axis=0) == 0):
        return
    starts = {"ring_starts": [0, len(ring)], "polygon_starts": [0, 1], "area_starts": [0, 1]}
    areas = AreaPartition(domain=UNIT_SQUARE, names=("one",), vertices=ring / 16, **starts)
    halves = np.stack(np.meshgrid(np.arange(33), np.arange(33)), axis=-1).reshape(-1, 2)

    with mock.patch.object(area_index, "FEWEST", side), mock.patch.object(area_index, "MOST", side):
        found = numbers(areas, halves / 32) == 0

    assert np.array_equal(found, held_by_ring((2 * ring).tolist(), halves))


@pytest.mark.parametrize("side", [1, 2, 7, 300])
def test_any_number_of_cells_gives_the_same(side, monkeypatch):
    """The size of the index does not decide which area holds a point."""
    monkeypatch.setattr(area_index, "FEWEST", side)
    monkeypatch.setattr(area_index, "MOST", side)
    areas = named(mosaic(12))
    points = np.concatenate([on_borders(areas), np.random.default_rng(2).random((2000, 2))])

    assert np.array_equal(numbers(areas, points), first_holders(AreaShapes(areas).shapes, points))


def test_areas_that_are_small_beside_their_coordinates():
    """A few millimetres a hundred kilometres out, where doubles are coarse."""
    domain = Domain(west=0, south=0, east=1e6, north=1e7, crs="EPSG:32618")
    shapes = shapely.transform(mosaic(8, step=0.1), lambda places: places * 1e-3 + [612_345.678, 4_512_345.678])
    areas = named(shapes, domain)
    middle = (areas.bounds()[:, :2] + areas.bounds()[:, 2:]) / 2
    points = np.concatenate([areas.vertices, middle])

    assert np.array_equal(numbers(areas, points), first_holders(AreaShapes(areas).shapes, points))


def test_float32_counts_as_the_doubles_it_is():
    """Points in float32 lie in the areas that hold the same doubles."""
    points = np.random.default_rng(3).random((1000, 2)).astype(np.float32)

    assert np.array_equal(
        AreaIndex.of(districts()).numbers(points[:, 0], points[:, 1]), numbers(districts(), points.astype(np.float64))
    )


def test_a_counter_counts_on_areas():
    """Every area, zeros too; what lies in none is in no count."""
    points = np.random.default_rng(4).random((5000, 2))
    found = first_holders(AreaShapes(districts()).shapes, points)

    counts = PointCounter(UNIT_SQUARE, ArrayPoints(points)).count(districts())

    assert counts.tolist() == np.bincount(found[found >= 0], minlength=5).tolist()
    assert "AreaIndex(...)" in repr(AreaIndex.of(districts()))
