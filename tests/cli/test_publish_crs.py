"""`hushgrid publish --crs --domain-crs`: points transformed before they are counted."""

import shlex
from pathlib import Path

import geopandas
import numpy as np
import pyproj
import pytest

import hushgrid as hg
from tests.cli.commands import Run, assert_refused

METRES = hg.Domain(west=560_000, south=4_480_000, east=620_000, north=4_530_000, crs="EPSG:32618")
GIVEN = ["--domain", "560000,4480000,620000,4530000", "--domain-crs", "EPSG:32618"]


def test_a_projected_grid_counts_points_where_they_are(publish: Run, points) -> None:
    """The file carries the system; half of the domain holds what pyproj puts there, to the noise."""
    result = publish(*GIVEN, "--epsilon", "1000", "--method", "ug")
    assert result.exit_code == 0, result.output
    synopsis = hg.read("out.dp.parquet")
    easting, northing = pyproj.Proj("EPSG:32618")(points["lon"], points["lat"])
    inside = (np.abs(easting - 590_000) <= 30_000) & (np.abs(northing - 4_505_000) <= 25_000)

    assert synopsis.domain == METRES
    assert geopandas.read_parquet("out.dp.parquet").crs == "EPSG:32618"
    assert abs(synopsis.total - inside.sum()) < 20
    assert "longitude and latitude" in result.stderr


def test_points_in_a_declared_system_are_transformed(run: Run, points) -> None:
    """GeoParquet in metres, a domain in degrees; without --crs it is refused, with the way out."""
    frame = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(points["lon"], points["lat"], crs="EPSG:4326"))
    frame.to_crs("EPSG:32618").to_parquet("metres.parquet")
    given = ["publish", "metres.parquet", "--domain", "-74.26,40.48,-73.70,40.92", "--epsilon", "1"]

    assert_refused(run(*given, "-o", "a.dp.parquet"), 3, "EPSG:32618", "--crs")
    result = run(*given, "-o", "b.dp.parquet", "--crs", "EPSG:32618")
    assert result.exit_code == 0, result.output
    assert hg.read("b.dp.parquet").total > 30_000
    assert "longitude and latitude;" not in result.stderr


def test_a_domain_is_in_degrees_whatever_the_points_are_in(run: Run, metres: Path) -> None:
    """--crs is about the points alone."""
    given = ["publish", metres, "--crs", "EPSG:32618", "--epsilon", "9", "-o", "out.dp.parquet"]
    result = run(*given, "--domain", "-74.3,40.4,-73.5,41")

    assert result.exit_code == 0, result.output
    assert hg.read("out.dp.parquet").domain.is_geographic
    assert hg.read("out.dp.parquet").total > 400


def test_a_domain_in_the_system_of_the_points_is_said_to_be(run: Run, metres: Path) -> None:
    """A domain in metres without --domain-crs is refused, with the command that works."""
    given = ["publish", metres, *GIVEN[:2], "--crs", "EPSG:32618", "--epsilon", "9", "-o", "out.dp.parquet"]
    refused = run(*given)

    assert_refused(refused, 2, "not in longitude and latitude", "--domain-crs EPSG:32618")
    result = run(*given, "--domain-crs", "EPSG:32618")
    assert result.exit_code == 0, result.output
    assert hg.read("out.dp.parquet").domain == METRES


def test_degrees_in_a_system_of_metres_are_refused_with_the_command_that_works(run: Run, metres: Path) -> None:
    """Nothing is written before it; the command shown publishes."""
    given = ["publish", metres, "--crs", "EPSG:32618", "--epsilon", "9", "-o", "out.dp.parquet"]
    refused = run(*given, "--domain", "-74.3,40.4,-73.5,41", "--domain-crs", "EPSG:32618")

    assert_refused(refused, 2, "look like degrees", "--domain-crs OGC:CRS84")
    assert not Path("out.dp.parquet").exists()
    better = shlex.split(refused.stderr.splitlines()[-1].removeprefix("Try: hushgrid "))
    assert run(*better).exit_code == 0
    assert hg.read("out.dp.parquet").total > 400


@pytest.fixture
def metres() -> Path:
    """A table of 500 points in metres, all of them in the domain METRES."""
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{x},{y}" for x, y in rng.uniform((560_000, 4_480_000), (620_000, 4_530_000), (500, 2)))
    path = Path("metres.csv")
    path.write_text(f"x,y\n{rows}\n")
    return path


@pytest.mark.parametrize("option", ["--crs", "--domain-crs", "--grid-crs"])
def test_an_unknown_system_is_refused_before_anything_is_read(publish: Run, option: str) -> None:
    """The exit code is 2, and nothing is written."""
    assert_refused(publish(*GIVEN, option, "EPSG:999999"), 2, "EPSG:999999")
    assert not Path("out.dp.parquet").exists()
