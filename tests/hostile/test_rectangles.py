"""Files of rectangles: answered, or refused in one line; what is written is numbers."""

import csv
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile.conftest import Tried
from tests.hostile.outcomes import command, limited, mutants, strange_paths
from tests.hostile.releases import small_release

VALID = b"name,west,south,east,north\na,0,0,1,1\nb,0.5,0.5,2,1\n"
FIELDS = st.sampled_from(
    ["0", "1", "nan", "inf", "-inf", "1e400", "-0", "1_0", "٣", "=1+1", '"', '""', "\0", "", " ", "x" * 500, "west"]
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release to ask."""
    return small_release(tmp_path_factory.mktemp("release"))


def ask(release: Path, content: bytes, tried: Tried) -> None:
    """From a pipe, since that is no other reader; what comes out as CSV are numbers, so that none is a formula."""
    with tried.one():
        result = command("query", release, "--rects", "-", "--csv", stdin=content)
    for row in list(csv.reader(result.stdout.splitlines()))[1:]:
        assert [float(field) for field in row] == pytest.approx([float(field) for field in row], nan_ok=True)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.lists(FIELDS, max_size=6).map(",".join), max_size=4), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_rows_of_strange_fields(rows: list[str], end: str, release: Path, tried: Tried) -> None:
    """Numbers without end, quotes without partner, null characters, formulas, digits of other scripts."""
    ask(release, end.join(rows).encode(), tried)
    if tried.inputs == 200:
        tried.at_least(200)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=200))
def test_any_bytes(content: bytes, release: Path, tried: Tried) -> None:
    """Any bytes as a file of rectangles are read or refused."""
    ask(release, content, tried)
    if tried.inputs == 100:
        tried.at_least(100)


def test_mutated_files(release: Path, tried: Tried) -> None:
    """Bytes flipped, cut out, doubled and overwritten."""
    for mutant in mutants(VALID, 200, seed=1):
        ask(release, mutant, tried)
    tried.at_least(200)


LONG = {
    "a line of 100,000 digits": b"1" * 100_000,
    "a field of 100,000 digits in quotes": b'"' + b"1\n" * 50_000,
    "a line of 100,000 fields": b"0," * 100_000,
    "a header of 100,000 letters": b"west," + b"x" * 100_000,
    "no bytes": b"",
    "null characters": bytes(100_000),
}


@pytest.mark.parametrize("content", LONG.values(), ids=LONG)
def test_long_lines(content: bytes, release: Path, tried: Tried) -> None:
    """They are refused, and not quoted in full."""
    with tried.one():
        result = command("query", release, "--rects", "-", stdin=content)
    assert len(result.output) < 1000
    tried.at_least(1)


def test_a_line_without_end(release: Path, tried: Tried) -> None:
    """A pipe that never stops sending null characters: refused after the first few, in a process of 3 GB."""
    with Path("/dev/zero").open("rb") as endless, tried.one():
        result = limited("query", release, "--rects", "-", stdin=endless.fileno())
    assert result.returncode == 3
    tried.at_least(1)


def test_paths_that_are_no_files(release: Path, tmp_path: Path, tried: Tried) -> None:
    """Folders, pipes, devices, links to themselves and to nowhere, and names too long."""
    for name, path in strange_paths(tmp_path, "r.csv").items():
        with tried.one():
            assert command("query", release, "--rects", path).exit_code == 3, name
    tried.at_least(10)


def test_a_pipe_is_refused_before_anybody_waits_for_it(release: Path, tmp_path: Path, tried: Tried) -> None:
    """Nobody will ever write to it."""
    os.mkfifo(tmp_path / "pipe")
    with tried.one():
        result = limited("query", release, "--rects", tmp_path / "pipe", stdin=subprocess.DEVNULL)
    assert "not a regular file" in result.stderr
    tried.at_least(1)
