"""Mistakes of a steward cost nothing, and the command that is shown instead works."""

from fractions import Fraction
from pathlib import Path

import pytest

import hushgrid as hg
from hushgrid.ledger.ledger import open_ledger
from tests.newcomer.desk import NEW_YORK, hushgrid
from tests.newcomer.steward import STEWARD, Row, publish

ALL = pytest.mark.parametrize("row", STEWARD.values(), ids=STEWARD)
SHOWN = {name: row for name, row in STEWARD.items() if row.shown}


def spent() -> Fraction:
    """What the ledger on the desk has charged, to finished releases and to others."""
    with open_ledger("hushgrid.ledger") as ledger:
        account = ledger.book().accounts["trips"]
    return account.budget - account.left


def test_no_two_mistakes_are_the_same() -> None:
    """There are more than fifty."""
    assert len({row.typed for row in STEWARD.values()}) == len(STEWARD) > 50


@ALL
def test_a_mistake_ends_as_the_table_says(desk: Path, row: Row) -> None:
    """By its exit code, its sentence and its price; no release is left behind."""
    before = sorted(desk.rglob("*"))
    result = hushgrid(f"hushgrid {row.typed}")

    assert (result.exit_code, result.stdout) == (row.code, ""), result.stderr
    assert row.sentence in result.stderr
    assert row.shown in result.stderr
    assert ("Try: " in result.stderr or ": hushgrid " in result.stderr) or not row.shown
    assert spent() == Fraction(row.spent)
    assert sorted(desk.rglob("*")) == before


@pytest.mark.parametrize("row", SHOWN.values(), ids=SHOWN)
def test_the_command_shown_works(desk: Path, row: Row) -> None:
    """Once its blank is filled in; then, and only then, a release is paid for."""
    (line,) = (line for line in hushgrid(f"hushgrid {row.typed}").stderr.splitlines() if row.shown in line)
    command = "hushgrid " + line.partition("Try: hushgrid " if "Try: " in line else ": hushgrid ")[2]
    result = hushgrid(command.replace(*row.filled) if row.filled[0] else command)

    assert result.exit_code == 0, result.stderr
    assert (spent() > 0) == row.typed.startswith("publish")


def test_a_spreadsheet_counts_like_the_table_it_was_saved_from(desk: Path) -> None:
    """Semicolons and decimal commas, at an epsilon that leaves no doubt; with a decimal point nobody would be there."""
    options = "--epsilon 100 --method uniform --no-calibrate"
    totals = []
    for name, signs in {"trips.csv": "", "spreadsheet.csv": "--decimal ,", "empty.csv": "--decimal ."}.items():
        points = "spreadsheet.csv" if name == "empty.csv" else name
        command = publish(points, signs, options=f"{options} -o {name}.dp.parquet")
        assert hushgrid(f"hushgrid {command}").exit_code == 0
        totals.append(round(hg.read(f"{name}.dp.parquet").total))

    assert totals[0] == totals[1] > 0
    assert totals[2] == 0
    assert hg.read("spreadsheet.csv.dp.parquet").domain == NEW_YORK
