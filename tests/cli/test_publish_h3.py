"""`hushgrid publish --areas h3:8`: from points to counts of H3 cells, as a newcomer types it."""

import csv
import io
import json
import sys
from collections import Counter
from pathlib import Path

import h3
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from tests.cli.commands import Run, assert_refused

DOMAIN = ("--domain", "-74.26,40.48,-73.70,40.92")


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips around one place."""
    path = tmp_path_factory.mktemp("h3") / "trips.parquet"
    rng = np.random.default_rng(4)
    pq.write_table(pa.table({"lon": rng.normal(-73.98, 0.03, 9000), "lat": rng.normal(40.72, 0.03, 9000)}), path)
    return path


@pytest.fixture
def publish_on(run: Run, trips: Path) -> Run:
    """Run `hushgrid publish` on H3 cells."""

    def invoke(areas: str, *options: object, domain: tuple[str, ...] = DOMAIN) -> object:
        return run("publish", trips, *domain, "--areas", areas, "--epsilon", "1", "-o", "out.dp.parquet", *options)

    return invoke


def test_counts_of_cells(publish_on: Run, run: Run) -> None:
    """Published, described, verified, listed and exported; each cell by its index."""
    published = publish_on("h3:6")
    described, verified = run("describe", "out.dp.parquet"), run("verify", "out.dp.parquet")
    listed = json.loads(run("query", "out.dp.parquet", "--json").stdout)["answers"]
    exported = run("export", "out.dp.parquet", "--to", "csv", "-o", "out.csv")
    rows = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))

    assert [each.exit_code for each in (published, described, verified, exported)] == [0, 0, 0, 0]
    assert "83 H3 cells" in described.stdout
    assert "cells h3:6" in " ".join(described.stdout.split())
    assert [row["h3"] for row in rows] == [answer["name"] for answer in listed]
    assert all(h3.get_resolution(row["h3"]) == 6 for row in rows)
    assert sum(float(row["count"]) for row in rows) == pytest.approx(9000, abs=200)


def test_whole_numbers_have_indexes_at_every_level(publish_on: Run, run: Run) -> None:
    """The column h3 is that of names, and parents hold the sum of their children."""
    publish_on("h3:4,6")
    assert run("export", "out.dp.parquet", "--whole", "-o", "whole.csv").exit_code == 0
    rows = list(csv.DictReader(io.StringIO(Path("whole.csv").read_text())))
    sums: Counter[str] = Counter()
    for row in rows:
        if row["level"] == "h3:6":
            sums[h3.cell_to_parent(row["h3"], 4)] += int(row["estimate"])

    assert [row["h3"] for row in rows] == [row["name"] for row in rows]
    assert sums == {row["h3"]: int(row["estimate"]) for row in rows if row["level"] == "h3:4"}


@pytest.mark.parametrize(
    "options",
    [("h3:4,6",), ("h3:6", "--levels", "h3:4,6"), ("h3:6", "--levels", "h3:4,h3:6"), ("h3:4,6", "--levels", "4,6")],
)
def test_levels(publish_on: Run, run: Run, options: tuple[str, ...]) -> None:
    """However they are written, they are the same cells, and coarse ones the sums of what lies in them."""
    published = publish_on(*options, "--level-shares", ".2,.8")
    release = hg.read("out.dp.parquet")
    listed = json.loads(run("query", "out.dp.parquet", "--level", "h3:4", "--json").stdout)["answers"]
    sums: Counter[str] = Counter()
    for name, count in zip(release.partition.names, release.counts.tolist(), strict=True):
        sums[h3.cell_to_parent(name, 4)] += count

    assert published.exit_code == 0
    assert {answer["name"]: answer["estimate"] for answer in listed} == pytest.approx(dict(sums))
    assert release.partition.level_names == ["h3:4", "h3:6"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("h3:16",), ["whole number from 0 to 15, got 16"]),
        (("h3:",), ["such as h3:8, or h3:5,8 for levels"]),
        (("h3:fine",), ["takes resolutions of H3 from 0 to 15", "got h3:fine"]),
        (("h3:8,5",), ["from coarse to fine, got h3:8,5. Take h3:5,8."]),
        (("h3:13",), ["over the limit of 65,536. Take h3:9, which has about"]),
        (("h3:6", "--levels", "state,county"), ["--levels takes resolutions of H3"]),
        (("h3:8", "--levels", "h3:4,6"), ["name different H3 cells", "give --areas h3:4,6,8"]),
        (("h3:6", "--area-name", "name"), ["called by their indexes. Leave out --area-name"]),
        (("h3:6", "--level-shares", ".5,.5"), ["there is only one. Leave the shares out"]),
        (("h3:6", "--method", "ug"), ["leave --method out"]),
        (("h3:6", "--domain-crs", "EPSG:3857"), ["got one in EPSG:3857. Give its bounds in degrees"]),
    ],
)
def test_mistakes_are_told_before_points_are_read(
    publish_on: Run, trips: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: list[str]
) -> None:
    """In one line, with a way out, and nothing is written."""
    monkeypatch.setattr("hushgrid.release.publish.deliver", lambda *_, **__: pytest.fail("points were read"))

    assert_refused(publish_on(*options), 2, *words)
    assert not Path("out.dp.parquet").exists()


def test_a_domain_is_needed(publish_on: Run) -> None:
    """Unlike areas of a file, cells do not say where to end."""
    assert_refused(publish_on("h3:6", domain=()), 2, "Missing option '--domain'", "--domain W,S,E,N")


def test_levels_alone_lead_to_areas(run: Run, trips: Path) -> None:
    """Whoever leaves out --areas is given it."""
    refused = run("publish", trips, *DOMAIN, "--levels", "h3:4,6", "--epsilon", "1", "-o", "out.dp.parquet")

    assert_refused(refused, 2, "without --areas", "--areas h3:4,6")


def test_without_the_extra(publish_on: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names it."""
    monkeypatch.setitem(sys.modules, "h3", None)

    assert_refused(publish_on("h3:6"), 2, "H3 cells need h3: pip install 'hushgrid[h3]'")


def test_help_tells_of_h3(run: Run) -> None:
    """Where --areas is explained."""
    help_text = " ".join(run("publish", "--help").stdout.split())

    assert "h3:8 for those of resolution 8, and h3:5,8 for two levels" in help_text
