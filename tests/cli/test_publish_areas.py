"""`hushgrid publish --areas`: from a file of districts to answers about each."""

import csv
import io
import json
from pathlib import Path

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.geometry.areas import AREA_LIMIT
from tests.cli.commands import Run, assert_refused

DISTRICTS = {
    "North": shapely.box(-74, 40.7, -73.9, 40.8),
    "South-West": shapely.box(-74, 40.6, -73.96, 40.7),
    "South-East": shapely.box(-73.96, 40.6, -73.9, 40.7),
}
USERS = ["--user-column", "who", "--max-per-user", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips of some users, and districts as GeoJSON and as a GeoPackage in metres."""
    folder = tmp_path_factory.mktemp("areas")
    rng = np.random.default_rng(3)
    lon, lat = rng.uniform(-74, -73.9, 20_000), rng.uniform(40.6, 40.8, 20_000)
    pq.write_table(pa.table({"lon": lon, "lat": lat, "who": rng.integers(0, 3000, 20_000)}), folder / "trips.parquet")
    frame = geopandas.GeoDataFrame(
        {"name": list(DISTRICTS), "code": [3, 1, 2]}, geometry=list(DISTRICTS.values()), crs="EPSG:4326"
    )
    frame.to_file(folder / "districts.geojson")
    frame.to_crs(32618).to_file(folder / "districts.gpkg")
    return folder


@pytest.fixture
def publish_on(run: Run, folder: Path) -> Run:
    """Run `hushgrid publish` on the districts."""

    def invoke(*options: object, areas: str = "districts.geojson") -> object:
        given = ["--areas", folder / areas, "--epsilon", "1", "-o", "out.dp.parquet"]
        return run("publish", folder / "trips.parquet", *given, *options)

    return invoke


def test_names_are_written_with_joiners(run: Run, folder: Path, tmp_path: Path) -> None:
    """As in Persian, and in the ledger too; what would command a terminal is refused."""
    names = ["\u0645\u06cc\u200c\u062f\u0627\u0646", "North", "a\u00a0b"]
    frame = geopandas.GeoDataFrame({"name": names}, geometry=list(DISTRICTS.values()), crs="EPSG:4326")
    frame.to_file(tmp_path / "named.geojson")
    run("ledger", "init", "--dataset", names[0], "--unit", "record", "--budget", "1")
    given = ["--areas", tmp_path / "named.geojson", "--epsilon", "1", "-o", "named.dp.parquet", "--dataset", names[0]]
    published = run("publish", folder / "trips.parquet", *given)

    assert published.exit_code == 0, published.stderr
    rows = list(csv.reader(io.StringIO(run("query", "named.dp.parquet", "--csv").stdout)))
    assert [row[0] for row in rows[1:]] == names
    assert names[0] in run("ledger", "show").stdout
    frame.assign(name=["a", "b", "c\x1b[2J"]).to_file(tmp_path / "hostile.geojson")
    hostile = run("publish", folder / "trips.parquet", "--areas", tmp_path / "hostile.geojson", *given[2:4], "-o", "x")
    assert_refused(hostile, 2, "printable characters")


def test_counts_of_each_district(publish_on: Run, run: Run, folder: Path) -> None:
    """Published, described, verified, and asked for by the file they came from; the domain is that of the areas."""
    published = publish_on()
    described = run("describe", "out.dp.parquet")
    values = json.loads(run("describe", "out.dp.parquet", "--json").stdout)
    verified = run("verify", "out.dp.parquet")
    answers = json.loads(run("query", "out.dp.parquet", "--polygons", folder / "districts.geojson", "--json").stdout)[
        "answers"
    ]
    release = hg.read("out.dp.parquet")

    assert (published.exit_code, verified.exit_code) == (0, 0)
    assert "3 areas that were given" in described.stdout
    assert "what lies in none of them is not counted" in " ".join(described.stdout.split())
    assert values["structure"]["areas"] == list(DISTRICTS)
    assert release.domain == hg.Domain(west=-74, south=40.6, east=-73.9, north=40.8)
    assert [answer["name"] for answer in answers] == list(DISTRICTS)
    assert [answer["estimate"] for answer in answers] == release.counts.tolist()
    assert release.total == pytest.approx(20_000, abs=100)


def test_an_engine_counts_on_districts(publish_on: Run) -> None:
    """DuckDB reads the trips; each lies in one of the districts."""
    published = publish_on("--engine", "duckdb")

    assert published.exit_code == 0
    assert hg.read("out.dp.parquet").total == pytest.approx(20_000, abs=100)


def test_distinct_users_of_each_district(publish_on: Run, run: Run, folder: Path) -> None:
    """Counts are called what they are, and each is below the number of users."""
    published = publish_on(*USERS, "--distinct-users")
    asked = run("query", "out.dp.parquet", "--polygons", folder / "districts.geojson")
    release = hg.read("out.dp.parquet")

    assert published.exit_code == 0
    assert "user-area pairs: a user counts once in each of at most 2 areas" in " ".join(published.stderr.split())
    assert "user-area pairs" in asked.stdout
    assert (release.claim.distinct, release.claim.max_per_unit) == (True, 2)
    assert (release.counts < 3100).all()
    assert (release.counts > 500).all()


def test_areas_of_any_file_and_any_name(publish_on: Run) -> None:
    """A GeoPackage in metres, called by another property."""
    published = publish_on("--area-name", "code", "--domain", "-74.1,40.5,-73.8,40.9", areas="districts.gpkg")
    release = hg.read("out.dp.parquet")

    assert published.exit_code == 0
    assert release.partition.names == ("3", "1", "2")
    assert release.partition.bounds() == pytest.approx(shapely.bounds(list(DISTRICTS.values())), abs=1e-6)


def test_every_other_command_takes_it(publish_on: Run, run: Run) -> None:
    """Exports, samples and the map work."""
    publish_on("--manifest")
    exports = [run("export", "out.dp.parquet", "--to", to, "-o", f"out.{to}") for to in ("gpkg", "geojson", "csv")]
    raster = run("export", "out.dp.parquet", "--to", "geotiff", "-o", "out.tif", "--resolution", "50")
    rows = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))

    assert [each.exit_code for each in [*exports, raster]] == [0] * 4
    assert [row["name"] for row in rows] == list(DISTRICTS)
    assert geopandas.read_file("out.gpkg")["name"].tolist() == list(DISTRICTS)
    assert run("sample", "out.dp.parquet", "-n", "50", "-o", "points.parquet").exit_code == 0
    assert run("query", "out.dp.parquet", "--rect", "-74,40.6,-73.9,40.8").exit_code == 0
    assert run("map", "out.dp.parquet", "-o", "map.html").exit_code == 0
    assert Path("out.dp.manifest.md").exists()


REFUSED = {
    "a method beside areas": (["--method", "ag"], 2, "leave --method out"),
    "a side beside areas": ([*USERS, "--distinct-users", "8"], 2, "the SIDE of --distinct-users"),
    "a name that is not there": (
        ["--area-name", "nom"],
        3,
        "'nom' must be a property of the areas, or a column of a GeoDataFrame; there are: name, code",
    ),
    "a domain that is too small": (["--domain", "-74,40.6,-73.95,40.8"], 2, "reaches outside the domain"),
    "users without a column": (["--distinct-users"], 2, "needs user"),
}


@pytest.mark.parametrize(("options", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(publish_on: Run, options: list[str], code: int, words: str) -> None:
    """The message says what would make sense, and nothing is written."""
    result = publish_on(*options)

    assert (result.exit_code, result.stdout) == (code, "")
    assert words in " ".join(result.stderr.split())
    assert not Path("out.dp.parquet").exists()


WITHOUT_AREAS = {
    "no domain": ([], "--domain"),
    "a name for no areas": (["--domain", "-74,40,-73,41", "--area-name", "code"], "without --areas"),
    "distinct users on nothing": (["--domain", "-74,40,-73,41", *USERS, "--distinct-users"], "SIDE of a grid"),
}


@pytest.mark.parametrize(("options", "words"), WITHOUT_AREAS.values(), ids=WITHOUT_AREAS)
def test_without_areas_something_else_is_needed(run: Run, folder: Path, options: list[str], words: str) -> None:
    """Without areas, the message names the option that is missing."""
    result = run("publish", folder / "trips.parquet", "--epsilon", "1", "-o", "out.dp.parquet", *options)

    assert result.exit_code == 2
    assert words in result.stderr


def test_areas_in_levels_are_listed_level_by_level(run: Run, folder: Path) -> None:
    """With whole numbers that add up, without a question; a release on cells has to be asked."""
    boroughs = {"type": "FeatureCollection", "features": []}
    for number, west in enumerate((-74.0, -73.98, -73.96, -73.94)):
        ring = [[west, 40.6], [west + 0.02, 40.6], [west + 0.02, 40.8], [west, 40.8], [west, 40.6]]
        properties = {"strip": f"strip {number}", "half": "west" if number < 2 else "east"}
        geometry = {"type": "Polygon", "coordinates": [ring]}
        boroughs["features"].append({"type": "Feature", "properties": properties, "geometry": geometry})
    Path("strips.geojson").write_text(json.dumps(boroughs))
    options = ["--areas", "strips.geojson", "--levels", "half,strip", "--level-shares", ".25,.75", "--epsilon", "1"]
    points = folder / "trips.parquet"
    published = run("publish", points, *options, "-o", "strips.dp.parquet")
    halves, strips = (
        list(csv.DictReader(io.StringIO(run("query", "strips.dp.parquet", "--whole", "--csv", *level).stdout)))
        for level in (["--level", "half"], [])
    )

    assert published.exit_code == 0, published.stderr
    assert "hushgrid query strips.dp.parquet\n" in published.stderr
    assert [row["name"] for row in halves] == ["west", "east"]
    assert [row["name"] for row in strips] == [f"strip {number}" for number in range(4)]
    for half, parts in zip(halves, (strips[:2], strips[2:]), strict=True):
        assert int(half["estimate"]) == sum(int(part["estimate"]) for part in parts)
    assert_refused(run("query", "strips.dp.parquet", "--level", "town"), 2, "level must be one of half, strip")
    run("publish", points, "--domain", "-74,40.6,-73.9,40.8", "--epsilon", "1", "-o", "cells.dp.parquet")
    assert_refused(run("query", "cells.dp.parquet", "--whole"), 2, "Give the areas with one of")


LEVELS_REFUSED = {
    "shares without levels": (["--level-shares", "1"], "give --levels"),
    "a level that is not there": (["--levels", "land,name"], "'land' must be a property"),
    "shares of more than all": (["--levels", "code,name", "--level-shares", ".5,.6"], "sum to 1, got .5 + .6 = 1.1"),
}


@pytest.mark.parametrize(("options", "words"), LEVELS_REFUSED.values(), ids=LEVELS_REFUSED)
def test_levels_that_make_no_sense_are_refused(publish_on: Run, options: list[str], words: str) -> None:
    """Before anything is read."""
    result = publish_on(*options)

    assert result.exit_code in (2, 3)
    assert words in " ".join(result.stderr.split())


def area(west: float, *, east: float | None = None, **properties: object) -> dict:
    """A feature of the height of one degree."""
    east = west + 1 if east is None else east
    ring = [[west, 40], [east, 40], [east, 41], [west, 41], [west, 40]]
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


NOWHERE = {"type": "Feature", "properties": {"land": "L", "state": "S", "county": "none"}, "geometry": None}
IN_LEVELS = [area(0, state="S", county="a", land="L"), area(1, state="S", county="b", land="L")]
BAD_AREAS = {
    "overlapping areas": (
        [*IN_LEVELS, area(1.5, state="T", county="c")],
        [],
        "areas 'b' (feature 1) and 'c' (feature 2) overlap, and a point is counted in one area only. Cut one of them",
    ),
    "overlapping areas after one without an outline": (
        [NOWHERE, *IN_LEVELS, area(1.5, state="T", county="c")],
        [],
        "areas 'b' (feature 2) and 'c' (feature 3) overlap",
    ),
    "a level that is missing": ([*IN_LEVELS, area(2, county="c")], [], "feature 2 has no 'state'. Give it one"),
    "an empty name": ([*IN_LEVELS, area(2, state="S", county=" ")], [], "feature 2 has no 'county'. Give it one"),
    "a parent of two parents": (
        [*IN_LEVELS, area(2, state="S", county="c", land="M")],
        ["--levels", "land,state,county"],
        "state 'S' lies in land 'L' by feature 0, and in 'M' by feature 2. Give the two of them names of their own",
    ),
    "outside the domain": (
        [*IN_LEVELS, area(7, state="T", county="c")],
        ["--domain", "0,40,3,41"],
        "area 'c' (feature 2) reaches outside the domain. Give a domain that holds all areas",
    ),
    "metres": (
        [area(500_000, east=501_000, state="S", county="a")],
        [],
        "feature 0 is not in longitude and latitude, as GeoJSON is. Convert the file from its own system",
    ),
    "shares that do not sum to one": (IN_LEVELS, ["--level-shares", ".3,.8"], "sum to 1, got .3 + .8 = 1.1. Leave"),
    "too few shares": (IN_LEVELS, ["--level-shares", "1"], "got 1 shares for 2 levels (state, county). Leave"),
    "a name twice": (
        IN_LEVELS,
        ["--levels", "state"],
        "features 0 and 1 are both called 'S'; names must tell areas apart. Name them by another property",
    ),
    "no extent": ([*IN_LEVELS, area(2, east=2, state="T", county="c")], [], "area 'c' (feature 2) has no extent"),
    "no areas": ([], [], "there are no areas in it: give at least one polygon"),
    "more than can be": (
        [{"type": "Feature", "properties": None, "geometry": None}] * (AREA_LIMIT + 1),
        [],
        "65,537 areas are over the limit of 65,536. Give fewer, or publish on a grid and ask for polygons afterwards",
    ),
}


@pytest.mark.parametrize(("features", "options", "words"), BAD_AREAS.values(), ids=BAD_AREAS)
def test_bad_areas_are_refused_before_points_are_looked_at(run: Run, features, options, words) -> None:
    """In one sentence, with the number of the feature and a way out; that there are no points is not noticed."""
    Path("areas.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    given = ["--areas", "areas.geojson", "--levels", "state,county", "--epsilon", "1", "-o", "out.dp.parquet"]
    result = run("publish", "nowhere.parquet", *given, *options)

    assert result.exit_code in (2, 3)
    assert words in " ".join(result.stderr.split())
    assert "nowhere.parquet does not exist" not in result.stderr
    assert list(Path().iterdir()) == [Path("areas.geojson")]


def test_good_areas_get_as_far_as_the_points(run: Run) -> None:
    """Guard: it is the areas that the test above is about."""
    Path("areas.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": IN_LEVELS}))
    given = ["--areas", "areas.geojson", "--levels", "state,county", "--epsilon", "1", "-o", "out.dp.parquet"]
    assert_refused(run("publish", "nowhere.parquet", *given), 3, "nowhere.parquet does not exist")


def test_levels_are_about_areas(run: Run, folder: Path) -> None:
    """Without any, there is nothing that lies in something."""
    options = ["--domain", "-74,40.6,-73.9,40.8", "--epsilon", "1", "-o", "out.dp.parquet", "--levels", "half,strip"]
    assert_refused(run("publish", folder / "trips.parquet", *options), 2, "--levels half,strip without --areas")
