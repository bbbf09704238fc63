"""`hushgrid serve`: the address on stdout, answers until a signal, and a clean end."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.web.server import listen
from tests.checkout import with_usual_signals
from tests.cli.commands import DOMAIN, Run, assert_refused
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


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of releases of January and March, beside a file of points."""
    folder = tmp_path_factory.mktemp("series") / "months"
    folder.mkdir()
    for number, month in enumerate(("2026-01", "2026-03")):
        points = np.random.default_rng(number).normal([-74, 40.7], 0.05, (2000, 2))
        release = hg.publish(points, domain=DOMAIN, epsilon=1, method="ag", calibrate=False)
        release.save(folder / f"trips-{month}.dp.parquet")
    pq.write_table(pa.table({"lon": [-74.0], "lat": [40.7]}), folder / "trips.parquet")
    return folder


def test_a_folder_is_served_with_its_releases_and_what_they_are_together(months: Path, tmp_path: Path) -> None:
    """On the polygons given; the points beside them are left alone."""
    areas = tmp_path / "areas.geojson"
    square = {"type": "Feature", "properties": {"borough": "Kings"}, "geometry": shapely.box(*RECT).__geo_interface__}
    areas.write_text(json.dumps({"type": "FeatureCollection", "features": [square]}))
    with serving(months, "--polygons", areas, "--area-name", "borough") as (process, address):
        page = httpx.get(address, follow_redirects=True)
        told = httpx.get(f"{address}v1/series").json()
        names = [each["release"] for each in httpx.get(f"{address}v1/").json()["releases"]]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    (kings,) = told["levels"][-1]["places"]

    assert "<h1>months</h1>" in page.text
    assert names == ["trips-2026-01", "trips-2026-03"]
    assert told["periods"] == ["2026-01", "2026-02", "2026-03"]
    assert kings["name"] == "Kings"
    counts = [hg.read(file).count_polygons([shapely.box(*RECT)])[0] for file in sorted(months.glob("*.dp.parquet"))]
    assert kings["estimate"] == [counts[0], None, counts[1]]
    assert err == "Serving trips-2026-01, trips-2026-03. Stop with Ctrl-C.\nStopped.\n"


def test_a_folder_that_is_no_series_says_why(months: Path, release: Path, tmp_path: Path) -> None:
    """Its releases are served all the same; polygons of no series are refused."""
    folder = tmp_path / "mixed"
    shutil.copytree(months, folder)
    shutil.copy(release, folder / "trips.dp.parquet")
    with serving(folder) as (process, address):
        assert httpx.get(f"{address}v1/series").status_code == 404
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    assert "There is no page of all releases together: the name of trips holds no period, such as 2026-03." in err


def test_polygons_without_a_series_are_refused(run: Run, release: Path) -> None:
    """Before anything is served, with what they are for."""
    refused = run("serve", release, "--polygons", "areas.geojson", "--port", 0)
    assert_refused(refused, 2, "--polygons are areas of a series, which these releases are not")
    assert_refused(run("serve", release, "--area-name", "name", "--port", 0), 2, "Give --polygons FILE, too.")
