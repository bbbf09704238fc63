"""Polygons as outlines: what is taken, repaired, transformed and refused."""

import sys

import geopandas
import numpy as np
import pyproj
import pytest
import shapely

from hushgrid.answering.outlines import outlines
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.plain import UNIT_SQUARE
from tests.synopses import synopsis_on

SQUARE = shapely.box(0.1, 0.1, 0.6, 0.6)
TOWN = Domain(west=500_000, south=4_480_000, east=600_000, north=4_530_000, crs="EPSG:32618")


def signed_area(segments):
    """Area inside an outline, by the shoelace formula."""
    west, south, east, north = segments.T
    return np.sum(west * north - east * south) / 2


@pytest.mark.parametrize(
    "given",
    [
        pytest.param([SQUARE, SQUARE], id="list"),
        pytest.param((SQUARE, SQUARE), id="tuple"),
        pytest.param(np.array([SQUARE, SQUARE]), id="array"),
        pytest.param(geopandas.GeoSeries([SQUARE, SQUARE]), id="series"),
        pytest.param(geopandas.GeoDataFrame({"name": ["a", "b"]}, geometry=[SQUARE, SQUARE]), id="frame"),
    ],
)
def test_sequences_of_every_kind_are_taken(given):
    """Lists, arrays and frames of two squares mean the same two squares."""
    assert np.array_equal(outlines(given, UNIT_SQUARE).segments, outlines([SQUARE, SQUARE], UNIT_SQUARE).segments)
    assert synopsis_on(Grid(domain=UNIT_SQUARE, rows=2, columns=2)).count_polygons(given).shape == (2,)


@pytest.mark.parametrize("turned", [False, True])
def test_outer_rings_turn_left_and_holes_right(turned):
    """Whichever way they were drawn."""
    area = shapely.Polygon(SQUARE.exterior.coords, [shapely.box(0.2, 0.2, 0.3, 0.3).exterior.coords])
    found = outlines(shapely.reverse(area) if turned else area, UNIT_SQUARE).segments

    assert np.isclose(signed_area(found), 0.24)
    assert np.isclose(signed_area(found[:4]), 0.25)


def test_rings_that_cross_themselves_are_repaired():
    """What they enclose stays, and lines that a repair leaves do not count."""
    bow_tie = shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    spike = shapely.Polygon([(0, 0), (1, 0), (1, 1), (1, 3), (1, 1), (0, 1)])

    assert np.isclose(signed_area(outlines(bow_tie, UNIT_SQUARE).segments), 0.5)
    assert np.isclose(signed_area(outlines(spike, UNIT_SQUARE).segments), 1)


@pytest.mark.parametrize(
    "nothing",
    [
        None,
        shapely.Polygon(),
        shapely.MultiPolygon(),
        shapely.Point(),
        shapely.Polygon([(0, 0), (1, 1), (2, 2)]),
    ],
    ids=["missing", "empty", "no parts", "an empty point", "without area"],
)
def test_nothing_holds_nothing(nothing):
    """An empty geometry has no segments, and leaves the others in their places."""
    found = outlines([SQUARE, nothing, SQUARE], UNIT_SQUARE)

    assert found.starts.tolist() == [0, 4, 4, 8]


def triangle(longitude, latitude):
    """With a corner anywhere, or nowhere."""
    with np.errstate(invalid="ignore"):
        return shapely.Polygon([(0, 0), (longitude, latitude), (1, 1)])


REFUSED = {
    "a point": ([SQUARE, shapely.Point(0, 0)], "polygon 1 is a Point; only a Polygon or a MultiPolygon"),
    "a line": ([shapely.LineString([(0, 0), (1, 1)])], "polygon 0 is a LineString"),
    "a collection": ([shapely.GeometryCollection([SQUARE])], "polygon 0 is a GeometryCollection"),
    "a rectangle's numbers": ([SQUARE, (0, 0, 1, 1)], "polygons must be|not a geometry"),
    "numbers": ([[0, 0, 1, 1]], "got an array of shape"),
    "GeoJSON in memory": ({"type": "FeatureCollection", "features": []}, "must be its 'geometry'"),
    "a text": (["POLYGON EMPTY"], "polygon 0 is not a geometry of shapely but of type str"),
    "NaN": ([SQUARE, triangle(1, np.nan)], "polygon 1 has a coordinate that is not a finite"),
    "infinity": ([triangle(np.inf, 0)], "polygon 0 has a coordinate that is not a finite"),
    "beyond all places": ([triangle(1e300, 0)], "polygon 0 has a coordinate"),
}


@pytest.mark.parametrize(("given", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_polygon_is_refused(given, words):
    """The message tells which of the geometries is not a polygon."""
    with pytest.raises(ArgumentError, match=words):
        outlines(given, UNIT_SQUARE)


class TestReferenceSystems:
    """Frames that carry a reference system."""

    def test_a_frame_is_transformed_to_the_domain(self):
        """As the vertices are, by pyproj."""
        area = shapely.box(-74.5, 40.6, -74.2, 40.8)
        frame = geopandas.GeoSeries([area], crs="EPSG:4326")
        moved = pyproj.Transformer.from_crs("EPSG:4326", TOWN.crs, always_xy=True)
        expected = shapely.transform(area, lambda places: np.stack(moved.transform(*places.T), axis=1))

        assert np.allclose(outlines(frame, TOWN).segments, outlines(expected, TOWN).segments)
        count = synopsis_on(Grid(domain=TOWN, rows=9, columns=9)).count_polygons
        assert count(frame)[0] == pytest.approx(count(expected))
        assert count(expected) != 0

    @pytest.mark.parametrize("crs", ["EPSG:4326", "OGC:CRS84"])
    def test_longitude_and_latitude_by_any_name_stay_as_they_are(self, crs):
        """Longitude comes first in frames, whatever the authority says."""
        frame = geopandas.GeoSeries([SQUARE], crs=crs)

        assert np.array_equal(outlines(frame, UNIT_SQUARE).segments, outlines(SQUARE, UNIT_SQUARE).segments)

    def test_a_frame_without_one_is_in_that_of_the_domain(self):
        """A frame without a system is read as plain geometries are."""
        area = shapely.box(510_000, 4_490_000, 520_000, 4_500_000)

        assert np.array_equal(outlines(geopandas.GeoSeries([area]), TOWN).segments, outlines(area, TOWN).segments)

    def test_a_polygon_that_cannot_be_transformed_is_refused(self):
        """The message tells which polygon cannot be transformed."""
        frame = geopandas.GeoSeries([shapely.box(0, 0, 1, 1), shapely.box(0, 80, 1, 200)], crs="EPSG:4326")
        mercator = Domain(west=0, south=0, east=1e6, north=1e6, crs="EPSG:3857")

        with pytest.raises(
            ArgumentError, match=r"polygon 1 reaches to where WGS 84 cannot be transformed to EPSG:3857"
        ):
            outlines(frame, mercator)


@pytest.mark.parametrize("missing", ["shapely", "pyproj"])
def test_a_missing_library_is_named_with_its_extra(missing, monkeypatch):
    """Instead of an ImportError from deep inside."""
    frame = geopandas.GeoSeries([SQUARE], crs="EPSG:3857")
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(MissingExtraError, match=rf"need {missing}: pip install 'hushgrid\[gis\]'"):
        outlines(frame, UNIT_SQUARE)
