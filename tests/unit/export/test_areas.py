"""A release on areas in other formats."""

import csv
import io
import json

import geopandas
import numpy as np
import pytest
import shapely

from hushgrid.answering.areas import AreaShapes, area_partition
from hushgrid.errors import ArgumentError
from hushgrid.export.manifest import manifest_text
from hushgrid.export.raster import Raster, pixels
from hushgrid.export.vectors import write_csv, write_geojson, write_gpkg
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.districts import SHAPES, districts, mosaic
from tests.plain import UNIT_SQUARE
from tests.synopses import synopsis_on
from tests.unit.export.conftest import METRES


def written(write, synopsis):
    """The bytes of a file."""
    out = io.BytesIO()
    write(synopsis, out)
    return out.getvalue()


@pytest.fixture
def synopsis():
    """A release on areas."""
    return synopsis_on(districts())


def in_metres(shapes=None):
    """A release on areas of a projected domain."""
    if shapes is None:
        shapes = shapely.transform(list(SHAPES.values()), lambda places: places * 40_000 + [565_000, 4_485_000])
    return synopsis_on(area_partition(shapes, list(SHAPES)[: len(shapes)], METRES))


@pytest.mark.parametrize("system", ["degrees", "metres"])
def test_a_geopackage_holds_every_area(synopsis, system, tmp_path):
    """Its name, shape, count and standard error, bit for bit, in order."""
    synopsis = synopsis if system == "degrees" else in_metres()
    (tmp_path / "areas.gpkg").write_bytes(written(write_gpkg, synopsis))
    frame = geopandas.read_file(tmp_path / "areas.gpkg")

    assert frame["name"].tolist() == list(SHAPES)
    assert all(map(shapely.equals, frame.geometry, AreaShapes(synopsis.partition).shapes))
    assert np.array_equal(frame["count"], synopsis.counts)
    assert np.array_equal(frame["std_error"], np.sqrt(synopsis.variances))
    assert frame.crs == ("EPSG:4326" if system == "degrees" else "EPSG:32618")


def test_geojson_holds_every_area(synopsis):
    """Outer rings counterclockwise, as RFC 7946 has them."""
    features = json.loads(written(write_geojson, synopsis))["features"]
    shapes = [shapely.from_geojson(json.dumps(feature["geometry"])) for feature in features]

    assert all(map(shapely.equals, shapes, SHAPES.values()))
    assert all(polygon.exterior.is_ccw for polygon in shapely.get_parts(shapes))
    assert [feature["properties"]["name"] for feature in features] == list(SHAPES)
    assert [feature["properties"]["count"] for feature in features] == synopsis.counts.tolist()


def test_geojson_is_in_longitude_and_latitude():
    """Each vertex where GeoPandas moves it."""
    features = json.loads(written(write_geojson, in_metres()))["features"]
    shapes = geopandas.GeoSeries(AreaShapes(in_metres().partition).shapes, crs=32618).to_crs(4326)

    for feature, shape in zip(features, shapes, strict=True):
        moved = shapely.from_geojson(json.dumps(feature["geometry"]))
        assert moved.equals_exact(shape, 1e-9, normalize=True)


def test_areas_that_geojson_cannot_hold_are_refused():
    """An area around the pole is refused, with GeoPackage as a way out."""
    arctic = Domain(west=-3e6, south=-3e6, east=3e6, north=3e6, crs="EPSG:3413")
    around = synopsis_on(area_partition([shapely.box(-1e6, -1e6, 1e6, 1e6)], ["pole"], arctic))

    with pytest.raises(ArgumentError, match="GeoPackage"):
        written(write_geojson, around)


FORMULAS = [
    before + sign + "cmd"
    for before in ("", " ", "\n", "\r\n", "\t", "\u3000", "\x85", "\u2028", " \n ")
    for sign in ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\ufe62")
]
TEXTS = ['a "quoted", name', " plain", "a=b", "a\n=b", "\u22123", "Ünë, 3", "5 % of 7"]


def names_in_csv(names):
    """The names of areas as a CSV file holds them."""
    squares = [shapely.box(0.001 * place, 0, 0.001 * (place + 1), 1) for place in range(len(names))]
    synopsis = synopsis_on(area_partition(squares, names, UNIT_SQUARE))
    rows = list(csv.DictReader(io.StringIO(written(write_csv, synopsis).decode(), newline="")))
    assert [float(row["count"]) for row in rows] == synopsis.counts.tolist()
    return [row["name"] for row in rows]


def test_csv_holds_no_formula():
    """A name that a spreadsheet would run is text, whatever stands before its sign."""
    assert names_in_csv(FORMULAS) == [f"'{name}" for name in FORMULAS]


def test_csv_leaves_other_names_as_they_are():
    """Signs inside a name do no harm."""
    assert names_in_csv(TEXTS) == TEXTS


def test_names_come_back_from_csv():
    """Without the one apostrophe they begin with, if they do."""
    names = [*FORMULAS, *TEXTS, "'quoted", "''twice", "'=1"]

    assert [name.removeprefix("'") for name in names_in_csv(names)] == names


WHOLE = synopsis_on(area_partition([shapely.box(0, 0, 1, 1)], ["all of the domain"], UNIT_SQUARE))
RASTERS = {
    "districts": synopsis_on(districts()),
    "a mosaic": synopsis_on(area_partition(mosaic(12), list("abcdefghijkl"), UNIT_SQUARE)),
    "one area that is the domain": WHOLE,
}


@pytest.mark.parametrize("synopsis", RASTERS.values(), ids=RASTERS)
def test_pixels_hold_what_the_release_answers_for_them(synopsis):
    """All at once, and one by one; they sum to the total."""
    grid = Grid(domain=UNIT_SQUARE, rows=7, columns=9)
    raster, answer = Raster.of(synopsis, grid), synopsis.answer(grid.bounds())

    assert raster.estimates.ravel() == pytest.approx(answer.estimate, abs=1e-9)
    assert raster.errors.ravel() == pytest.approx(answer.noise_std, abs=1e-9)
    assert raster.estimates.sum() == pytest.approx(synopsis.total)
    assert max(pixels(synopsis).rows, pixels(synopsis).columns) == 1024


def test_a_plot_shows_the_areas(synopsis):
    """As pixels, with a title that states epsilon."""
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = synopsis.plot()

    assert "ε = 1" in axes.get_title()
    plt.close(axes.figure)


def test_a_manifest_says_what_is_counted(synopsis):
    """The manifest says that points in none of the areas are not counted."""
    text = manifest_text(synopsis, name="areas.dp.parquet", sha256="0" * 64)

    assert "what lies in none of them is not counted" in text
