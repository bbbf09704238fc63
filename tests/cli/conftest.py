"""Points, releases and a way to run commands, shared by the tests of the command line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import hushgrid as hg
from hushgrid.cli import main
from tests.cli.commands import DOMAIN, ROWS, Run


@pytest.fixture(scope="session")
def points() -> pa.Table:
    """Points around a city, nearly all of them in the domain."""
    rng = np.random.default_rng(2)
    return pa.table({"lon": rng.normal(-73.95, 0.05, ROWS), "lat": rng.normal(40.75, 0.05, ROWS)})


@pytest.fixture(scope="session")
def points_file(points: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The points as a Parquet file."""
    path = tmp_path_factory.mktemp("points") / "trips.parquet"
    pq.write_table(points, path)
    return path


@pytest.fixture(scope="session")
def release(points: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the points."""
    path = tmp_path_factory.mktemp("release") / "trips.dp.parquet"
    hg.publish(points, domain=DOMAIN, epsilon=1).save(path)
    return path


@pytest.fixture(scope="session")
def simulated(points: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulation of the same."""
    path = tmp_path_factory.mktemp("simulation") / "trips.sim.parquet"
    hg.publish(points, domain=DOMAIN, epsilon=1, rng=hg.simulation_rng(1)).save(path, allow_simulation=True)
    return path


@pytest.fixture(scope="session")
def contradictory(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose counts do not follow from its measurements."""
    path = tmp_path_factory.mktemp("contradiction") / "trips.dp.parquet"
    synopsis = hg.read(release)
    replace(synopsis, counts=synopsis.counts + 1).save(path)
    return path


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder; its arguments may be anything with a text."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)

    return invoke


@pytest.fixture
def publish(run: Run, points_file: Path) -> Run:
    """Run `hushgrid publish` on the points, or on another file; options given again replace those given here."""

    def invoke(*options: object, points: Path = points_file) -> Result:
        given = ["--domain", "-74.26,40.48,-73.70,40.92", "--epsilon", "1", "-o", "out.dp.parquet"]
        return run("publish", points, *given, *options)

    return invoke
