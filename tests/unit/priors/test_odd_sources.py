"""Odd and damaged files as priors, and what is said of them."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.errors import InputError
from hushgrid.priors.opening import open_prior
from tests.public_files import geojson, geoparquet, geotiff

SQUARE = hg.Domain(west=0, south=0, east=8, north=4)


def test_a_missing_file_says_what_was_likely_meant(tmp_path):
    geojson(tmp_path / "stations.geojson", [shapely.Point(1, 1)])
    with pytest.raises(InputError, match="does not exist") as caught:
        open_prior(tmp_path / "station.geojson", SQUARE)
    assert caught.value.instead == {"prior": str(tmp_path / "stations.geojson")}


def test_a_name_must_be_there():
    with pytest.raises(InputError, match="has no name"):
        open_prior("", SQUARE)


def test_slices_are_several_releases(tmp_path):
    """One of them can be a prior, and so can their total, once it has a file."""
    rng = np.random.default_rng(0)
    table = pa.table({"lon": 8 * rng.random(900), "lat": 4 * rng.random(900), "kind": np.resize(["car", "bike"], 900)})
    by = hg.By("kind", values=["car", "bike"])
    sliced = hg.publish(table, domain=SQUARE, epsilon=1, method="staq", by=by, calibrate=False)
    sliced.save(tmp_path / "kinds.dp.parquet")
    sliced.total.save(tmp_path / "total.dp.parquet")

    with pytest.raises(InputError, match="holds several slices"):
        open_prior(tmp_path / "kinds.dp.parquet", SQUARE)
    assert open_prior(tmp_path / "total.dp.parquet", SQUARE).kind == "release"


def test_nothing_inside_the_domain(tmp_path):
    with pytest.raises(InputError, match="nothing inside the domain"):
        open_prior(geojson(tmp_path / "p.geojson", [shapely.Point(50, 50)]), SQUARE)


@pytest.mark.parametrize("weight", ["-1.0", '"many"', "true", "1e999", "1e19", "1" + 400 * "0", "-1" + 400 * "0"])
def test_weights_are_numbers_of_a_reasonable_size(tmp_path, weight):
    path = tmp_path / "p.geojson"
    geojson(path, [shapely.Point(1, 1)], [1.0])
    path.write_text(path.read_text().replace("1.0}", weight + "}"))
    with pytest.raises(InputError, match="numbers"):
        open_prior(path, SQUARE, weight="people")


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e-9, 1e17])
def test_weights_of_points_count_by_their_ratios(tmp_path, unit):
    """In whatever unit they are: three that weigh 2, 1 and 1 are worth 16 / 6 points."""
    places = [shapely.Point(1, 1), shapely.Point(5, 1), shapely.Point(5, 3)]
    prior = open_prior(geojson(tmp_path / "p.geojson", places, [2 * unit, unit, unit]), SQUARE, weight="people")
    west, north_east = prior.evidence(np.array([0, 1]), np.array([0, 3]))
    assert np.allclose([west, north_east], [2 * 16 / 6, 2 * 16 / 6 / 4])


def test_a_column_of_text_is_no_weight(tmp_path):
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"lon": [1.0], "lat": [1.0], "people": ["many"]}), path)
    with pytest.raises(InputError, match="'people' has type string"):
        open_prior(path, SQUARE, weight="people")


def test_an_unknown_weight_lists_what_there_is(tmp_path):
    path = geojson(tmp_path / "p.geojson", [shapely.Point(1, 1)], [1.0])
    with pytest.raises(InputError, match="its columns are: 'people'"):
        open_prior(path, SQUARE, weight="homes")


@pytest.mark.parametrize("content", [b"", b"lon,lat\n1,1\n", b"PAR1 and no more", b"II*\0 and no more"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "p.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"p\.csv as a prior"):
        open_prior(path, SQUARE)


def test_a_weight_is_for_points_and_polygons(tmp_path):
    path = geotiff(tmp_path / "p.tif", np.ones((2, 2)), (0, 0, 8, 4))
    for source in ("places", path):
        with pytest.raises(hg.HushgridError, match="prior_weight"):
            open_prior(source, SQUARE, weight="people")


def test_lines_are_no_density(tmp_path):
    path = geojson(tmp_path / "p.geojson", [shapely.LineString([(0, 0), (1, 1)])])
    with pytest.raises(InputError, match="not a density"):
        open_prior(path, SQUARE)


@pytest.mark.parametrize("pixel", [-99999.0, 3.4e38, np.inf])
def test_pixels_that_are_no_counts_are_refused(tmp_path, pixel):
    """And what they likely stand for is told, as it has to be declared."""
    pixels = np.ones((4, 8))
    pixels[1, 2] = pixel
    with pytest.raises(InputError, match=rf"not a raster of counts\. .* -a_nodata {re.escape(repr(pixel))} FILE"):
        open_prior(geotiff(tmp_path / "p.tif", pixels, (0, 0, 8, 4)), SQUARE)


@pytest.mark.parametrize("twice", ["lon", "people", "name"])
def test_columns_of_one_name_are_refused(tmp_path, twice):
    names = ["lon", "lat", "people", "name"]
    table = pa.Table.from_arrays([pa.array([1.0])] * 5, names=[*names, twice])
    pq.write_table(table, tmp_path / "p.parquet")
    with pytest.raises(InputError, match=r"p\.parquet as a prior: it .* columns called"):
        open_prior(tmp_path / "p.parquet", SQUARE, weight="people")


def test_damaged_pages_are_told_in_our_own_words(tmp_path):
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"lon": [1.0], "lat": [1.0]}), path)
    content = bytearray(path.read_bytes())
    content[8:40] = bytes(32)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"it is damaged or cut short\.$"):
        open_prior(path, SQUARE)


def test_columns_of_geoparquet_are_an_object(tmp_path):
    """Of metadata that say something else, all is taken for the default."""
    path = geoparquet(tmp_path / "p.parquet", [shapely.Point(1, 1)])
    table = pq.read_table(path)
    geo = json.dumps({"primary_column": "where", "columns": ["where"]})
    pq.write_table(table.replace_schema_metadata({"geo": geo}), path)
    assert open_prior(path, SQUARE).evidence(np.array([0]), np.array([0])) == [2.0]
