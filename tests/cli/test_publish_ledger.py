"""`hushgrid publish --dataset`: the budget is set aside, spent, given back or refused, and the ledger says so."""

import hashlib
import json
import os
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

import hushgrid as hg
from hushgrid.errors import InputError
from hushgrid.ledger.book import Entry
from hushgrid.ledger.ledger import open_ledger
from tests.cli.commands import DOMAIN, ROWS, Run, assert_refused

LEDGER = "hushgrid.ledger"
OUT = Path("out.dp.parquet")
NUMBER = re.compile(rf"(?<![\d.]){ROWS // 1000}[,_ ]?{ROWS % 1000}(?!\d)")


@pytest.fixture
def charge(publish: Run) -> Run:
    """Publish a grid of the points, charged to the data set trips; the ledger grants each record 3."""
    with open_ledger(LEDGER, create=True) as ledger:
        ledger.add_dataset("trips", budget=3, unit="record")

    def invoke(*options: object, **keywords: object) -> Result:
        return publish("--dataset", "trips", "--method", "ug", *options, **keywords)

    return invoke


def left() -> Fraction:
    """What the data set has left."""
    with open_ledger(LEDGER) as ledger:
        return ledger.book().accounts["trips"].left


def entry(number: int) -> Entry:
    """An entry of the ledger."""
    with open_ledger(LEDGER) as ledger:
        return ledger.book().entries[number]


def test_a_release_is_charged_and_carries_its_entry(charge: Run, run: Run) -> None:
    """The file has the hash that the ledger has, and names the entry, the data set and the head of the chain."""
    result = charge()

    assert result.exit_code == 0, result.output
    assert result.stdout == f"{OUT}\n"
    assert "epsilon 1 of the data set 'trips' is spent, 2 of 3 is left" in result.stderr
    assert hashlib.sha256(OUT.read_bytes()).hexdigest() == entry(1).sha256
    mark = hg.read(OUT).ledger
    assert mark is not None
    assert (mark.dataset, mark.entry, mark.head) == ("trips", 1, entry(1).head)
    assert run("ledger", "verify", "--head", mark.head).exit_code == 0
    assert run("verify", OUT).exit_code == 0
    assert "entry 1 of the data set 'trips'" in " ".join(run("describe", OUT).stdout.split())
    assert json.loads(run("describe", OUT, "--json").stdout)["ledger"] == vars(mark)


def test_the_same_request_gives_back_the_same_bytes(charge: Run) -> None:
    """Nothing is spent or read, whatever the epsilon was written like; not even the points have to be there."""
    first, again = charge(), charge("--epsilon", "1.0", "-o", "again.dp.parquet", points=Path("gone.parquet"))

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "nothing was spent" in again.stderr
    assert Path("again.dp.parquet").read_bytes() == OUT.read_bytes()
    assert left() == 2


def test_a_new_release_is_charged_anew(charge: Run) -> None:
    """It has noise of its own, and an entry of its own."""
    charge()
    result = charge("--new-release", "-o", "new.dp.parquet")

    assert result.exit_code == 0
    assert left() == 1
    assert np.any(
        hg.read("new.dp.parquet").measurements.leaves.values[:10] != hg.read(OUT).measurements.leaves.values[:10]
    )


