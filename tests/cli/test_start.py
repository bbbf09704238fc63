"""``hushgrid start``: six questions in a terminal, and the command that answers them."""

import json
import os
import pty
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import hushgrid as hg
from hushgrid.cli import main
from hushgrid.ledger.ledger import open_ledger
from hushgrid.planning.users import RecordsPerUser

CITY = "-74.26,40.48,-73.70,40.92"
PATIENCE = 120  # seconds for one question


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table as a spreadsheet writes it."""
    monkeypatch.chdir(tmp_path)
    rows = (f"u{row % 300};-73,9{row % 97:02};40,7{row % 89:02}\n" for row in range(6000))
    Path("trips.csv").write_text("who;lon;lat\n" + "".join(rows))
    return tmp_path


def talk(answers: list[tuple[str, str]]) -> tuple[int, str]:
    """Answer in a pseudo-terminal, each time that the words before an answer are on it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hushgrid", "start"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True) as process:
        os.close(theirs)
        said, seen = "", 0
        for words, answer in answers:
            end = time.monotonic() + PATIENCE
            while words not in said[seen:]:
                assert time.monotonic() < end, f"{words!r} is not in {said!r}"
                said += _read(ours)
            seen = len(said)
            os.write(ours, f"{answer}\n".encode())
        while piece := _read(ours):
            said += piece
        os.close(ours)
        return process.wait(PATIENCE), said


def _read(terminal: int) -> str:
    select.select([terminal], [], [], PATIENCE)
    try:
        return os.read(terminal, 4096).decode(errors="replace")
    except OSError:  # the other side is gone
        return ""


def test_a_steward_is_led_to_a_release() -> None:
    """In a terminal, with two mistakes on the way; the command that is shown is the one that ran."""
    status, said = talk(
        [
            ("Which file", "trip.csv"),
            ("does not exist", "trips.csv"),
            ("Which area", "-74.26,40.48,-73.70"),
            ("four numbers", CITY),
            ("About how many", "6,000"),
            ("several records", "who"),
            ("kept at most", "5"),
            ("How much may", "2"),
            ("Where should", ""),
            ("Run it?", "y"),
        ]
    )

    assert status == 0, said
    command = next(line for line in said.splitlines() if line.startswith("hushgrid publish"))
    about = f"{float(f'{6000 * RecordsPerUser().kept(5):.2g}'):.0f}"
    assert shlex.split(command)[2:] == [
        *("trips.csv", "--domain", CITY, "--epsilon", "2", "--user-column", "who", "--max-per-user", "5"),
        *("--points-about", about, "-o", "trips.dp.parquet"),
    ]
    assert said.count("Half of such counts") == 3  # the plan after each answer that changes it
    release = hg.read("trips.dp.parquet")
    assert (release.claim.epsilon, release.claim.max_per_unit, release.claim.unit) == (2, 5, "user")
    assert 1000 < release.answer(release.domain.bounds).estimate < 2000


def test_saying_no_spends_nothing() -> None:
    answers = ["trips.csv", CITY, "", "", "1", "", "n"]

    result = CliRunner().invoke(main, ["start"], input="\n".join(answers) + "\n")

    assert result.exit_code == 0, result.output
    assert f"hushgrid publish trips.csv --domain {CITY} --epsilon 1 -o trips.dp.parquet" in result.stdout
    assert "Without a rough number of points" in result.stderr
    assert result.stderr.endswith("Nothing was read and nothing was spent.\n")
    assert list(Path().iterdir()) == [Path("trips.csv")]
    assert CliRunner().invoke(main, ["publish", "-h"]).exit_code == 0  # in the same process, as before


def told(answers: list[str]) -> tuple[Result, list[str]]:
    """What becomes of some answers, and the command they make."""
    result = CliRunner().invoke(main, ["start"], input="\n".join(answers) + "\n")
    assert result.exit_code == 0, result.output
    (command,) = (line for line in result.stdout.splitlines() if line.startswith("hushgrid publish"))
    return result, shlex.split(command)[2:]


def test_columns_that_are_called_otherwise_are_asked_for() -> None:
    """The wizard takes what the message of publish proposes, once somebody says yes."""
    table = pa.table({"who": ["a", "b"] * 300, "pickup_lon": [-74.0] * 600, "pickup_lat": [40.6] * 600})
    pq.write_table(table, "rides.parquet")
    asked = ["rides.parquet", "n", "rides.parquet", "", CITY, "6000", "who", "5", "1", "", "y"]
    result, command = told(asked)

    assert "Take lon 'pickup_lon' and lat 'pickup_lat'?" in result.stderr
    assert command[:5] == ["rides.parquet", "--lon", "pickup_lon", "--lat", "pickup_lat"]
    assert hg.read("rides.dp.parquet").claim.unit == "user"


