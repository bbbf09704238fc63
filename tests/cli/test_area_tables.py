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
    assert_refused(run("export", release, "--whole", "-o", "out.tif"), 2, "--to csv, geojson or gpkg")
    assert list(Path().iterdir()) == []
