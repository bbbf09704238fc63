"""`hushgrid ledger`: the account of a data set, in words that a data-protection officer reads."""

import hashlib
import io
import json
import re
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from hushgrid.ledger import store
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import Reservation
from tests.cli.commands import Run, assert_refused
from tests.ledger.places import asked, in_period, reserved

INIT = ("ledger", "init", "--dataset", "trips", "--budget", "3", "--unit", "user")


@pytest.fixture
def used(run: Run) -> Reservation:
    """A ledger in the current folder with four entries, each of which has come to something else; its release."""
    run(*INIT)
    with open_ledger("hushgrid.ledger") as ledger:
        released = reserved(ledger)
        released.commit(io.BytesIO(b"release"))
        reserved(ledger, epsilon=Fraction(1, 3), method="ug").abandon("no space left on device")
        reserved(ledger, epsilon=Fraction("0.25"), method="staq").abandon("no such column", data_was_read=False)
        reserved(ledger, epsilon=Fraction("0.5"))
    return released


def table(text: str) -> list[list[str]]:
    """The fields of the rows of a table, after its head."""
    return [re.split(r"  +", line) for line in text.splitlines()[1:] if line]


def test_a_data_set_gets_its_budget(run: Run, tmp_path: Path) -> None:
    """The ledger is made in the current folder, and the account is shown."""
    result = run(*INIT)

    assert result.exit_code == 0
    assert table(result.stdout)[0] == ["trips", "user", "3", "0", "0", "3"]
    assert [path.name for path in tmp_path.iterdir()] == ["hushgrid.ledger"]


def test_the_account_is_shown(run: Run, used: Reservation) -> None:
    """The table shows what was granted, spent, set aside and left, fractions as fractions."""
    shown = table(run("ledger", "show").stdout)
    with open_ledger("hushgrid.ledger") as ledger:
        head = ledger.book().head

    assert shown[0] == ["trips", "user", "3", "4/3", "0.5", "7/6"]
    assert shown[1] == [f"head {head}"]


def test_the_account_as_json_is_exact(run: Run, used: Reservation) -> None:
    """Rationals as text, which add up."""
    parsed = json.loads(run("ledger", "show", "--json").stdout)

    (account,) = parsed["datasets"]
    budget, spent, going_on, left = (Fraction(account[name]) for name in ("budget", "spent", "reserved", "left"))
    assert budget == spent + going_on + left
    assert (account["dataset"], account["unit"], spent) == ("trips", "user", Fraction(4, 3))


