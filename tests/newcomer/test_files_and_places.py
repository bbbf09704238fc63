"""Mistakes with files, folders, ledgers and extras: what has to be done first is said, and then it works."""

import os
import shutil
import sqlite3
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest

from hushgrid.ledger import store
from tests.newcomer.desk import W_S_E_N, hushgrid
from tests.newcomer.mistakes import OPTIONS, PUBLISH

AS_NUMBERS = "SELECT TRY_CAST(lon AS DOUBLE) AS lon, lat FROM 'text.parquet'"


def publish(points: str, *options: str) -> str:
    """A command that publishes points."""
    return " ".join([f"hushgrid publish {points} --domain {W_S_E_N} {OPTIONS}", *options])


def assert_said(command: str, code: int, *words: str) -> None:
    """The exit code, and words of the one message."""
    result = hushgrid(command)

    assert (result.exit_code, result.stdout) == (code, "")
    for word in words:
        assert word in result.stderr


def assert_works(command: str) -> None:
    """Exit code 0."""
    result = hushgrid(command)

    assert result.exit_code == 0, result.stderr


def test_a_csv_file_without_a_header(desk: Path) -> None:
    """The first line is to name the columns; no word of it is repeated, because it may be a record."""
    rows = Path("headless.csv").read_text()
    result = hushgrid(publish("headless.csv"))

    assert result.exit_code == 3
    assert "headless.csv has no columns known as coordinates" in result.stderr
    assert "The first line of the file must name the columns" in result.stderr
    assert not [field for field in rows.splitlines()[0].split(",") if field.strip('"') in result.stderr]
    Path("headless.csv").write_text(f"user,lon,lat\n{rows}")
    assert_works(publish("headless.csv"))


def test_a_csv_file_with_other_separators(desk: Path) -> None:
    """The separators that are known are named."""
    assert_said(publish("colons.csv"), 3, "colons.csv has no columns known", "a comma, semicolon, tab or |")
    Path("colons.csv").write_text(Path("colons.csv").read_text().replace(":", ";"))
    assert_works(publish("colons.csv"))


def test_a_spreadsheet_of_europe(desk: Path) -> None:
    """Semicolons between columns and commas in numbers need no option."""
    assert_works(publish("spreadsheet.csv"))


def test_coordinates_as_text(desk: Path) -> None:
    """The SELECT that is spoken of works."""
    words = ("column 'lon' of text.parquet has type string", "coordinates must be numbers", AS_NUMBERS[7:37])
    assert_said(publish("text.parquet"), 3, *words)
    assert_works(publish(f'"{AS_NUMBERS}"', "--engine duckdb"))


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("trips.xlsx", "Save it as CSV"),
        ("places.shp", "ogr2ogr places.csv places.shp -t_srs EPSG:4326 -lco GEOMETRY=AS_XY"),
        ("packed.gz", "packed.csv.gz"),
    ],
)
def test_files_of_other_kinds(desk: Path, name: str, way: str) -> None:
    """The kinds that are read are listed, with the way from this one to them."""
    assert_said(publish(name), 3, f"{name} has an unknown extension", ".parquet", ".csv", way)


def test_an_empty_folder(desk: Path) -> None:
    """It is called by its name, and says what should be in it."""
    assert_said(publish("empty"), 3, "empty", "Parquet")
    shutil.copy("trips.parquet", "empty/trips.parquet")
    assert_works(publish("empty"))


def test_a_release_of_a_newer_version(desk: Path) -> None:
    """Both versions of the schema are named, and how to get a newer library."""
    words = ("its schema is 99", "reads schema", "pip install --upgrade hushgrid")
    assert_said(f"hushgrid query newer.dp.parquet --rect {W_S_E_N}", 3, *words)


def test_an_output_that_exists(desk: Path) -> None:
    """It can be replaced, or another name given."""
    taken = PUBLISH.replace("new.dp.parquet", "trips.dp.parquet")
    assert_said(taken, 2, "trips.dp.parquet exists", "--overwrite", "or give another path")
    assert_works(f"{taken} --overwrite")
    assert_works(PUBLISH)


def test_an_output_in_a_folder_that_is_not_there(desk: Path) -> None:
    """The command that makes it is shown."""
    command = PUBLISH.replace("new.dp.parquet", "out/new.dp.parquet")
    assert_said(command, 2, "the folder out does not exist", "mkdir -p out", "or give another path")
    subprocess.run(["mkdir", "-p", "out"], check=True)
    assert_works(command)


