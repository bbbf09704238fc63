"""Standard input, standard output and terminals."""

import os
import pty
import re
import stat
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import hushgrid as hg
from tests.newcomer.desk import W_S_E_N, hushgrid
from tests.newcomer.mistakes import OPTIONS, QUERY

FROM_STDIN = f"hushgrid publish - --domain {W_S_E_N} {OPTIONS}"
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("name", ["trips.csv", "trips.parquet"])
def test_points_come_from_standard_input(desk: Path, name: str, monkeypatch, tmp_path: Path) -> None:
    """They are told apart by how they begin, and the copy of them is gone in the end."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(tmp_path.iterdir())
    result = hushgrid(FROM_STDIN, stdin=(desk / name).read_bytes())

    assert result.exit_code == 0, result.stderr
    assert hg.read("new.dp.parquet").claim.epsilon == 1
    assert sorted(tmp_path.iterdir()) == before


def test_the_copy_is_the_owner_s_alone(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is there, no one else may read it; a message calls it standard input."""
    seen = []

    def look(path: Path, **_: object) -> None:
        seen.append(stat.S_IMODE(path.stat().st_mode))
        msg = f"{path} cannot be read."
        raise hg.errors.InputError(msg)

    monkeypatch.setattr("hushgrid.release.request.open_points", look)
    result = hushgrid(FROM_STDIN, stdin=b"lon,lat\n1,2\n")

    assert seen == [0o600]
    assert result.stderr == "hushgrid: error: standard input cannot be read.\n"


def test_points_of_a_ledger_come_from_files(desk: Path) -> None:
    """A run that is cut off could not go on otherwise."""
    result = hushgrid(f"{FROM_STDIN} --dataset trips", stdin=b"lon,lat\n")

    assert result.exit_code == 2
    assert "Save it to a file first." in result.stderr


@pytest.mark.parametrize(
    "command", [QUERY, "hushgrid describe trips.dp.parquet --json", "hushgrid verify trips.dp.parquet"]
)
def test_releases_come_from_standard_input(desk: Path, command: str) -> None:
    """The answer is that of the file, but for its name."""
    piped = hushgrid(command.replace("trips.dp.parquet", "-"), stdin=Path("trips.dp.parquet").read_bytes())

    assert piped.exit_code == 0, piped.stderr
    assert piped.stdout.replace('"file": "-"', "") == hushgrid(command).stdout.replace('"file": "trips.dp.parquet"', "")


def test_two_things_cannot_come_from_standard_input(desk: Path) -> None:
    """A release and rectangles cannot both come from standard input."""
    result = hushgrid("hushgrid query - --rects -", stdin=b"")

    assert result.exit_code == 2
    assert "only one of FILE and --rects" in result.stderr


@pytest.mark.parametrize("kind", ["csv", "geojson", "gpkg", "geotiff", "png"])
def test_exports_go_to_standard_output(desk: Path, kind: str) -> None:
    """Byte for byte what a file would hold where that is fixed, and no path is printed."""
    result = hushgrid(f"hushgrid export trips.dp.parquet --to {kind} -o -")
    ending = {"geotiff": "tif"}.get(kind, kind)
    assert hushgrid(f"hushgrid export trips.dp.parquet --to {kind} -o cells.{ending}").exit_code == 0

    assert result.exit_code == 0, result.stderr
    written = Path(f"cells.{ending}").read_bytes()
    assert result.stdout_bytes == written if kind != "gpkg" else result.stdout_bytes[:16] == written[:16]
    assert not Path("-").exists()


def test_synthetic_points_and_maps_go_to_standard_output(desk: Path) -> None:
    """With -o -, points come as CSV and a map as HTML."""
    points = hushgrid("hushgrid sample trips.dp.parquet -n 50 -o -")
    page = hushgrid("hushgrid map trips.dp.parquet -o -")

    assert pyarrow.csv.read_csv(pa.py_buffer(points.stdout_bytes)).num_rows == 50
    assert page.stdout.startswith("<!doctype html>")


def test_pipes_work_in_a_shell(desk: Path) -> None:
    """From points to synthetic points, as a newcomer would type it."""
    line = (
        f"cat trips.csv | hushgrid publish - --domain {W_S_E_N} {OPTIONS} 2> notes.txt && "
        "cat new.dp.parquet | hushgrid sample - -n 20 -o - 2>> notes.txt | wc -l"
    )
    command = f'hushgrid() {{ {sys.executable} -m hushgrid "$@"; }}; set -o pipefail; {line}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["new.dp.parquet", "21"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)], ids=["usual", "NO_COLOR"]
)
def test_colours_are_for_terminals_that_want_them(desk: Path, environment: dict[str, str], coloured: bool) -> None:
    """A bar has colours on a terminal, and none with NO_COLOR; elsewhere there is no bar."""
    ours, theirs = pty.openpty()
    arguments = FROM_STDIN.replace("publish -", "publish trips.parquet").split()[1:]
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "hushgrid", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**known, "TERM": "xterm-256color", **environment},
    ):
        os.close(theirs)
        shown = _read_to_end(ours)

    assert b"Reading points" in shown
    assert any(code not in (b"\x1b[0m", b"\x1b[1m", b"\x1b[2m") for code in COLOUR.findall(shown)) is coloured


@pytest.mark.parametrize("command", ["hushgrid --help", QUERY, "hushgrid describe trips.dp.parquet"])
def test_nothing_is_coloured_in_a_pipe(desk: Path, command: str) -> None:
    """There is no escape sequence, even where other programs would force colours."""
    result = hushgrid(command)

    assert "\x1b" not in result.output


def _read_to_end(terminal: int) -> bytes:
    parts = []
    with suppress(OSError):  # how a terminal says that the other side has gone
        while part := os.read(terminal, 2**16):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts)
