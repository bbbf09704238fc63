"""Areas made from polygons, and what is asked of them."""

import re
import sys
from fractions import Fraction

import geopandas
import numpy as np
import pytest
import shapely

from hushgrid.answering.areas import AreaShapes, area_partition, check_areas
from hushgrid.answering.surface import spread
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.synopsis.answer import FLOOR_VARIANCE, ONE_NOISE, UNCALIBRATED
from tests.districts import SHAPES, districts, mosaic
from tests.plain import UNIT_SQUARE
from tests.synopses import synopsis_on

LEFT, RIGHT = shapely.box(0, 0, 0.5, 1), shapely.box(0.5, 0, 1, 1)
BOW_TIE = shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])


def made(*shapes, names="ABCDEFG", domain=UNIT_SQUARE):
    """Areas called by letters."""
    return area_partition(list(shapes), list(names[: len(shapes)]), domain)


def overlap_shares(areas, queries):
    """Share of every area that each query covers, one intersection at a time, shape (queries, areas)."""
    shapes = AreaShapes(areas).shapes
    return np.array([[query.intersection(shape).area / shape.area for shape in shapes] for query in queries])


def test_shapes_come_back_as_they_were():
    """As multipolygons that cover the same, outer rings counterclockwise and holes clockwise."""
    shapes = AreaShapes(districts()).shapes

    assert all(map(shapely.equals, shapes, SHAPES.values()))
    for polygon in shapely.get_parts(shapes):
        assert polygon.exterior.is_ccw
        assert not any(ring.is_ccw for ring in polygon.interiors)


def test_a_ring_that_crosses_itself_is_repaired():
    """As everywhere else that polygons are taken."""
    assert made(BOW_TIE).sizes[0] == pytest.approx(shapely.make_valid(BOW_TIE).area)


def test_heights_are_left_out():
    """A point lies under them."""
    assert made(shapely.force_3d(LEFT, 7.0)) == made(LEFT)


def test_frames_are_moved_to_the_system_of_the_domain():
    """Every vertex of a frame is transformed to the domain's system."""
    frame = geopandas.GeoSeries([shapely.box(-74, 40.7, -73.9, 40.8)], crs="EPSG:4326")
    domain = Domain(west=560_000, south=4_480_000, east=620_000, north=4_530_000, crs="EPSG:32618")

    moved = AreaShapes(area_partition(frame, ["A"], domain)).shapes[0]

    assert moved.equals_exact(shapely.MultiPolygon(shapely.get_parts(frame.to_crs(32618)[0])), 1e-6, normalize=True)


REFUSED = {
    "two that overlap": ([LEFT, shapely.box(0.4, 0, 1, 1)], "'A' (feature 0) and 'B' (feature 1) overlap"),
    "one inside another": ([LEFT, shapely.box(0.1, 0.1, 0.2, 0.2)], "'A' (feature 0) and 'B' (feature 1) overlap"),
    "the same twice": ([LEFT, None, RIGHT, RIGHT], "'C' (feature 2) and 'D' (feature 3) overlap"),
    "one without extent": ([LEFT, shapely.Polygon([(0.6, 0), (0.7, 0), (0.8, 0)])], "'B' (feature 1) has no extent"),
    "one outside": ([LEFT, None, shapely.box(0.6, 0, 1.1, 1)], "'C' (feature 2) reaches outside the domain"),
    "a line": ([LEFT, shapely.LineString([(0.6, 0), (0.7, 1)])], "polygon 1 is a LineString"),
    "no geometry": ([LEFT, "B"], "polygon 1 is not a geometry"),
}