def test_an_output_in_a_folder_of_others(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anything is read."""
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **rest: Path(path).name != "empty" and may(path, mode, **rest))
    words = ("the folder empty cannot be written to: permission denied", "another folder")
    assert_said(PUBLISH.replace("new.dp.parquet", "empty/new.dp.parquet"), 2, *words)


def test_a_release_to_standard_output(desk: Path) -> None:
    """It is paid for, so that it goes to a file."""
    words = ("a release is written to a file", "Try: hushgrid publish", "-o RELEASE.dp.parquet")
    assert_said(PUBLISH.replace("new.dp.parquet", "-"), 2, *words)


def test_a_busy_ledger(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named with how long was waited; the same command works when the other is done."""
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    command = f"{PUBLISH} --dataset trips"
    other = sqlite3.connect("hushgrid.ledger", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert_said(command, 5, "the ledger hushgrid.ledger is busy", "0.05 seconds", "Try again")
    other.close()
    assert_works(command)


def test_a_budget_that_is_used_up(desk: Path) -> None:
    """What was released can be had again, and the command that lists it works."""
    assert_works(f"{PUBLISH} --dataset trips")
    again = PUBLISH.replace("--method ug", "--method ag").replace("new", "second")
    words = ("which has 0 left", "can be read again at no cost", "hushgrid ledger history")
    assert_said(f"{again} --dataset trips", 4, *words)
    assert_works("hushgrid ledger history")


def test_a_data_set_of_another_ledger(desk: Path) -> None:
    """The command that adds it names the ledger, too."""
    assert_works("hushgrid ledger init --ledger team.ledger --dataset homes --budget 1 --unit record")
    way = "hushgrid ledger init --ledger team.ledger --dataset trips --budget B --unit record|user"
    assert_said(f"{PUBLISH} --dataset trips --ledger team.ledger", 5, "it has 'homes'", way)
    assert_works(way.replace("budget B", "budget 1").replace("record|user", "record"))


def test_a_domain_in_metres(desk: Path) -> None:
    """Such large numbers need the name of their system."""
    command = PUBLISH.replace(W_S_E_N, "560000,4480000,610000,4530000")
    assert_said(command, 2, "got south=4480000.0, north=4530000.0", "within -90 and 90", "--domain-crs EPSG:32618")
    assert_works(f"{command} --domain-crs EPSG:32618")


def test_swapped_columns_are_warned_of_from_released_values(desk: Path) -> None:
    """The release is made all the same: no error may depend on records. What is suggested does not warn."""
    wrong = hushgrid(f"{PUBLISH} --lon lat --lat lon")
    right = hushgrid(f"{PUBLISH} --lon lon --lat lat --overwrite")

    assert (wrong.exit_code, right.exit_code) == (0, 0)
    assert "Are longitude and latitude swapped? Then exchange lon and lat (--lon and --lat)" in wrong.stderr
    assert "warning" not in right.stderr


def test_a_swapped_domain_is_warned_of(desk: Path) -> None:
    """Antarctica is a place, too; the domain that was meant is named, and does not warn."""
    wrong = hushgrid(PUBLISH.replace(W_S_E_N, "40.48,-74.26,40.92,-73.7"))

    assert wrong.exit_code == 0
    assert "or give the domain as -74.26,40.48,-73.7,40.92." in wrong.stderr


@pytest.mark.parametrize("epsilon", [21, 1000])
def test_a_huge_epsilon_is_warned_of(desk: Path, epsilon: int) -> None:
    """It is allowed, and protects next to nobody."""
    result = hushgrid(PUBLISH.replace("--epsilon 1", f"--epsilon {epsilon} --public-size 10"))

    assert result.exit_code == 0
    assert f"warning: epsilon {epsilon} protects next to nobody. Common values are 0.1 to 10" in result.stderr


def test_a_rectangle_outside_the_domain_is_warned_of(desk: Path) -> None:
    """With the one that was meant, if it is swapped."""
    swapped = hushgrid("hushgrid query trips.dp.parquet --rect 40.7,-74,40.8,-73.9")
    far = hushgrid("hushgrid query trips.dp.parquet --rect 10,50,11,51 --rect 12,50,13,51")
    inside = hushgrid("hushgrid query trips.dp.parquet --rect -74,40.7,-73.9,40.8")

    assert (swapped.exit_code, far.exit_code) == (0, 0)
    assert "rectangle 0 (40.7,-74,40.8,-73.9) lies outside the domain -74.26,40.48,-73.7,40.92" in swapped.stderr
    assert "--rect -74,40.7,-73.9,40.8 lies inside" in swapped.stderr
    assert "1 more" in far.stderr
    assert inside.stderr == ""


EXTRAS = {
    "duckdb": ("duckdb", publish("'*.parquet'", "--engine duckdb")),
    "gis": ("shapely", "hushgrid query trips.dp.parquet --polygons areas.geojson"),
    "h3": ("h3", f"hushgrid publish trips.parquet --domain {W_S_E_N} --areas h3:6 --epsilon 1 -o new.dp.parquet"),
    "postgres": ("sqlalchemy", "hushgrid ledger show --ledger postgresql://me@localhost/team"),
    "plots": ("matplotlib.figure", "hushgrid export trips.dp.parquet -o cells.png"),
    "raster": ("rasterio", "hushgrid export trips.dp.parquet --to geotiff -o cells.tif"),
    "server": ("starlette.applications", "hushgrid serve trips.dp.parquet --port 0"),
    "spark": ("pyspark.sql", publish("trips.parquet", "--engine spark")),
}


@pytest.mark.parametrize(("extra", "module", "command"), [(extra, *rest) for extra, rest in EXTRAS.items()], ids=EXTRAS)
def test_a_missing_extra_is_named(desk: Path, monkeypatch, extra: str, module: str, command: str) -> None:
    """With the command that installs it; the package knows it by that name."""
    areas = {"type": "Polygon", "coordinates": [[[-74, 40.6], [-73.9, 40.6], [-73.9, 40.7], [-74, 40.6]]]}
    Path("areas.geojson").write_text(str(areas).replace("'", '"'))
    monkeypatch.setitem(sys.modules, module, None)

    result = hushgrid(command)
    assert result.exit_code == 2, result.stderr
    assert f"hushgrid[{extra}]" in result.stderr
    assert "pip install" in result.stderr
    assert extra in metadata("hushgrid").get_all("Provides-Extra")


def test_every_extra_of_the_command_line_is_tried() -> None:
    """All but that of figures, which no command draws."""
    assert {*EXTRAS, "plots"} == set(metadata("hushgrid").get_all("Provides-Extra"))
