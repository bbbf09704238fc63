"""Tables of named areas: `hushgrid export --whole`, and any release by district with `query --polygons`."""

import csv
import json
from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely

import hushgrid as hg
from tests.cli.commands import DOMAIN, Run, assert_refused

WESTS = [-74.2, -74.1, -74.0, -73.9, -73.8]
STRIPS = [shapely.box(west, 40.5, west + 0.1, 40.9) for west in WESTS]
COLUMNS = {"half": ["west", "east", "west", "east", "east"], "strip": [f"strip {number}" for number in range(5)]}


@pytest.fixture(scope="module")
def strips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release on five strips in two halves, which do not follow one another in the file."""
    path = tmp_path_factory.mktemp("strips") / "strips.dp.parquet"
    points = np.random.default_rng(4).uniform((-74.2, 40.5), (-73.9, 40.9), (300, 2))
    method = hg.Areas({"geometry": STRIPS, **COLUMNS}, levels=["half", "strip"])
    hg.publish(points, domain=DOMAIN, epsilon=0.3, method=method).save(path)
    return path


def test_export_has_all_levels_with_whole_numbers(run: Run, strips: Path) -> None:
    """The coarsest first, each in the order of the file, in every format the same."""
    for to in ("csv", "geojson", "gpkg"):
        assert run("export", strips, "--to", to, "--whole", "-o", f"out.{to}").exit_code == 0
    with Path("out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    whole = {row["name"]: int(row["estimate"]) for row in rows}

    assert list(whole) == ["west", "east", *COLUMNS["strip"]]
    assert [row["parent"] for row in rows] == ["", "", *COLUMNS["half"]]
    assert whole["west"] == whole["strip 0"] + whole["strip 2"]
    assert whole["east"] == whole["strip 1"] + whole["strip 3"] + whole["strip 4"]
    assert min(whole.values()) >= 0
    for frame in (geopandas.read_file("out.geojson"), geopandas.read_file("out.gpkg")):
        assert dict(zip(frame["name"], frame["estimate"], strict=True)) == whole
        assert shapely.equals(frame.geometry[0], shapely.union_all([STRIPS[0], STRIPS[2]]))
    assert "guarantee" in json.loads(Path("out.geojson").read_text())["hushgrid"]


def test_export_of_one_level(run: Run, strips: Path) -> None:
    """Estimates as they are, unless whole numbers are asked for."""
    run("export", strips, "--level", "half", "-o", "half.csv")
    with Path("half.csv").open(newline="") as file:
        estimates = [float(row["estimate"]) for row in csv.DictReader(file)]

    assert estimates == hg.read(strips).table("half")["estimate"].to_pylist()
    assert_refused(run("export", strips, "--level", "town", "-o", "no.csv"), 2, "level must be one of half, strip")
    assert not Path("no.csv").exists()


def test_a_release_on_cells_says_what_to_do_instead(run: Run, release: Path) -> None:
    """Districts are asked for by polygons; pixels have no names."""
    assert_refused(run("export", release, "--whole", "-o", "out.csv"), 2, "--polygons districts.geojson --whole")
    for pixels in ("out.tif", "out.png"):
        assert_refused(run("export", release, "--whole", "-o", pixels), 2, "--to csv, geojson or gpkg")
    assert list(Path().iterdir()) == []


DISTRICTS = geopandas.GeoDataFrame(
    {"district": ["Far", "=Mid", "x" * 60], "people": [5, 7, 9], "code": [1.0, 2.0, np.nan], "fid": ["a", "b", "c"]},
    geometry=[shapely.box(-73.75, 40.5, -73.72, 40.55), shapely.box(-74, 40.7, -73.9, 40.8), STRIPS[0]],
    crs="EPSG:4326",
)


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:32618"])
def test_any_release_by_district(run: Run, release: Path, crs: str) -> None:
    """Whole numbers in three formats alike, with names and columns kept, in the order of the file."""
    DISTRICTS.to_crs(crs).to_file("districts.gpkg", layer_options={"FID": "own"})
    asked = ["query", release, "--polygons", "districts.gpkg", "--area-name", "district", "--whole", "-o"]
    for name in ("out.csv", "out.geojson", "out.gpkg"):
        result = run(*asked, name)
        assert (result.exit_code, result.stdout) == (0, f"{name}\n"), result.output
    with Path("out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    whole = [int(row["estimate"]) for row in rows]
    estimates = hg.read(release).count_polygons(DISTRICTS)

    assert [row["name"] for row in rows] == ["Far", "'=Mid", "x" * 60]
    assert min(whole) >= 0
    assert sum(whole) == pytest.approx(estimates.sum(), abs=0.6)
    for frame in (geopandas.read_file("out.geojson"), geopandas.read_file("out.gpkg")):
        assert frame["estimate"].tolist() == whole
        assert frame["district"].tolist() == DISTRICTS["district"].tolist()
        assert frame["people"].tolist() == [5, 7, 9]
        assert frame["fid"].tolist() == ["a", "b", "c"]
        assert frame["code"].isna().tolist() == [False, False, True]
    assert geopandas.read_file("out.gpkg").crs == crs
    assert geopandas.read_file("out.geojson").crs == "EPSG:4326"


def test_a_frame_in_a_frame_out(release: Path) -> None:
    """Its columns, index and reference system are kept, whatever system that is."""
    synopsis = hg.read(release)
    frame = DISTRICTS.set_index(np.array([7, 3, 5])).to_crs("EPSG:3857")
    found, answer = synopsis.answer_polygons(frame), synopsis.answer_polygons(frame.geometry)
    whole = synopsis.answer_polygons(frame, whole=True)

    assert isinstance(found, geopandas.GeoDataFrame)
    assert found.columns.tolist() == [*frame.columns, "estimate", "low", "high"]
    assert found[frame.columns].equals(frame)
    assert found.crs == frame.crs
    for name in ("estimate", "low", "high"):
        assert np.array_equal(found[name], getattr(answer, name))
    assert whole["estimate"].dtype == np.int64
    assert whole["estimate"].sum() == round(answer.estimate.sum())
    assert "estimate" not in frame.columns


def test_names_are_asked_for_exactly(run: Run, release: Path) -> None:
    """A feature without the property is told by its number; JSON has names in full."""
    frame = DISTRICTS.assign(district=["Far", " ", "x" * 60])
    frame.to_file("districts.geojson")
    asked = ["query", release, "--polygons", "districts.geojson"]
    answers = json.loads(run(*asked, "--area-name", "code", "--json").stdout or "null")

    assert answers is None  # the last has no code
    assert_refused(run(*asked, "--area-name", "code"), 3, "feature 2 has no 'code'. Give it one")
    assert_refused(run(*asked, "--area-name", "district"), 3, "feature 1 has no 'district'")
    assert_refused(run(*asked, "--area-name", "name"), 3, "there are: district, people, code, fid")
    DISTRICTS.to_file("districts.geojson")
    names = [each["name"] for each in json.loads(run(*asked, "--area-name", "district", "--json").stdout)["answers"]]
    assert names == DISTRICTS["district"].tolist()


def test_numbers_of_gdal_are_no_names(run: Run, release: Path) -> None:
    """A GeoPackage counts its rows from one; features are not called that."""
    DISTRICTS[["geometry"]].to_file("districts.gpkg")
    answers = json.loads(run("query", release, "--polygons", "districts.gpkg", "--json").stdout)["answers"]

    assert [answer["name"] for answer in answers] == ["feature 0", "feature 1", "feature 2"]


def test_polygons_outside_are_warned_of(run: Run, release: Path, strips: Path) -> None:
    """They count nothing, and whole numbers of them are zero."""
    DISTRICTS.assign(geometry=[shapely.box(0, 0, 1, 1), *DISTRICTS.geometry[1:]]).to_file("districts.geojson")
    asked = ["--polygons", "districts.geojson", "--area-name", "district", "--whole", "--csv"]
    result = run("query", release, *asked)

    assert "feature 0 (Far) lies outside the domain -74.26,40.48,-73.7,40.92" in result.stderr
    assert result.stdout.splitlines()[1].startswith("0,Far,0,")
    assert "outside the areas of the release" in run("query", strips, *asked).stderr


def test_rectangles_as_a_file(run: Run, release: Path) -> None:
    """As CSV; other formats are about polygons, and the areas of a release are exported."""
    assert run("query", release, "--rect", "-74,40.7,-73.9,40.8", "-o", "out.csv").stdout == "out.csv\n"
    assert Path("out.csv").read_text().startswith("west,south,east,north,estimate,low,high\n")
    refused = run("query", release, "--rect", "-74,40.7,-73.9,40.8", "-o", "out.gpkg")
    assert_refused(refused, 2, "for --polygons", "hushgrid export FILE --whole")


def test_columns_that_a_geopackage_takes_for_one_are_refused(run: Run, release: Path) -> None:
    """Its names of columns are those of SQL."""
    DISTRICTS.rename(columns={"code": "District"}).to_file("districts.geojson")
    asked = ["query", release, "--polygons", "districts.geojson", "-o"]

    assert_refused(run(*asked, "out.gpkg"), 2, "rename 'district'")
    assert not Path("out.gpkg").exists()
    assert run(*asked, "out.geojson").exit_code == 0