def test_the_history_says_what_became_of_each(run: Run, used: Reservation) -> None:
    """Released, given up at a cost, given up at none, or not finished."""
    listed = table(run("ledger", "history").stdout)

    assert [row[0] for row in listed] == ["1", "2", "3", "4"]
    assert [row[3] for row in listed] == ["ag", "ug", "staq", "ag"]
    assert [row[5] for row in listed] == ["1", "1/3", "0.25", "0.5"]
    outcomes = [row[4] for row in listed]
    assert outcomes[0] == f"released, SHA-256 {hashlib.sha256(b'release').hexdigest()[:16]}..."
    assert outcomes[1:] == [
        "given up, spent: no space left on device",
        "given up before anything was read, so not spent: no such column",
        "not finished (running or cut off), spent",
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", row[2]) for row in listed)


def test_the_history_as_json_holds_the_requests(run: Run, used: Reservation) -> None:
    """Each with the text that its key is the hash of."""
    parsed = json.loads(run("ledger", "history", "--json").stdout)

    first = parsed["entries"][0]
    assert first["state"] == "committed"
    assert first["head"] == used.mark.head
    assert first["request_key"] == asked().key
    assert json.loads(first["request"])["user_column"] == "rider"


def test_a_whole_ledger_passes(run: Run, used: Reservation) -> None:
    """It passes with the head of a release; without one, it says that an old copy is not ruled out."""
    without, with_head = run("ledger", "verify"), run("ledger", "verify", "--head", used.mark.head)

    assert without.exit_code == with_head.exit_code == 0
    assert all(row[0] == "ok" for row in table("\n" + with_head.stdout))
    assert "pass --head" in without.stderr
    assert "not older than that head" in with_head.stderr
    assert json.loads(run("ledger", "verify", "--json").stdout)["ok"] is True


def test_an_old_copy_is_refused(run: Run, used: Reservation) -> None:
    """An old copy ends with exit code 5 where a head is given; by itself it would pass."""
    shutil.copy("hushgrid.ledger", "old.ledger")
    with open_ledger("hushgrid.ledger") as ledger:
        head = reserved(ledger).mark.head

    result = run("ledger", "verify", "--ledger", "old.ledger", "--head", head)
    assert result.exit_code == 5
    assert "FAILED  head" in result.stdout
    assert result.stderr == "hushgrid: error: the ledger old.ledger failed these checks: head.\n"
    assert run("ledger", "verify", "--ledger", "old.ledger").exit_code == 0


@pytest.mark.parametrize("command", ["show", "history", "verify"])
def test_an_edited_ledger_is_refused(run: Run, used: Reservation, command: str) -> None:
    """Every command ends with exit code 5 and names the event."""
    with sqlite3.connect("hushgrid.ledger") as connection:
        connection.execute("UPDATE hushgrid_events SET event = replace(event, '1/3', '1/4')")
    connection.close()

    result = run("ledger", command)
    assert result.exit_code == 5
    assert "event 4 was edited, moved or removed" in result.output


def test_a_busy_ledger_is_refused(run: Run, used: Reservation, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code is 5, and the message is a clear sentence."""
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    with open_ledger("hushgrid.ledger") as ledger, ledger._store.writing():
        result = run("ledger", "init", "--dataset", "homes", "--budget", "1", "--unit", "record")

    assert_refused(result, 5, "hushgrid.ledger is busy: another process", "Nothing was changed. Try again.")


@pytest.mark.parametrize("command", ["show", "history", "verify"])
def test_a_missing_ledger_is_refused_and_not_made(run: Run, tmp_path: Path, command: str) -> None:
    """The message names the command that makes a ledger."""
    assert_refused(run("ledger", command), 5, "hushgrid.ledger does not exist", "hushgrid ledger init")
    assert list(tmp_path.iterdir()) == []


def test_a_budget_cannot_be_raised(run: Run) -> None:
    """A second init of the same data set is refused, and names its budget."""
    run(*INIT)

    assert_refused(run(*INIT), 2, "already has the data set 'trips', with a budget of 3 for each user")


def test_the_environment_names_the_ledger(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """HUSHGRID_LEDGER names the ledger, so that a team need not repeat a URL."""
    monkeypatch.setenv("HUSHGRID_LEDGER", "team.ledger")
    run(*INIT)

    assert [path.name for path in tmp_path.iterdir()] == ["team.ledger"]


def test_control_characters_do_not_reach_the_terminal(run: Run) -> None:
    """A reason, or a ledger that somebody made up, may hold anything."""
    run(*INIT)
    with open_ledger("hushgrid.ledger") as ledger:
        reserved(ledger).abandon("red \x1b[31m and\nlines")

    assert "red  [31m and lines" in run("ledger", "history").stdout


@pytest.mark.parametrize("command", ["init", "show", "history", "verify"])
def test_every_help_shows_an_example(run: Run, command: str) -> None:
    """Every help text has a command line that can be copied."""
    assert f"hushgrid ledger {command}" in run("ledger", command, "--help").stdout.partition("Example:")[2]


def test_the_bare_name_prints_help(run: Run) -> None:
    """The group prints its help, as the whole program does."""
    assert run("ledger").stdout == run("ledger", "--help").stdout


@pytest.fixture
def monthly(run: Run) -> None:
    """A ledger with a budget for each month, two of which have spent, beside a data set with one budget."""
    run(*INIT)
    run("ledger", "init", "--dataset", "rides", "--budget", "1", "--unit", "user", "--per", "month")
    with open_ledger("hushgrid.ledger") as ledger:
        reserved(ledger, dataset="rides", period=in_period("2026-03")).commit(io.BytesIO(b"march"))
        reserved(ledger, dataset="rides", period=in_period("2026-02"), epsilon=Fraction("0.5"))


def test_months_and_their_sum_are_shown(run: Run, monthly: None) -> None:
    """In one table, the sum as its last row, and once more as a sentence."""
    shown = run("ledger", "show").stdout
    rows = table(shown)

    assert ["trips", "user", "3", "0", "0", "3"] in rows
    assert ["rides", "user", "2026-02", "1", "0", "0.5", "0.5"] in rows
    assert ["rides", "user", "2026-03", "1", "1", "0", "0"] in rows
    assert ["rides", "user", "all 2", "none", "1", "0.5"] in rows
    for text in (shown, run("ledger", "history").stdout):
        assert "Someone with records in all 2 months charged so far: epsilon 1.5" in " ".join(text.split())
    assert "someone in all of them: 1.5" in run("ledger", "verify").stdout


def test_months_and_their_sum_are_values(run: Run, monthly: None) -> None:
    """Exact, for programs; no month's account stands for the data set."""
    trips, rides = json.loads(run("ledger", "show", "--json").stdout)["datasets"]
    first, second = json.loads(run("ledger", "history", "--json").stdout)["entries"]

    assert (trips["per"], trips["left"], trips["lifetime"], trips["periods"]) == (None, "3", "0", [])
    assert (rides["per"], rides["left"], rides["lifetime"]) == ("month", None, "3/2")
    assert rides["periods"][0] == {"period": "2026-02", "spent": "0", "reserved": "1/2", "left": "1/2"}
    assert (first["period"], second["period"], second["prior"]) == ("2026-03", "2026-02", None)
