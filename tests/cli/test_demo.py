"""`hushgrid demo`, and the places it publishes."""

import contextlib
import csv
from importlib import resources
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import hushgrid as hg
from hushgrid.cli import main
from hushgrid.cli.commands.demo import PLACES
from tests.cli.commands import Run, assert_refused

DATA = resources.files("hushgrid") / "data"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A folder that was empty, and the demo that was run in it."""
    folder = tmp_path_factory.mktemp("demo")
    with contextlib.chdir(folder):
        return folder, CliRunner().invoke(main, ["demo"])


@pytest.fixture
def demo(shown: tuple[Path, Result], run: Run, monkeypatch: pytest.MonkeyPatch) -> Result:
    """The demo, in the folder it was run in."""
    folder, result = shown
    monkeypatch.chdir(folder)
    return result


def test_it_writes_a_release_answers_and_a_map(demo: Result) -> None:
    """Three files, whose paths end its output; nothing else is in the folder."""
    folder = Path("hushgrid-demo")

    written = [folder / "places.dp.parquet", folder / "answers.csv", folder / "map.html"]
    assert demo.exit_code == 0
    assert demo.stdout.splitlines()[-3:] == list(map(str, written))
    assert sorted(folder.iterdir()) == sorted(written)


def test_its_answers_are_those_of_its_release(demo: Result) -> None:
    """The CSV file and the table hold what the release answers, and nothing closer to the truth."""
    answer = hg.read("hushgrid-demo/places.dp.parquet").answer(list(PLACES.values()))

    header, *rows = csv.reader(Path("hushgrid-demo/answers.csv").read_text().splitlines())
    assert header == ["west", "south", "east", "north", "name", "estimate", "low", "high"]
    assert [row.pop(4) for row in rows] == list(PLACES)
    table = np.array(rows, float)
    assert np.array_equal(table, np.column_stack([list(PLACES.values()), answer.estimate, answer.low, answer.high]))
    for name, *numbers in zip(PLACES, answer.estimate, answer.low, answer.high, strict=True):
        line = next(line for line in demo.stdout.splitlines() if line.startswith(name))
        assert line.removeprefix(name).split()[:3] == [f"{round(number):,}" for number in numbers]


def test_it_says_that_real_use_is_about_people(demo: Result) -> None:
    """The demo says that nobody would see true counts, and names the guarantee and the source."""
    said = " ".join(demo.stderr.split())

    assert "Real use is about people, not towns" in said
    assert "nobody would see the true counts" in said
    assert "GeoNames, CC BY 4.0" in said
    assert "exp(1) = 2.72" in said


def test_it_goes_on_with_commands_that_run(demo: Result, run: Run) -> None:
    """Every line after "Next:" works as it stands."""
    commands = [line.split() for line in demo.stderr.split("Next:\n")[1].splitlines()]

    assert commands
    assert all(run(*command[1:]).exit_code == 0 for command in commands)


def test_it_may_be_run_again_elsewhere(run: Run) -> None:
    """Its own files are replaced, in a folder that is made with its parents."""
    assert run("demo", "-o", "some/where").exit_code == 0
    assert run("demo", "-o", "some/where").exit_code == 0


def test_a_file_in_the_place_of_its_folder_is_refused(run: Run) -> None:
    """The exit code is 2, and the file stays."""
    Path("taken").write_text("mine")

    assert_refused(run("demo", "-o", "taken"), 2, "taken", "-o")
    assert Path("taken").read_text() == "mine"


def test_the_places_are_coordinates_and_nothing_else() -> None:
    """Longitude and latitude to four decimals, south to north, in a file small enough to carry along."""
    with resources.as_file(DATA / "places.parquet") as path:
        table = pq.read_table(path)
        size = path.stat().st_size

    lon, lat = table["lon"].to_numpy(), table["lat"].to_numpy()
    assert table.schema.equals(pa.schema([("lon", pa.float64()), ("lat", pa.float64())]))
    assert np.all(np.abs(lon) <= 180)
    assert np.all(np.abs(lat) <= 90)
    assert np.array_equal(np.round(table["lon"].to_numpy(), 4), lon)
    assert np.all(np.diff(lat) >= 0)
    assert len(table) > 100_000
    assert size < 1_500_000


def test_the_places_are_attributed() -> None:
    """The source and the licence travel with the data."""
    text = (DATA / "ATTRIBUTION.md").read_text()

    assert "GeoNames" in text
    assert "CC BY 4.0" in text
