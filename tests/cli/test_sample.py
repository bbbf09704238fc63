"""`hushgrid sample`: synthetic points in files."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from tests.cli.commands import DOMAIN, Run, assert_refused

LAND = shapely.Point(-73.95, 40.75).buffer(0.1)


@pytest.fixture
def land() -> Path:
    """A file of land."""
    path = Path("land.geojson")
    path.write_text(shapely.to_geojson(LAND))
    return path


def points_of(path: str) -> np.ndarray:
    """The points of a Parquet file."""
    return np.column_stack(pq.read_table(path).columns)


def test_points_are_those_of_the_library(run: Run, release: Path) -> None:
    """The path alone on stdout; the number on stderr is the one asked for."""
    result = run("sample", release, "-n", "1000", "-o", "points.parquet", "--seed", "5")

    assert result.stdout == "points.parquet\n"
    assert "1,000 synthetic points. None of them is a record." in result.stderr
    assert np.array_equal(points_of("points.parquet"), hg.read(release).sample(1000, seed=5))


def test_without_a_number_there_are_as_many_as_estimated(run: Run, release: Path) -> None:
    """The total, rounded; without a seed, others every time."""
    for name in ("a.parquet", "b.parquet"):
        assert run("sample", release, "-o", name).exit_code == 0

    assert len(points_of("a.parquet")) == round(hg.read(release).total)
    assert not np.array_equal(points_of("a.parquet"), points_of("b.parquet"))


@pytest.mark.parametrize("name", ["points.csv", "points.geojson", "POINTS.PARQUET"])
def test_the_extension_says_the_format(run: Run, release: Path, name: str) -> None:
    """An extension in upper or lower case chooses the format."""
    assert run("sample", release, "-n", "10", "-o", name).stdout == f"{name}\n"
    assert Path(name).stat().st_size > 0


def test_land_holds_the_points(run: Run, release: Path, land: Path) -> None:
    """All points lie on land, and are those that the library draws."""
    assert run("sample", release, "-n", "500", "-o", "points.parquet", "--seed", "1", "--within", land).exit_code == 0

    points = points_of("points.parquet")
    assert shapely.intersects_xy(LAND, *points.T).all()
    assert np.array_equal(points, hg.read(release).sample(500, seed=1, within=LAND))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["-o", "points.shp"], 2, [".parquet, .csv, .geojson"]),
        (["-o", "points"], 2, [".parquet, .csv, .geojson"]),
        (["-o", "folder/points.csv"], 2, ["folder"]),
        (["-o", "points.csv", "-n", "-3"], 2, ["-n"]),
        (["-o", "points.csv", "-n", "many"], 2, ["-n"]),
        (["-o", "points.csv", "--seed", "-1"], 2, ["--seed"]),
        (["-o", "points.csv", "--within", "missing.geojson"], 3, ["missing.geojson"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_what_cannot_be_done_is_refused(
    run: Run, release: Path, options: list[str], code: int, words: list[str]
) -> None:
    """One line, and nothing is written."""
    assert_refused(run("sample", release, *options), code, *words)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ["not GeoJSON"]),
        ('{"type": "Point", "coordinates": [-73.9, 40.7]}', ["polygon 0 is a Point"]),
        (shapely.to_geojson(shapely.box(0, 0, 1, 1)), ["cover a part of the domain"]),
        ('{"type": "FeatureCollection", "features": []}', ["cover a part of the domain"]),
    ],
    ids=["cut-short", "a-point", "elsewhere", "empty"],
)
def test_land_that_holds_nothing_is_bad_input(run: Run, release: Path, text: str, words: list[str]) -> None:
    """The message names the file of the land, and no points are written."""
    Path("land.geojson").write_text(text)

    result = run("sample", release, "-n", "5", "-o", "points.csv", "--within", "land.geojson")
    assert_refused(result, 3, "land.geojson", *words)
    assert not Path("points.csv").exists()


def test_points_are_not_replaced_unless_asked(run: Run, release: Path) -> None:
    """The exit code is 2, and the old points stay."""
    Path("points.csv").write_text("mine")

    assert_refused(run("sample", release, "-o", "points.csv"), 2, "--overwrite")
    assert Path("points.csv").read_text() == "mine"
    assert run("sample", release, "-n", "1", "-o", "points.csv", "--overwrite").exit_code == 0


def test_only_releases_are_opened(run: Run, points_file: Path) -> None:
    """A file of points is none."""
    assert_refused(run("sample", points_file, "-o", "points.csv"), 3, "cannot be read")


def test_a_simulation_is_warned_of_and_marked(run: Run, simulated: Path) -> None:
    """A warning is on stderr, and a mark in the file."""
    assert "simulation" in run("sample", simulated, "-n", "3", "-o", "points.geojson").stderr
    assert "simulation" in json.loads(Path("points.geojson").read_text())["hushgrid"]


def test_without_shapely_points_lie_anywhere(
    run: Run, release: Path, land: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points are drawn without shapely; only --within asks for it."""
    monkeypatch.setitem(sys.modules, "shapely", None)

    assert run("sample", release, "-n", "3", "-o", "points.csv").exit_code == 0
    refused = run("sample", release, "-n", "3", "-o", "more.csv", "--within", land)
    assert_refused(refused, 2, "pip install 'hushgrid[gis]'")


def test_all_points_lie_in_the_domain(run: Run, release: Path) -> None:
    """No point lies outside the domain, whose upper edges count as inside."""
    run("sample", release, "-n", "5000", "-o", "points.parquet")
    points = points_of("points.parquet")

    assert np.all((points >= [DOMAIN.west, DOMAIN.south]) & (points <= [DOMAIN.east, DOMAIN.north]))