@pytest.mark.parametrize(("shapes", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_counted_on_is_refused(shapes, words):
    """Shapes that cannot be areas are refused, and the message tells why."""
    with pytest.raises(ArgumentError, match=re.escape(words)):
        made(*shapes)


@pytest.mark.parametrize("missing", [None, shapely.Polygon()])
def test_areas_without_an_outline_are_left_out(missing):
    """Their names go with them."""
    assert made(missing, LEFT, RIGHT).names == ("B", "C")


def test_borders_may_differ_by_rounding():
    """Digitised twice, neighbours share slivers; a point in one is counted in the first area all the same."""
    ragged = shapely.Polygon([(0.5, 0), (1, 0), (1, 1), (0.5, 1), (0.5 - 1e-9, 0.5)])

    assert made(LEFT, ragged).cells == 2
    with pytest.raises(ArgumentError, match="overlap"):
        made(LEFT, shapely.Polygon([(0.5, 0), (1, 0), (1, 1), (0.5, 1), (0.498, 0.5)]))


def test_areas_of_a_stranger_are_looked_at_too():
    """A area_partition that nobody made from polygons may be inside out, or cross itself."""
    good = made(LEFT)
    turned = AreaPartition(
        domain=UNIT_SQUARE,
        names=("A",),
        vertices=good.vertices[::-1],
        ring_starts=[0, 5],
        polygon_starts=[0, 1],
        area_starts=[0, 1],
    )

    check_areas(good)
    with pytest.raises(ArgumentError, match=r"'A' \(feature 0\) is not a valid polygon"):
        check_areas(turned)


def test_each_area_is_answered_by_its_own_count():
    """Exactly, with the noise of one measurement and nothing uneven about it."""
    synopsis = synopsis_on(districts())
    answer = synopsis.answer_polygons(list(SHAPES.values()))

    assert np.array_equal(answer.estimate, synopsis.counts)
    assert np.allclose(answer.noise_std, np.sqrt(synopsis.variances), rtol=1e-12)
    assert np.allclose(answer.spread_std, 0.5)  # that of a whole number


def test_polygons_count_what_they_cover_of_each_area():
    """Shares by area; noise adds by squares, and points lie unevenly in what is cut."""
    queries = [*mosaic(9, seed=5), shapely.box(-3, -3, 0.25, 0.7), shapely.Polygon(), shapely.box(5, 5, 6, 6)]
    synopsis = synopsis_on(districts())
    shares = overlap_shares(synopsis.partition, queries)
    answer = synopsis.answer_polygons(queries)

    assert answer.estimate == pytest.approx(shares @ synopsis.counts, abs=1e-9)
    assert answer.noise_std**2 == pytest.approx(shares**2 @ synopsis.variances, abs=1e-9)
    assert answer.spread_std**2 - 0.25 == pytest.approx(shares * (1 - shares) @ spread(synopsis.counts), abs=1e-6)


def test_rectangles_count_as_the_polygons_they_are():
    """Inside, across the edge of the domain, without end, and all outside."""
    rects = np.array([[0.1, 0.2, 0.7, 0.9], [-1, -1, 0.3, 0.3], [-np.inf, -np.inf, np.inf, np.inf], [2, 2, 3, 3.0]])
    synopsis = synopsis_on(districts())
    boxes = shapely.box(*np.clip(rects, -1, 3).T)
    asked, polygons = synopsis.answer(rects), synopsis.answer_polygons(boxes)

    assert np.array_equal(asked.estimate, polygons.estimate)
    assert np.array_equal(asked.noise_std, polygons.noise_std)
    assert np.array_equal(asked.spread_std, polygons.spread_std)
    assert asked.estimate[2] == synopsis.total
    assert asked.estimate[3] == 0
    assert synopsis.count(np.empty((0, 4))).shape == (0,)


def test_answers_need_shapely(monkeypatch):
    """Without shapely, an answer on areas names the gis extra."""
    synopsis = synopsis_on(districts())
    monkeypatch.setitem(sys.modules, "shapely", None)

    with pytest.raises(MissingExtraError, match=r"hushgrid\[gis\]"):
        synopsis.count([0, 0, 1, 1])


def test_cells_have_names_and_shapes():
    """Shapes where they are asked for, for every kind of partition."""
    areas = synopsis_on(districts()).cells(geometry=True)

    assert areas["name"].to_pylist() == list(SHAPES)
    assert all(map(shapely.equals, shapely.from_wkb(areas["geometry"].to_pylist()), SHAPES.values()))
    assert "geometry" not in synopsis_on(districts()).cells().column_names


def test_samples_lie_in_areas_as_counts_say():
    """As many in each as its share, and none where a count is negative."""
    synopsis = synopsis_on(districts(), values=[100, 300, -50, 0, 600])
    points = synopsis.sample(1000, seed=1)
    inside = np.array([shapely.intersects_xy(shape, *points.T).sum() for shape in SHAPES.values()])

    assert np.all(np.abs(inside - [100, 300, 0, 0, 600]) <= 1)
    assert np.array_equal(points, synopsis.sample(1000, seed=1))
    assert synopsis.sample(0).shape == (0, 2)


def test_samples_lie_within_polygons_where_asked():
    """What these leave of each area keeps its points."""
    synopsis = synopsis_on(districts(), values=[100, 300, -50, 0, 600])
    within = shapely.box(0, 0, 0.8, 1)
    points = synopsis.sample(1000, seed=1, within=within)

    assert shapely.intersects_xy(within, *points.T).all()
    assert abs(shapely.intersects_xy(SHAPES["slanted"], *points.T).sum() - 600) <= 1
    with pytest.raises(ArgumentError, match="cover none"):
        synopsis.sample(1, within=shapely.box(0, 0.85, 0.1, 0.9))


def test_samples_where_nothing_was_counted_lie_anywhere():
    """By the extents of the areas."""
    points = synopsis_on(districts(), values=[-1, -1, -1, -1, -1]).sample(200, seed=3)

    assert shapely.intersects_xy(shapely.union_all(list(SHAPES.values())), *points.T).all()


def test_outlines_that_could_not_be_compared_in_time_are_refused():
    """Thousands of long slanted teeth, each box around one over all others: a small file, and hours of work."""
    teeth = 4000
    start = np.arange(teeth) * (0.4 / teeth)
    feet, tips = np.stack([start, 0 * start], axis=1), np.stack([start + 0.5, 0 * start + 0.5], axis=1)
    vertices = np.stack([feet, tips], axis=1)
    vertices[1::2] = vertices[1::2, ::-1]
    ring = np.concatenate([vertices.reshape(-1, 2), [[0.95, 0], [0.95, 0.6], [0, 0.6], [0, 0]]])
    comb = AreaPartition(
        domain=UNIT_SQUARE,
        names=("comb",),
        vertices=ring,
        ring_starts=[0, len(ring)],
        polygon_starts=[0, 1],
        area_starts=[0, 1],
    )

    with pytest.raises(ArgumentError, match="simplify them"):
        check_areas(comb)


def coverage(calibration, rate, confidence):
    """How often the interval of one area holds its true count: what the law of the noise leaves within its reach."""
    q, variance = np.exp(-float(rate)), discrete_laplace_variance(rate)
    half = calibration.reach(confidence, np.array([0.01]))[0] * np.sqrt(variance + FLOOR_VARIANCE)
    return 1 - 2 * q ** (np.floor(half) + 1) / (1 + q)


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    "rate", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(5)], ids=str
)
def test_intervals_of_an_area_are_as_wide_as_its_noise_asks(rate, confidence):
    """Its noise is that of one measurement, whose tails are longer than the normal law's."""
    assert coverage(ONE_NOISE, rate, confidence) > confidence - 0.005


def test_the_normal_law_would_be_too_short():
    """Negative control: intervals by the normal law cover too little."""
    assert coverage(UNCALIBRATED, Fraction(1, 1000), 0.99) < 0.98
