"""`hushgrid serve`: the address on stdout, answers until a signal, and a clean end."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import hushgrid as hg
from hushgrid.web.server import listen
from tests.checkout import with_usual_signals
from tests.cli.commands import Run, assert_refused
from tests.cli.test_processes import HUSHGRID

RECT = (-74, 40.7, -73.9, 40.8)


@contextmanager
def serving(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process, and the address it printed; it is stopped when the block ends."""
    command = [*HUSHGRID, "serve", *map(str, arguments), "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, preexec_fn=with_usual_signals) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("ending", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_releases_are_served_until_a_signal(release: Path, simulated: Path, ending: signal.Signals) -> None:
    """Python's number for a rectangle; then exit code 0, and nothing more on stdout."""
    with serving(release, simulated) as (process, address):
        values = httpx.get(f"{address}v1/trips/count", params={"rect": ",".join(map(str, RECT))}).json()
        page = httpx.get(address, follow_redirects=True)
        process.send_signal(ending)
        out, err = process.communicate(timeout=60)

    assert address.startswith("http://127.0.0.1:")
    assert values["answers"][0]["estimate"] == hg.read(release).count(RECT)
    assert "<h1>trips</h1>" in page.text
    assert (process.returncode, out) == (0, "")
    assert "simulation" in err
    assert err.endswith("Serving trips, trips-sim. Stop with Ctrl-C.\nStopped.\n")


def test_a_file_that_is_no_release_is_refused(run: Run, release: Path, points_file: Path) -> None:
    """Points and missing files are bad input, even beside a release: nothing is served."""
    assert_refused(run("serve", release, points_file, "--port", 0), 3, points_file.name)
    assert_refused(run("serve", "no.parquet", "--port", 0), 3, "no.parquet does not exist")


def test_a_port_that_is_taken_is_refused(run: Run, release: Path) -> None:
    """The exit code is 2 before anything is read, as for ports that do not exist and for no file at all."""
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert_refused(run("serve", "no.parquet", "--port", port), 2, f"port {port}")
    assert_refused(run("serve", release, "--port", 65536), 2, "--port")
    assert_refused(run("serve"), 2, "FILE")
