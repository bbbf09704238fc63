"""Ctrl-C and its kin, by real signals to a real process that is reading points."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hushgrid.ledger.ledger import open_ledger
from tests.checkout import with_usual_signals
from tests.newcomer.desk import hushgrid
from tests.newcomer.mistakes import PUBLISH

# Says that points are being read, and then takes its time with them.
READING = """
import sys, time
import hushgrid.cli, hushgrid.release.request
from hushgrid.counting.counter import PointCounter

def slowly(*_, **__):
    print("reading", file=sys.stderr, flush=True)
    time.sleep(60)

PointCounter.count = PointCounter.total = slowly
hushgrid.cli.main(sys.argv[1:], prog_name="hushgrid")
"""

# Says that points are being read, waits for the signal, and counts them.
READING_ON = """
import sys, time
import hushgrid.cli
from hushgrid.counting.counter import PointCounter

count = PointCounter.count

def slowly(*arguments, **options):
    print("reading", file=sys.stderr, flush=True)
    time.sleep(2)
    return count(*arguments, **options)

PointCounter.count = slowly
hushgrid.cli.main(sys.argv[1:], prog_name="hushgrid")
"""

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)


def stopped(
    arguments: Sequence[str],
    number: signal.Signals,
    *,
    stdin: bytes = b"",
    start: Callable[[], None] = with_usual_signals,
    program: str = READING,
) -> tuple[int, str]:
    """Exit code and stderr of a command that gets a signal while it reads points."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=False,
        preexec_fn=start,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(stdin)
        process.stdin.close()
        said = b""
        for line in process.stderr:
            said += line
            if line == b"reading\n":
                break
        os.kill(process.pid, number)
        said += process.stderr.read()
        assert process.stdout is not None
        assert process.stdout.read() == (b"new.dp.parquet\n" if process.wait() == 0 else b"")
    return process.returncode, said.decode().replace("reading\n", "")


@SIGNALS
def test_without_a_ledger_nothing_is_spent_or_left(desk: Path, number: signal.Signals) -> None:
    """An interrupted run says that nothing was spent, and leaves no file."""
    before = sorted(desk.iterdir())
    code, said = stopped(PUBLISH.split()[1:], number)

    assert code == 130
    assert "No release was made, so nothing was spent." in said
    assert "hushgrid: interrupted. No file was left half-written." in said
    assert sorted(desk.iterdir()) == before


def test_with_a_ledger_it_says_what_is_spent_and_how_to_go_on(desk: Path) -> None:
    """What it says is what the ledger says, and the option that goes on with it works."""
    before = sorted(desk.iterdir())
    command = f"{PUBLISH} --dataset trips"
    code, said = stopped(command.split()[1:], signal.SIGINT)

    assert code == 130
    assert "epsilon 1 of the data set 'trips' stays spent by entry 1 of the ledger" in said
    assert "--resume 1 (in Python, resume=1) goes on with it at no further cost" in said
    assert sorted(desk.iterdir()) == before
    with open_ledger("hushgrid.ledger") as ledger:
        assert ledger.book().account("trips").left == 0
    assert hushgrid(f"{command} --resume 1").exit_code == 0


@SIGNALS
def test_no_copy_of_standard_input_is_left(desk: Path, tmp_path: Path, monkeypatch, number: signal.Signals) -> None:
    """The points in it are private."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    command = PUBLISH.replace("trips.parquet", "-").split()[1:]
    code, _ = stopped(command, number, stdin=Path("trips.csv").read_bytes())

    assert code == 130
    assert not [path for path in place.iterdir() if path.name.startswith("hushgrid-")]


def as_nohup() -> None:
    """Start as ``nohup`` starts a program."""
    with_usual_signals()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_a_run_under_nohup_outlives_its_terminal(desk: Path) -> None:
    """What the signal would end goes on, and a release is made."""
    code, said = stopped(PUBLISH.split()[1:], signal.SIGHUP, start=as_nohup, program=READING_ON)

    assert code == 0, said
    assert "interrupted" not in said
    assert hushgrid("hushgrid verify new.dp.parquet").exit_code == 0


def test_a_run_under_nohup_still_ends_when_told_to(desk: Path) -> None:
    """By Ctrl-C or SIGTERM, in good order."""
    for number in (signal.SIGINT, signal.SIGTERM):
        code, said = stopped(PUBLISH.split()[1:], number, start=as_nohup)
        assert code == 130
        assert "hushgrid: interrupted. No file was left half-written." in said
