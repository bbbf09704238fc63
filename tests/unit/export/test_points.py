"""Synthetic points as files that say what they are."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pyproj
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.export.vectors import KEY, WRITERS, write_points
from tests.unit.export.conftest import made


@pytest.fixture
def points(synopsis):
    """Points of a synopsis."""
    return synopsis.sample(50, seed=1)


def test_parquet_holds_the_points_and_says_they_are_synthetic(synopsis, points, tmp_path):
    """Bit for bit, beside the guarantee of the release."""
    write_points(synopsis, points, tmp_path / "points.parquet")
    table = pq.read_table(tmp_path / "points.parquet")
    about = json.loads(table.schema.metadata[KEY.encode()])

    assert table.column_names == ["longitude", "latitude"]
    assert np.array_equal(np.column_stack(table.columns), points)
    assert "None of them is a record" in about["synthetic"]
    assert about["guarantee"] == synopsis.claim.sentence


def test_csv_holds_the_points_under_names_that_say_so(synopsis, points, tmp_path):
    """CSV columns are called synthetic, and hold the points bit for bit."""
    write_points(synopsis, points, tmp_path / "points.csv")
    with (tmp_path / "points.csv").open(newline="") as file:
        header, *rows = csv.reader(file)

    assert header == ["synthetic_longitude", "synthetic_latitude"]
    assert np.array_equal(np.array(rows, float), points)


def test_geojson_holds_the_points_and_says_they_are_synthetic(synopsis, points, tmp_path):
    """Bit for bit, in a member of the collection."""
    write_points(synopsis, points, tmp_path / "points.GeoJSON")
    document = json.loads((tmp_path / "points.GeoJSON").read_text())

    assert [feature["geometry"]["coordinates"] for feature in document["features"]] == points.tolist()
    assert "None of them is a record" in document["hushgrid"]["synthetic"]


def test_points_in_metres_keep_their_system_but_in_geojson(in_metres, tmp_path):
    """Which knows longitude and latitude only."""
    points = in_metres.sample(20, seed=1)
    for ending in WRITERS:
        write_points(in_metres, points, tmp_path / f"points{ending}")
    table = pq.read_table(tmp_path / "points.parquet")
    features = json.loads((tmp_path / "points.geojson").read_text())["features"]
    places = [feature["geometry"]["coordinates"] for feature in features]

    assert table.column_names == ["easting", "northing"]
    assert np.array_equal(np.column_stack(table.columns), points)
    assert json.loads(table.schema.metadata[KEY.encode()])["coordinates"] == "easting, northing (EPSG:32618)"
    assert np.allclose(pyproj.Proj("EPSG:32618")(*np.transpose(places)), points.T, atol=1e-6)


@pytest.mark.parametrize("ending", WRITERS)
def test_no_points_make_a_file_too(ending, tmp_path):
    """A file of no points is empty, and can be read."""
    synopsis = made("grid")
    path = tmp_path / f"points{ending}"
    write_points(synopsis, synopsis.sample(0), path)

    match ending:
        case ".parquet":
            assert pq.read_table(path).num_rows == 0
        case ".csv":
            assert path.read_text() == "synthetic_longitude,synthetic_latitude\n"
        case ".geojson":
            assert json.loads(path.read_text())["features"] == []


def test_an_unknown_extension_is_refused(tmp_path):
    """With those that are known."""
    synopsis = made("grid")

    with pytest.raises(ArgumentError, match=r"\.parquet, \.csv, \.geojson"):
        write_points(synopsis, synopsis.sample(1), tmp_path / "points.shp")


def test_a_file_is_not_replaced_unless_asked(tmp_path):
    """As every other file that hushgrid writes."""
    synopsis, path = made("grid"), tmp_path / "points.csv"
    path.write_text("mine")

    with pytest.raises(ArgumentError, match="exists"):
        write_points(synopsis, synopsis.sample(1), path)
    write_points(synopsis, synopsis.sample(1), path, overwrite=True)
    assert path.read_text() != "mine"


def test_the_mark_of_a_simulation_goes_on(simulated, tmp_path):
    """A file of points from a simulation says that it is not a release."""
    write_points(simulated, simulated.sample(2), tmp_path / "points.parquet")
    about = json.loads(pq.read_schema(tmp_path / "points.parquet").metadata[KEY.encode()])

    assert "not a release" in about["simulation"]
