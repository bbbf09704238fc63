"""`hushgrid query FOLDER`: counts over time as a table, CSV and JSON."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from tests.cli.commands import DOMAIN, assert_refused

RECT = "-74.1,40.6,-73.9,40.8"


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """A folder of releases of January and March."""
    folder = tmp_path_factory.mktemp("series") / "months"
    folder.mkdir()
    for number, month in enumerate(("2026-01", "2026-03")):
        points = np.random.default_rng(number).normal([-74, 40.7], 0.05, (2000, 2))
        release = hg.publish(points, domain=DOMAIN, epsilon=1, method="ag", calibrate=False)
        release.save(folder / f"trips-{month}.dp.parquet")
    return folder


def test_the_table_has_a_row_for_a_gap(run, months):
    """Without numbers, and a line that says what intervals promise."""
    result = run("query", months, "--rect", RECT)
    lines = result.stdout.splitlines()

    assert result.exit_code == 0, result.stderr
    assert lines[0].split() == ["period", "west", "south", "east", "north", "estimate", "low", "high"]
    assert [line.split()[0] for line in lines[1:4]] == ["2026-01", "2026-02", "2026-03"]
    assert lines[2].endswith("no release")
    assert lines[-1] == "The true count lies between low and high with 95 % confidence, each by itself."


def test_csv_and_json_say_what_python_says(run, months, tmp_path):
    """At full precision; a gap is empty or null."""
    rect = [float(part) for part in RECT.split(",")]
    found = hg.Series(months).answer(rect, confidence=0.8)
    out = tmp_path / "months.csv"
    told = json.loads(run("query", months, "--rect", RECT, "--json", "--confidence", "0.8").stdout)
    printed = run("query", months, "--rect", RECT, "--csv", "--confidence", "0.8").stdout
    saved = run("query", months, "--rect", RECT, "-o", out, "--confidence", "0.8")
    rows = list(csv.DictReader(io.StringIO(printed)))

    assert saved.stdout == f"{out}\n"
    assert out.read_text() == printed
    assert told["periods"] == [row["period"] for row in rows] == ["2026-01", "2026-02", "2026-03"]
    for number in (0, 2):
        assert float(rows[number]["low"]) == told["answers"][number]["low"] == found.low[number, 0]
    assert rows[1]["estimate"] == ""
    assert told["answers"][1]["estimate"] is None


def test_polygons_have_their_names_in_every_period(run, months, tmp_path):
    """A row for each period and polygon."""
    shapes = {"south": shapely.box(-74.2, 40.5, -73.8, 40.7), "north": shapely.box(-74.2, 40.7, -73.8, 40.9)}
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": json.loads(shapely.to_geojson(shape))}
        for name, shape in shapes.items()
    ]
    file = tmp_path / "halves.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    result = run("query", months, "--polygons", file, "--csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))

    assert [(row["period"], row["name"]) for row in rows] == [
        (period, name) for period in ("2026-01", "2026-02", "2026-03") for name in shapes
    ]
    expected = hg.Series(months).answer_polygons(list(shapes.values())).estimate
    assert [float(row["estimate"]) for row in rows[:2]] == pytest.approx(expected[0].tolist())


def test_what_a_folder_cannot_answer_is_refused(run, months, tmp_path):
    """Nothing to ask, whole numbers, a folder without releases."""
    assert_refused(run("query", months), 2, "--rect W,S,E,N")
    assert_refused(run("query", months, "--whole"), 2, "without --whole")
    assert_refused(run("query", tmp_path, "--rect", RECT), 3, "holds no release")


def test_a_folder_is_drawn_as_one_page(run, months, tmp_path):
    """On polygons or without; what is for one release is refused, and so are polygons of one."""
    areas = tmp_path / "areas.geojson"
    square = {"type": "Feature", "properties": {"name": "Kings"}, "geometry": shapely.box(-74, 40.6, -73.9, 40.8)}
    square["geometry"] = json.loads(shapely.to_geojson(square["geometry"]))
    areas.write_text(json.dumps({"type": "FeatureCollection", "features": [square]}))

    drawn = run("map", months, "-o", "series.html", "--polygons", areas, "--description", "Every month")
    text = (tmp_path / "series.html").read_text()

    assert (drawn.exit_code, drawn.stdout) == (0, "series.html\n"), drawn.stderr
    assert "<h1>months</h1>" in text
    assert "Every month" in text
    assert '"names":["Kings"]' in text
    assert run("map", months, "-o", "plain.html", "--title", "Trips").exit_code == 0
    assert "<h1>Trips</h1>" in (tmp_path / "plain.html").read_text()
    assert_refused(
        run("map", months, "-o", "x.html", "--overlay", areas), 2, "--overlay is for the page of one release"
    )
    assert_refused(run("map", months, "-o", "x.html", "--area-name", "name"), 2, "Give --polygons FILE, too.")
    one = months / "trips-2026-01.dp.parquet"
    assert_refused(run("map", one, "-o", "x.html", "--polygons", areas), 2, "by --overlay GEOJSON")
    assert_refused(run("map", months, "-o", "series.html"), 2, "exists")
    assert_refused(run("map", months, "-o", "x.html", "--polygons", "no.geojson"), 3, "no.geojson")


def test_points_beside_releases_are_left_alone(run, months):
    """Files called .dp.parquet are the releases, where there are any."""
    points = months / "trips.parquet"
    pq.write_table(pa.table({"lon": [-74.0], "lat": [40.7]}), points)
    result = run("query", months, "--rect", RECT, "--csv")
    points.unlink()

    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.splitlines()) == 4


def test_a_simulation_among_the_releases_is_warned_of(run, months, tmp_path):
    """In a table and in CSV, which have no other place to say it, and on a page."""
    folder = tmp_path / "simulated"
    folder.mkdir()
    for number, month in enumerate(("2026-01", "2026-02")):
        points = np.random.default_rng(number).normal([-74, 40.7], 0.05, (500, 2))
        rng = hg.simulation_rng(number)
        release = hg.publish(points, domain=DOMAIN, epsilon=1, method="ug", calibrate=False, rng=rng)
        release.save(folder / f"{month}.dp.parquet", allow_simulation=True)

    for form in ((), ("--csv",)):
        assert "this file is a simulation" in run("query", folder, "--rect", RECT, *form).stderr
        assert "simulation" not in run("query", months, "--rect", RECT, *form).stderr
    assert "this file is a simulation" in run("map", folder, "-o", "page.html").stderr
