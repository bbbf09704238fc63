"""The installed command as a process: pipes, signals, terminals."""

import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from hushgrid.export.terminal import SHADES
from tests.checkout import with_usual_signals
from tests.cli.commands import ROWS
from tests.slices import some_slices

HUSHGRID = [sys.executable, "-m", "hushgrid"]
PUBLISH = ["publish", "--domain", "-74.26,40.48,-73.70,40.92", "--epsilon", "1", "-o", "out.dp.parquet"]

# Stands for a user who presses Ctrl-C while points are read.
INTERRUPTED = """
import os, signal, sys, time
import hushgrid.cli, hushgrid.release.request

def open_points(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)

hushgrid.release.request.open_points = open_points
hushgrid.cli.main(sys.argv[1:])
"""


def test_a_release_is_published_and_asked(points_file: Path, tmp_path: Path) -> None:
    """Both streams are what a shell would see."""
    made = subprocess.run([*HUSHGRID, *PUBLISH, points_file], cwd=tmp_path, capture_output=True, text=True, check=True)
    asked = subprocess.run(
        [*HUSHGRID, "query", made.stdout.strip(), "--rect", "-74,40.7,-73.9,40.8", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert made.stdout == "out.dp.parquet\n"
    assert "Reading points" not in made.stderr
    assert len(json.loads(asked.stdout)["answers"]) == 1
    assert asked.stderr == ""


def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    """A missing file ends the process with code 3."""
    done = subprocess.run([*HUSHGRID, "describe", "no.parquet"], cwd=tmp_path, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "hushgrid: error: no.parquet does not exist.\n"


def test_a_broken_pipe_is_quiet(release: Path) -> None:
    """A reader that has seen enough, such as head, causes no message."""
    rects = "-74,40.7,-73.9,40.8\n" * 50_000
    with subprocess.Popen(
        [*HUSHGRID, "query", release, "--rects", "-", "--csv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdin.write(rects)
        process.stdin.close()
        process.stdout.readline()
        process.stdout.close()

        assert process.stderr.read() == ""


def test_an_interrupt_ends_with_130_and_writes_nothing(points_file: Path, tmp_path: Path) -> None:
    """A real signal, while points are read."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *PUBLISH, points_file],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=with_usual_signals,
    )

    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.split("\n") == [
        "No release was made, so nothing was spent.",
        "",
        "hushgrid: interrupted. No file was left half-written.",
        "",
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal(points_file: Path, tmp_path: Path) -> None:
    """A bar in percent, on stderr, and no number of rows in it."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*HUSHGRID, *PUBLISH, points_file], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        shown = _read_to_end(ours)

        assert process.stdout.read() == "out.dp.parquet\n"
    assert "Reading points" in shown
    assert "Finding the width of intervals" in shown
    assert "%" in shown
    assert str(ROWS) not in shown.replace(",", "")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_gets_a_small_picture(release: Path) -> None:
    """After the words, as densities in letters; a pipe gets words alone."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*HUSHGRID, "describe", release], stdout=theirs, stderr=subprocess.PIPE):
        os.close(theirs)
        shown = _read_to_end(ours).replace("\r\n", "\n")
    piped = subprocess.run([*HUSHGRID, "describe", release], capture_output=True, text=True, check=True).stdout

    assert shown.startswith(piped)
    assert SHADES[-1] in shown.removeprefix(piped)
    assert not set(SHADES[2:]) & set(piped)


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("total", [True, False])
def test_a_terminal_says_which_slice_is_drawn(tmp_path: Path, total: bool) -> None:
    """The first one, where no total was released."""
    path = tmp_path / "kinds.dp.parquet"
    some_slices(total=total).save(path)
    ours, theirs = pty.openpty()
    with subprocess.Popen([*HUSHGRID, "describe", path], stdout=theirs, stderr=subprocess.PIPE):
        os.close(theirs)
        shown = _read_to_end(ours)

    assert ("Of the slice car:" in shown) == (not total)


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii", "utf-8"])
def test_signs_that_a_terminal_does_not_know_are_spelt(encoding: str, tmp_path: Path) -> None:
    """A statement has an epsilon, and a file need not have a name in Unicode: neither ends a command."""
    path = tmp_path / os.fsdecode(b"kinds\xff.dp.parquet")
    some_slices().save(tmp_path / "kinds.dp.parquet")
    (tmp_path / "kinds.dp.parquet").rename(path)
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for command in (["describe"], ["manifest"], ["manifest", "--language", "fr"], ["map", "-o", tmp_path / "map.html"]):
        done = subprocess.run([*HUSHGRID, *command, path], env=environment, capture_output=True, check=False)
        assert (done.returncode, b"unexpected" in done.stderr) == (0, False), done.stderr
        (tmp_path / "map.html").unlink(missing_ok=True)


def _read_to_end(terminal: int) -> str:
    parts = []
    with suppress(OSError):  # how a terminal says that the other side has gone
        while part := os.read(terminal, 2**16):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()