CHANGES = {
    "epsilon": ["--epsilon", "0.5"],
    "domain": ["--domain", "-74.26,40.48,-73.70,40.93"],
    "method": ["--method", "ag"],
    "columns": ["--lon", "lon", "--lat", "lat"],
    "public size": ["--public-size", "41000"],
    "size source": ["--size-from", "domain"],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_another_request_is_another_release(charge: Run, change: list[str]) -> None:
    """Every argument that shapes a release is part of the request."""
    charge()
    result = charge(*change, "-o", "other.dp.parquet")

    assert result.exit_code == 0
    assert entry(2).state == "committed"


def test_what_does_not_fit_is_refused(charge: Run) -> None:
    """The exit code is 4; the message says what was asked and is left, and no file or entry is made."""
    charge()
    result = charge("--epsilon", "2.5", "-o", "more.dp.parquet")

    assert_refused(result, 4, "epsilon 2.5 is asked", "2 left", "Nothing was read")
    assert not Path("more.dp.parquet").exists()
    assert left() == 2


REFUSED = {
    "an unknown data set": (["--dataset", "homes"], 5, "no data set 'homes'"),
    "another unit": (["--user-column", "lon", "--max-per-user", "2"], 5, "A data set has one unit"),
    "a ledger that is not there": (["--ledger", "none.ledger"], 5, "does not exist"),
    "an entry that is not there": (["--resume", "7"], 5, "no entry 7"),
    "two wishes at once": (["--resume", "1", "--new-release"], 2, "Give one of them"),
    "a wrong argument": (["--public-size", "-1"], 2, "public_size"),
    "half a pair of columns": (["--lon", "lon"], 2, "lon and lat go together"),
    "no folder for the output": (["-o", "no/out.dp.parquet"], 2, "does not exist"),
}


@pytest.mark.parametrize(("options", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_beforehand_leaves_no_entry(charge: Run, options: list[str], code: int, words: str) -> None:
    """Arguments, the output and the account are looked at before budget is set aside."""
    assert_refused(charge(*options), code, words)
    with open_ledger(LEDGER) as ledger:
        assert ledger.book().entries == {}


@pytest.mark.parametrize(
    "option", [["--ledger", LEDGER], ["--new-release"], ["--resume", "1"]], ids=lambda each: each[0]
)
def test_the_options_of_a_ledger_need_a_data_set(publish: Run, option: list[str]) -> None:
    """A usage error that says what to do, and no release beside the ledger."""
    name = option[0].removeprefix("--").replace("-", "_")
    assert_refused(publish(*option), 2, f"{name} needs dataset", "hushgrid ledger show", "--dataset NAME")
    assert not OUT.exists()


def test_the_ledger_is_found_by_its_variable(charge: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """HUSHGRID_LEDGER names another than the one in the folder; the option has the last word."""
    Path("moved").mkdir()
    Path(LEDGER).rename("moved/l")
    monkeypatch.setenv("HUSHGRID_LEDGER", "moved/l")

    assert charge().exit_code == 0
    assert charge("--ledger", "none.ledger", "--overwrite").exit_code == 5


@pytest.mark.parametrize(
    ("options", "code"), [(["--lon", "no", "--lat", "such"], 3), (["--geometry", "none"], 3)], ids=["lon", "geometry"]
)
def test_a_wrong_column_gives_the_budget_back(charge: Run, options: list[str], code: int) -> None:
    """Only the schema was read. The entry stays, not charged."""
    result = charge(*options)

    assert result.exit_code == code
    assert "Nothing was read: entry 1 of the ledger is given up, and its budget given back." in result.stderr
    assert (entry(1).state, entry(1).charged, left()) == ("abandoned", 0, 3)
    assert not OUT.exists()


def test_missing_points_give_the_budget_back(charge: Run) -> None:
    """A file that is not there costs nothing: the right request finds the whole budget."""
    assert charge(points=Path("gone.parquet")).exit_code == 3
    assert left() == 3
    assert charge("--epsilon", "3").exit_code == 0


def test_points_that_change_while_they_are_read_stay_paid_for(charge: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry is given up, charged: another run would read other points."""

    def changed(*_: object) -> None:
        msg = "trips.parquet was changed."
        raise InputError(msg)

    monkeypatch.setattr("hushgrid.counting.parquet.ParquetPoints.check_unchanged", changed)
    result = charge()

    assert result.exit_code == 3
    assert "entry 1 of the ledger is given up, and epsilon 1 of the data set 'trips' stays spent" in result.stderr
    assert (entry(1).state, entry(1).charged, left()) == ("abandoned", 1, 2)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError, RuntimeError])
def test_a_run_that_is_cut_off_is_spent_and_can_be_resumed(
    charge: Run, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """After the noise was drawn, Ctrl-C or a full disk leaves an entry that --resume goes on with at no cost."""
    with monkeypatch.context() as patch:
        patch.setattr("hushgrid.release.on_ledger.write_to", _raising(error))
        cut_off = charge()
    before = entry(1)
    again = charge("-o", "again.dp.parquet")
    resumed = charge("--resume", "1")

    assert cut_off.exit_code == (130 if error is KeyboardInterrupt else 1)
    assert "epsilon 1 of the data set 'trips' stays spent by entry 1" in cut_off.stderr
    assert "--resume 1" in cut_off.stderr
    assert before.state == "reserved"
    assert again.exit_code == 0  # charged anew: an entry that is not finished satisfies nothing
    assert resumed.exit_code == 0
    assert (entry(1).state, left()) == ("committed", 1)
    assert hg.read(OUT).ledger.entry == 1  # type: ignore[union-attr]
    assert hashlib.sha256(OUT.read_bytes()).hexdigest() == entry(1).sha256


def test_a_resumed_run_draws_nothing_again(charge: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its release has the measurements that the ledger kept of the first run."""
    seen = []

    def fail(synopsis: hg.Synopsis, _: object) -> None:
        seen.append(synopsis)
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr("hushgrid.release.on_ledger.write_to", fail)
        charge("--method", "ag")
    assert charge("--method", "ag", "--resume", "1").exit_code == 0

    resumed = hg.read(OUT)
    assert np.array_equal(resumed.counts, seen[0].counts)
    assert resumed.claim == seen[0].claim


def test_an_entry_is_resumed_with_the_same_request(charge: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one is refused, and one that fails to open its points leaves the entry as it was."""
    with monkeypatch.context() as patch:
        patch.setattr("hushgrid.release.on_ledger.write_to", _raising(OSError))
        charge()
    other, lost = charge("--resume", "1", "--method", "ag"), charge("--resume", "1", points=Path("gone.parquet"))

    assert_refused(other, 5, "reserved for another request")
    assert lost.exit_code == 3
    assert "--resume 1" in lost.stderr
    assert (entry(1).state, left()) == ("reserved", 2)


def test_an_entry_is_resumed_with_the_same_points(
    charge: Run, points_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was touched since is refused, with its old time too; the entry stays for the one that was not."""
    original, copy = Path("original.parquet"), Path("copy.parquet")
    for path in (original, copy):
        path.write_bytes(points_file.read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr("hushgrid.release.on_ledger.write_to", _raising(OSError))
        charge(points=original)
    time = original.stat().st_mtime_ns
    os.utime(copy, ns=(time, time))
    other = charge("--resume", "1", points=copy)
    same = charge("--resume", "1", points=original)

    assert other.exit_code == 3
    assert "copy.parquet is not what entry 1 was begun with, or was changed since" in other.stderr
    assert "--resume 1" in other.stderr
    assert (same.exit_code, left()) == (0, 2)


def test_the_true_number_is_nowhere(charge: Run, run: Run) -> None:
    """It is not in what commands say, the papers or the history; noise this wide never shows it by chance."""
    results = [charge("--epsilon", "0.0001", "--manifest"), run("ledger", "history", "--json"), run("describe", OUT)]
    texts = [result.output for result in results] + [path.read_text() for path in Path().glob("out.dp.[mr]*")]

    assert len(texts) == 5
    without_hashes = [re.sub(r"[0-9a-f]{16,}", "", text) for text in texts]
    assert not [text for text in without_hashes if NUMBER.search(text)]
    assert NUMBER.search(f"{ROWS:,} rows")  # the scan would find it


def test_a_release_that_cannot_be_placed_is_not_lost(charge: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up after the commit costs nothing: the same command gives the release back."""
    with monkeypatch.context() as patch:
        patch.setattr("os.link", _raising(OSError))
        patch.setattr(Path, "replace", _raising(OSError))
        failed = charge()
    again = charge("--overwrite")

    assert failed.exit_code == 2
    assert again.exit_code == 0
    assert "nothing was spent" in again.stderr
    assert left() == 2


def test_users_are_charged_as_users(run: Run, points_file: Path) -> None:
    """The request has the column, K and what becomes of rows without an id."""
    table = pq.read_table(points_file)
    pq.write_table(table.append_column("who", pa.array(np.arange(len(table)) % 5000)), "trips.parquet")
    run("ledger", "init", "--dataset", "trips", "--budget", "1", "--unit", "user")
    given = ["--domain", "-74.26,40.48,-73.70,40.92", "--epsilon", "0.5", "--dataset", "trips", "--user-column", "who"]
    given += ["--max-per-user", "4", "--method", "ug", "--scale-to-total", "private"]
    results = [
        run("publish", "trips.parquet", *given, "-o", "a.dp.parquet"),
        run("publish", "trips.parquet", *given, "-o", "b.dp.parquet"),
        run("publish", "trips.parquet", *given, "-o", "c.dp.parquet", "--missing-user", "own"),
        run("publish", "trips.parquet", *given, "-o", "d.dp.parquet", "--max-per-user", "5"),
    ]

    assert [result.exit_code for result in results] == [0, 0, 0, 4]
    request = json.loads(entry(1).request)
    assert (request["user_column"], request["max_per_user"]) == ("who", 4)
    assert request["parameters"]["missing_user"] == "drop"
    assert request["parameters"]["scale_to_total"] == "private"
    assert Path("a.dp.parquet").read_bytes() == Path("b.dp.parquet").read_bytes()


def test_python_publishes_on_the_same_account(charge: Run, points_file: Path) -> None:
    """What the command released comes back, and a new one is charged; saved, it has the hash of its entry."""
    charge("--size-from", "domain")
    given = {
        "domain": DOMAIN,
        "epsilon": 1,
        "method": "ug",
        "size_from": "domain",
        "ledger": LEDGER,
        "dataset": "trips",
    }
    same, new = hg.publish(points_file, **given), hg.publish(points_file, **given, new_release=True)

    same.save("same.dp.parquet")
    new.save("new.dp.parquet")
    assert Path("same.dp.parquet").read_bytes() == OUT.read_bytes()
    assert hashlib.sha256(Path("new.dp.parquet").read_bytes()).hexdigest() == entry(2).sha256
    assert left() == 1


MISUSED = {
    "seeded noise on account": ({"rng": hg.simulation_rng(1), "ledger": LEDGER, "dataset": "trips"}, "rng"),
    "seeded noise with a data set": ({"rng": hg.simulation_rng(1), "dataset": "trips"}, "rng"),
    "no data set": ({"ledger": LEDGER}, "ledger needs dataset"),
    "neither": ({"new_release": True}, "new_release needs dataset"),
    "both": ({"new_release": True, "resume": 1, "ledger": LEDGER, "dataset": "trips"}, "Give one of them"),
}


@pytest.mark.parametrize(("options", "words"), MISUSED.values(), ids=MISUSED)
def test_python_refuses_what_is_no_release(charge: Run, options: dict[str, object], words: str) -> None:
    """Simulations are on no account, and an account has a ledger and a data set; no entry is made."""
    with pytest.raises(hg.ArgumentError, match=words):
        hg.publish([[-74, 40.6]], domain=DOMAIN, epsilon=1, **options)
    assert left() == 3


def _raising(error: type[BaseException]):
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail
