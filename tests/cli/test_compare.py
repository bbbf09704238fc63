"""`hushgrid compare`: what changed, as a table, CSV, JSON and a page; and what cannot be compared."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
import shapely
from click.testing import Result

import hushgrid as hg
from tests.cli.commands import DOMAIN, Run, assert_refused
from tests.web.pages import facts_of

WEST, EAST = shapely.box(-74.2, 40.5, -74.0, 40.9), shapely.box(-74.0, 40.5, -73.8, 40.9)
NAMES = ["west", "=east"]


def places(doubled: bool) -> np.ndarray:
    """Points in two halves of a city; the eastern half has doubled, or not."""
    rng = np.random.default_rng(1)
    west, east = rng.normal([-74.1, 40.7], 0.02, (3000, 2)), rng.normal([-73.9, 40.7], 0.02, (3000, 2))
    return np.concatenate([west, east, *([east] if doubled else [])])


def collection() -> dict[str, object]:
    """The halves as GeoJSON."""
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": json.loads(shapely.to_geojson(shape))}
        for name, shape in zip(NAMES, (WEST, EAST), strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases of two months, on cells and on areas, and the areas."""
    path = tmp_path_factory.mktemp("months")
    (path / "halves.geojson").write_text(json.dumps(collection()))
    areas = hg.Areas({"geometry": [WEST, EAST], "name": NAMES}, names="name")
    for month, doubled in (("february", False), ("march", True)):
        points = places(doubled)
        hg.publish(points, domain=DOMAIN, epsilon=1, method="ag", calibrate=False).save(path / f"{month}.dp.parquet")
        hg.publish(points, domain=DOMAIN, epsilon=1, method=areas).save(path / f"{month}.areas.dp.parquet")
    return path


@pytest.fixture
def compare(run: Run, folder: Path) -> Run:
    """Compare the months by the command, on cells or on areas."""

    def invoke(*options: object, kind: str = ".dp.parquet") -> Result:
        return run("compare", folder / f"february{kind}", folder / f"march{kind}", *options)

    return invoke


def rows(text: str) -> list[dict[str, str]]:
    """A CSV file as rows by name."""
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_has_the_surest_change_first(compare: Run, folder: Path) -> None:
    """With a star, and a sentence at the end."""
    result = compare("--polygons", folder / "halves.geojson", "--rate", 0.00001)  # the west is no false alarm then
    heading, first, second, *rest = result.stdout.splitlines()

    assert result.exit_code == 0, result.stderr
    assert heading.split() == ["area", "before", "after", "change", "low", "high", "per", "cent", "p"]
    assert first.startswith("=east")
    assert first.endswith("<0.0001  *")
    assert second.startswith("west")
    assert not second.endswith("*")
    assert " ".join(rest).endswith(
        "In 1 of 2 areas the number rose by more than noise explains, in none it fell; at most 0.001 % of such "
        "findings are false alarms on average."
    )


def test_csv_has_what_python_has_by_evidence(compare: Run, folder: Path) -> None:
    """At full precision; names that are formulas are quoted, and missing ratios are empty."""
    change = hg.compare(*(folder / f"{month}.dp.parquet" for month in ("february", "march")))
    table = change.grid(6)
    found = rows(compare("--grid", 6, "--csv").stdout)

    assert list(found[0]) == table.column_names
    assert sorted(float(row["difference"]) for row in found) == sorted(table["difference"].to_pylist())
    evidence = [float(row["p_value"]) for row in found]
    assert evidence == sorted(evidence)
    assert sum(row["ratio"] == "" for row in found) == int(np.isnan(table["ratio"]).sum()) > 0
    assert {row["significant"] for row in found} == {"true", "false"}
    named = rows(compare("--polygons", folder / "halves.geojson", "--csv").stdout)
    assert [row["name"] for row in named] == ["'=east", "west"]


def test_json_says_what_was_asked_for(compare: Run) -> None:
    """JSON has the rate, the correction and all blocks; null stands for a missing ratio."""
    told = json.loads(compare("--grid", 6, "--json", "--rate", 0.01, "--correction", "holm").stdout)

    assert (told["rate"], told["correction"], told["confidence"], told["simulation"]) == (0.01, "holm", 0.95, False)
    assert told["sentence"].endswith("a false alarm is at most 1 %.")
    assert len(told["changes"]) == 36
    assert None in [each["ratio"] for each in told["changes"]]


def test_releases_on_areas_are_compared_on_these(compare: Run) -> None:
    """Without a word, or by their level."""
    plain, level = (compare(*options, kind=".areas.dp.parquet") for options in ([], ["--level", "area"]))

    assert plain.stdout == level.stdout
    assert plain.stdout.splitlines()[1].startswith("=east")


def test_a_grid_is_chosen_for_cells(compare: Run) -> None:
    """One that is known."""
    assert " blocks the number rose" in compare().stdout.replace("\n", " ")


@pytest.mark.parametrize("options", [["--grid", "6"], ["--polygons", "halves.geojson"], []], ids=" ".join)
def test_the_page_has_both_releases(compare: Run, folder: Path, tmp_path: Path, options: list[str]) -> None:
    """By the names of their files, with a sentence beside it."""
    options = [str(folder / each) if each.endswith("json") else each for each in options]

    result = compare(*options, "-o", "change.html", "--title", "Trips <up>")

    page = (tmp_path / "change.html").read_text()
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "change.html\n"
    assert "the number rose by more than noise explains" in result.stderr
    assert facts_of(page)["called"] == ["february", "march"]
    assert "<h1>Trips &lt;up&gt;</h1>" in page
    assert "the number rose" in facts_of(page)["levels"][0]["sentence"]


def test_a_file_of_csv_is_that_of_standard_output(compare: Run, tmp_path: Path) -> None:
    """It is not replaced unasked."""
    printed = compare("--grid", 4, "--csv").stdout
    assert compare("--grid", 4, "-o", "change.csv").stdout == "change.csv\n"

    assert (tmp_path / "change.csv").read_text() == printed
    assert_refused(compare("--grid", 4, "-o", "change.csv"), 2, "change.csv")
    assert compare("--grid", 4, "-o", "change.csv", "--overwrite").exit_code == 0


REFUSED = {
    "two kinds of places": (["--grid", "6", "--level", "area"], "one of --polygons FILE, --level LEVEL and --grid N"),
    "two formats": (["--csv", "--json"], "Choose one of --json, --csv and -o"),
    "another ending": (["-o", "change.png"], "Try: hushgrid compare"),
    "a name of nothing": (["--area-name", "name"], "Give --polygons FILE"),
    "a title of nothing": (["--title", "Trips"], "Give -o change.html"),
    "a level of cells": (["--level", "county"], "they were counted on cells"),
    "too fine a grid": (["--grid", "4000"], "--grid 50"),
    "a rate in per cent": (["--rate", "5"], "rate must lie between 0 and 1"),
}


@pytest.mark.parametrize(("options", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_makes_no_sense_is_refused(compare: Run, options: list[str], words: str) -> None:
    """With a way out, where that is clear."""
    assert_refused(compare(*options), 2, words)


def test_what_cannot_be_compared_is_refused(run: Run, folder: Path) -> None:
    """A release and itself, under another name too, and cells and areas without polygons."""
    cells, areas = folder / "february.dp.parquet", folder / "march.areas.dp.parquet"
    Path("copy.dp.parquet").write_bytes(cells.read_bytes())

    assert_refused(run("compare", cells, cells), 2, "one and the same")
    assert_refused(run("compare", cells, "copy.dp.parquet"), 2, "one and the same")
    assert_refused(run("compare", cells, areas), 2, "one was counted on areas, the other on cells", "--polygons")
    assert_refused(run("compare", cells, "missing.dp.parquet"), 3, "missing.dp.parquet")
    mixed = run("compare", cells, areas, "--polygons", folder / "halves.geojson")
    assert mixed.exit_code == 0, mixed.stderr


def test_a_simulation_is_marked(run: Run, folder: Path, simulated: Path, release: Path) -> None:
    """On stderr, in JSON and on the page."""
    result = run("compare", release, simulated, "--grid", 4, "--json")
    run("compare", release, simulated, "--grid", 4, "-o", "change.html")

    assert "this file is a simulation" in result.stderr
    assert json.loads(result.stdout)["simulation"] is True
    assert 'class="simulation"' in Path("change.html").read_text()


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Releases of two months whose counts are scaled to totals."""
    path, who = tmp_path_factory.mktemp("scaled"), np.arange(6000) // 3
    files = [path / "2026-02.dp.parquet", path / "2026-03.dp.parquet"]
    for file, total in zip(files, (6000, 7000), strict=True):
        options = {"user": who, "max_per_user": 2, "scale_to_total": total, "calibrate": False}
        hg.publish(places(doubled=False), domain=DOMAIN, epsilon=1, method="ug", **options).save(file)
    return files


def test_scaled_counts_have_a_range_and_not_an_interval(run: Run, scaled: list[Path], tmp_path: Path) -> None:
    """In words and on the page; what holds of one release alone is said to."""
    result = run("compare", *scaled, "--grid", "1")
    page = tmp_path / "change.html"
    assert run("compare", *scaled, "-o", page, "--confidence", "0.9").exit_code == 0

    assert result.exit_code == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "From low to high is a range by noise alone, of 95 %." in said
    assert "The true change" not in said
    assert "correction for 1 comparison." in said
    assert "before: Counts are of kept records" in said
    assert "after: Counts are of kept records" in said
    assert said.count("From low to high is a range by noise alone: it covers neither") == 1
    assert facts_of(page.read_text())["afterBounds"] == "by noise alone"
    assert "2026-03: Counts are of kept records" in page.read_text()


def test_a_series_says_which_release_a_caveat_is_of(run: Run, scaled: list[Path]) -> None:
    """The total that one month is scaled to is not that of the next."""
    result = run("query", scaled[0].parent, "--rect", "-74.1,40.6,-73.9,40.8")

    assert "2026-02: Counts are of kept records" in result.stdout
    assert "2026-03: Counts are of kept records" in result.stdout
    assert "public total of 7,000" in result.stdout
