"""Cells as GeoPackage, GeoJSON and CSV, read back by GDAL, shapely and plain Python."""

import csv
import io
import json
import sys

import geopandas
import numpy as np
import pyogrio
import pytest
import shapely

from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.export.systems import rings_in_degrees
from hushgrid.export.vectors import write_csv, write_geojson, write_gpkg
from hushgrid.geometry.domain import Domain
from hushgrid.synopsis.cells import RING
from tests.unit.export.conftest import METRES, made


def written(write, synopsis):
    """The bytes of a file."""
    out = io.BytesIO()
    write(synopsis, out)
    return out.getvalue()


def frame_of(synopsis, tmp_path):
    """A GeoPackage as GDAL reads it."""
    path = tmp_path / "cells.gpkg"
    path.write_bytes(written(write_gpkg, synopsis))
    return geopandas.read_file(path), pyogrio.read_info(path)


def test_a_geopackage_holds_every_leaf(synopsis, tmp_path):
    """Bounds, counts and standard errors, bit for bit, in order."""
    frame, _ = frame_of(synopsis, tmp_path)

    assert np.array_equal(frame.bounds.to_numpy(), synopsis.partition.bounds())
    assert np.array_equal(frame["count"], synopsis.counts)
    assert np.array_equal(frame["std_error"], np.sqrt(synopsis.variances))
    assert frame["count"].sum() == pytest.approx(synopsis.total)
    assert frame.crs == "EPSG:4326"


def test_a_geopackage_says_what_it_is(synopsis, tmp_path):
    """In the metadata of its one layer."""
    _, info = frame_of(synopsis, tmp_path)
    metadata = info["layer_metadata"]

    assert info["layer_name"] == "cells"
    assert metadata["GUARANTEE"] == metadata["DESCRIPTION"] == synopsis.claim.sentence
    assert metadata["EPSILON"] == "1"
    assert metadata["METHOD"] == synopsis.method.name
    assert "SIMULATION" not in metadata


def test_a_geopackage_keeps_the_reference_system(in_metres, tmp_path):
    """A GeoPackage keeps the reference system, and the coordinates in it."""
    frame, info = frame_of(in_metres, tmp_path)

    assert frame.crs == "EPSG:32618"
    assert np.array_equal(frame.bounds.to_numpy(), in_metres.partition.bounds())
    assert info["layer_metadata"]["COORDINATES"] == "easting, northing (EPSG:32618)"


def test_geojson_holds_every_leaf_counterclockwise(synopsis):
    """As RFC 7946 has rings, with their counts."""
    document = json.loads(written(write_geojson, synopsis))
    features = document["features"]
    polygons = [shapely.from_geojson(json.dumps(feature["geometry"])) for feature in features]

    assert all(shapely.is_ccw(polygon.exterior) for polygon in polygons)
    assert np.array_equal(shapely.bounds(polygons), synopsis.partition.bounds())
    assert [feature["properties"]["count"] for feature in features] == synopsis.counts.tolist()
    assert [feature["properties"]["std_error"] for feature in features] == np.sqrt(synopsis.variances).tolist()
    assert "crs" not in document
    assert document["hushgrid"]["guarantee"] == synopsis.claim.sentence
    assert document["hushgrid"]["coordinates"] == "longitude, latitude (RFC 7946)"


def test_geojson_is_longitude_and_latitude_whatever_the_domain_is_in(in_metres):
    """Corners are transformed; GDAL agrees on where they are."""
    document = json.loads(written(write_geojson, in_metres))
    polygons = [shapely.from_geojson(json.dumps(feature["geometry"])) for feature in document["features"]]
    boxes = geopandas.GeoSeries(shapely.box(*in_metres.partition.bounds().T), crs="EPSG:32618").to_crs("EPSG:4326")
    ours, theirs = shapely.normalize(polygons), shapely.normalize(boxes.to_numpy())

    assert all(shapely.is_ccw(polygon.exterior) for polygon in polygons)
    assert shapely.equals_exact(ours, theirs, 1e-9).all()
    assert document["hushgrid"]["coordinates"] == "longitude, latitude (RFC 7946)"


@pytest.mark.parametrize(
    "domain",
    [
        Domain(west=2.9e6, south=-1e6, east=3.4e6, north=1e6, crs="EPSG:3832"),
        Domain(west=0, south=0, east=1e9, north=1e9, crs="EPSG:32618"),
    ],
    ids=["across-the-180th-meridian", "off-the-earth"],
)
def test_what_geojson_cannot_hold_is_refused(domain):
    """With the format that can."""
    with pytest.raises(ArgumentError, match="Export a GeoPackage"):
        write_geojson(made("grid", domain), io.BytesIO())


def test_rings_that_turn_over_are_turned_back():
    """A system whose axes point west and south keeps the winding only if rings are reversed."""
    rings = np.array([[0.0, 0, 1e5, 1e5]])[:, RING]
    westing = Domain(west=0, south=0, east=1e5, north=1e5, crs="+proj=tmerc +lon_0=29 +axis=wnu +type=crs")
    turned = rings_in_degrees(rings, westing)[0]

    assert shapely.is_ccw(shapely.linearrings(turned))


def test_csv_holds_every_leaf_in_numbers(synopsis):
    """Bit for bit; nothing in it but the fixed header and numbers."""
    header, *rows = csv.reader(io.StringIO(written(write_csv, synopsis).decode()))
    expected = np.column_stack([synopsis.partition.bounds(), synopsis.counts, np.sqrt(synopsis.variances)])

    assert header == ["west", "south", "east", "north", "count", "std_error"]
    assert np.array_equal(np.array(rows, float), expected)


def test_a_simulation_is_marked_in_every_format(simulated, tmp_path):
    """Where a reader cannot miss it."""
    _, info = frame_of(simulated, tmp_path)

    assert "not a release" in info["layer_metadata"]["SIMULATION"]
    assert info["layer_metadata"]["DESCRIPTION"] == info["layer_metadata"]["SIMULATION"]
    assert "not a release" in json.loads(written(write_geojson, simulated))["hushgrid"]["simulation"]
    assert written(write_csv, simulated).startswith(b"west,south,east,north,simulated_count,simulated_std_error\n")


@pytest.mark.parametrize(
    ("missing", "write", "domain"),
    [("pyogrio", write_gpkg, None), ("pyproj", write_geojson, METRES)],
    ids=["pyogrio", "pyproj"],
)
def test_a_missing_library_is_named_with_its_extra(missing, write, domain, monkeypatch):
    """Instead of an ImportError from deep inside."""
    synopsis = made("grid", domain) if domain else made("grid")
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(MissingExtraError, match=rf"need[s]? {missing}: pip install 'hushgrid\[gis\]'"):
        write(synopsis, io.BytesIO())
