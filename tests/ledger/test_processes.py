"""Sixteen processes at once, and processes that are killed: the account holds."""

import hashlib
import json
import secrets
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hushgrid.ledger.book import State
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import CommittedRelease, Reservation
from tests.ledger.places import ASKED, asked, file_place, in_period, new_ledger

ROOT = Path(__file__).parents[2]


def harness(*arguments: object) -> Any:
    """What the harness prints."""
    command = [sys.executable, "-m", "tests.ledger.harness", *map(str, arguments)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


@pytest.fixture
def where(backend: str, request: pytest.FixtureRequest) -> str:
    """Where the harness makes its ledgers."""
    return "files" if backend == "sqlite" else str(request.getfixturevalue("server"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a name that no other has."""
    path = tmp_path / f"k{secrets.token_hex(6)}"
    path.mkdir()
    return path


def test_of_sixteen_that_ask_at_once_ten_are_granted(empty_place: str, folder: Path) -> None:
    """A budget that fits ten is spent to the last tenth; six are refused with exit code 4 and leave no file."""
    new_ledger(empty_place, budget=1)

    codes = harness("race", empty_place, folder, 16, "1/10")

    assert Counter(codes) == {0: 10, 4: 6}
    with open_ledger(empty_place) as ledger:
        book = ledger.book()
        assert ledger.verify().ok
    files = sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir())
    assert files == sorted(entry.sha256 or "" for entry in book.entries.values())
    assert (len(files), book.accounts["trips"].left) == (10, 0)


def test_of_sixteen_that_ask_for_two_months_each_month_grants_five(empty_place: str, folder: Path) -> None:
    """Every month is spent to its last tenth, and no more."""
    new_ledger(empty_place, budget="0.5", per="month")

    codes = harness("race", empty_place, folder, 16, "1/10", "2026-01", "2026-02")

    assert Counter(codes) == {0: 10, 4: 6}
    with open_ledger(empty_place) as ledger:
        account = ledger.book().accounts["trips"]
        assert ledger.verify().ok
    assert [(each.period, each.left) for each in account.by_period] == [("2026-01", 0), ("2026-02", 0)]
    assert account.lifetime == 1


def test_a_kill_leaves_the_account_of_a_period_right(where: str, folder: Path) -> None:
    """At some of the lines between opening the ledger and the end."""
    ends = [check_scene(place, Path(out), "2026-03") for place, out in harness("steps", where, folder, 23, "2026-03")]

    assert set(ends) >= {(None, False), ("reserved", False), ("committed", False)}
    assert ends[-1] == ("committed", True)


@pytest.mark.parametrize("stride", [17, pytest.param(1, marks=pytest.mark.slow)])
def test_a_kill_at_any_step_leaves_the_account_right(where: str, folder: Path, stride: int) -> None:
    """At each line that runs between opening the ledger and the end, or at some of them."""
    ends = [check_scene(place, Path(output)) for place, output in harness("steps", where, folder, stride)]

    assert len(ends) * stride > 250
    assert set(ends) >= {(None, False), ("reserved", False), ("committed", False)}
    assert ends[-1] == ("committed", True)


@pytest.mark.slow
def test_a_kill_at_any_time_leaves_the_account_right(where: str, folder: Path) -> None:
    """From outside, in the middle of what the database does too."""
    scenes = harness("times", where, folder, 100)
    ends = Counter(check_scene(place, Path(output)) for place, output in scenes)

    assert sum(ends.values()) == 100
    assert len(ends) > 1


def test_the_check_would_notice_a_release_without_an_entry(tmp_path: Path) -> None:
    """Negative control: a file that nobody committed."""
    place, output = new_ledger(file_place(tmp_path), budget=2), tmp_path / "out" / "trips.dp.parquet"
    output.parent.mkdir()
    output.write_bytes(b"shown too early")

    with pytest.raises(AssertionError):
        check_scene(place, output)


def check_scene(place: str, output: Path, period: str | None = None) -> tuple[State | None, bool]:
    """Look at what a killed process left, and ask again: the state of the entry, and whether there is a release.

    A release file has a committed entry of its hash. An entry, committed or not, is charged. Asking again gives back
    what was committed, and charges anew for what was not. An empty file is a name that was taken for a release that
    was committed.
    """
    with open_ledger(place) as ledger:
        assert ledger.verify().ok
        book = ledger.book()
        entry = book.entries.get(1)
        left = book.accounts["trips"].paying(period).left
        committed = entry is not None and entry.state == "committed"
        appeared = output.exists() and output.stat().st_size > 0
        if appeared:
            assert committed
            assert hashlib.sha256(output.read_bytes()).hexdigest() == entry.sha256
        if not committed:
            assert list(output.parent.iterdir()) == []
        assert len(book.entries) == (entry is not None)
        assert left == 2 - len(book.entries)
        again = ledger.reserve(ASKED if period is None else asked(period=in_period(period)))
        assert isinstance(again, CommittedRelease if committed else Reservation)
        assert ledger.book().accounts["trips"].paying(period).left == left - (not committed)
        assert isinstance(again, Reservation) or hashlib.sha256(again.read()).hexdigest() == again.sha256
        return None if entry is None else entry.state, appeared