def test_columns_that_may_not_be_quoted_are_named() -> None:
    """The first line of a CSV file may be a record, so nothing of it is proposed."""
    Path("rides.csv").write_text(Path("trips.csv").read_text().replace("lon;lat", "erika;muster", 1))
    result, command = told(["rides.csv", "erika", "mustr", "rides.csv", "erika", "muster", CITY, "", "", "1", "", "y"])

    assert "erika" not in result.stderr.partition("lon: which column?")[0]
    assert command[:5] == ["rides.csv", "--lon", "erika", "--lat", "muster"]
    assert hg.read("rides.dp.parquet").total > 5000


def test_a_system_that_the_file_declares_is_taken() -> None:
    """Of points in metres; the area stays in degrees."""
    points = [b"\x01\x01\x00\x00\x00" + np.array(place, "<f8").tobytes() for place in [(588_000, 4_511_000)] * 500]
    crs = {"id": {"authority": "EPSG", "code": 32618}}
    column = {"encoding": "WKB", "geometry_types": ["Point"], "crs": crs}
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    table = pa.table({"geometry": points}).replace_schema_metadata({"geo": json.dumps(geo)})
    pq.write_table(table, "metres.parquet")
    _, command = told(["metres.parquet", "y", CITY, "", "", "10", "", "y"])

    assert command[:3] == ["metres.parquet", "--crs", "EPSG:32618"]
    assert hg.read("metres.dp.parquet").total > 400


@pytest.mark.parametrize(
    ("user", "answers", "paid"),
    [("", [""], "trips"), ("", ["people", "trips"], "trips"), ("who", [""], "people"), ("who", ["none"], None)],
    ids=["the one that fits", "another unit first", "of users", "no account"],
)
def test_the_ledger_that_is_here_is_not_passed_over(user: str, answers: list[str], paid: str | None) -> None:
    """Which of its data sets pays is asked for; the one that protects the same is proposed."""
    with open_ledger("hushgrid.ledger", create=True) as ledger:
        ledger.add_dataset("trips", budget=2, unit="record")
        ledger.add_dataset("people", budget=2, unit="user")
        ledger.add_dataset("months", budget=2, unit="record", per="month")
    _, command = told(["trips.csv", CITY, "6000", user, *(["5"] if user else []), "1", "", *answers, "y"])

    assert command.count("--dataset") == (paid is not None)
    with open_ledger("hushgrid.ledger") as ledger:
        spent = {name: account.spent for name, account in ledger.book().accounts.items()}
    assert spent == {name: int(name == paid) for name in ("trips", "people", "months")}


def test_the_names_of_areas_are_asked_for() -> None:
    """Where no property is called name or id, before the other questions."""
    west, south, east, north = map(float, CITY.split(","))
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    feature = {"type": "Feature", "properties": {"ward": "all"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    Path("wards.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    _, command = told(["trips.csv", "wards.geojson", "ward", "6000", "", "1", "", "y"])

    assert command[1:5] == ["--areas", "wards.geojson", "--area-name", "ward"]
    assert hg.read("trips.dp.parquet").table()["name"].to_pylist() == ["all"]


def test_areas_are_taken_as_well(desk: Path) -> None:
    west, south, east, north = map(float, CITY.split(","))
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    feature = {"type": "Feature", "properties": {"name": "all"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    Path("districts.geojson").write_text(str({"type": "FeatureCollection", "features": [feature]}).replace("'", '"'))

    answers = ["trips.csv", "districts.geojson", "6000", "", "1", "areas.dp.parquet", "y"]
    result = CliRunner().invoke(main, ["start"], input="\n".join(answers) + "\n")

    assert result.exit_code == 0, result.output
    assert "A map of your own districts" in result.stderr
    assert hg.read("areas.dp.parquet").table().num_rows == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["nothing.csv"], "does not exist"),
        (["trips.csv", "Paris"], "neither four numbers W,S,E,N nor a file"),
        (["trips.csv", "trips.csv"], "cannot read polygons from trips.csv"),
        (["trips.csv", CITY, "many"], "give a whole number such as 100000"),
        (["trips.csv", CITY, "9" * 20], "give a whole number such as 100000"),
        (["~nobody/trips.csv"], "does not exist"),
        (["trips.csv", CITY, "", "owner"], "has no column 'owner'"),
        (["trips.csv", CITY, "", "", "10%"], "epsilon"),
        (["trips.csv", CITY, "", "", "1", "map.html"], "map.html"),
    ],
)
def test_an_answer_that_will_not_do_is_asked_for_again(wrong: list[str], words: str) -> None:
    result = CliRunner().invoke(main, ["start"], input="\n".join(wrong) + "\n")

    assert words in " ".join(result.stderr.split())
    assert result.stderr.endswith("The answers ended here. Nothing was read and nothing was spent.\n")
    assert list(Path().iterdir()) == [Path("trips.csv")]
