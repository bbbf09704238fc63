"""An engine that breaks off in the middle of a pass leaves no release, a spent entry, and a way to go on."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hushgrid as hg
from hushgrid.cli import main
from hushgrid.counting import quadtree
from hushgrid.ledger.book import State
from hushgrid.ledger.ledger import open_ledger
from tests.conformance.engines import why_no_spark
from tests.ledger.broken_runs import (
    FIRST_LEVEL,
    LEDGER,
    OUTPUT,
    SIZE,
    arguments,
    broken_off,
    kept_draws,
    on_spark,
)
from tests.ledger.server import running_server, why_not

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own

ROOT = Path(__file__).parents[2]
ACTIVE = "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query ~ %s"


@pytest.fixture(autouse=True)
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger in an empty folder that grants each record of the data set trips 2."""
    monkeypatch.chdir(tmp_path)
    with open_ledger(LEDGER, create=True) as ledger:
        ledger.add_dataset("trips", budget=2, unit="record")


@pytest.fixture(scope="module")
def server():
    """The URL of a PostgreSQL server of our own, with a table of points."""
    if reason := why_not():
        pytest.skip(reason)
    with running_server() as url:
        with psycopg.connect(url) as connection:
            connection.execute(
                "CREATE TABLE trips AS SELECT random() AS lon, random() AS lat FROM generate_series(1, 200000)"
            )
        yield url


def state() -> tuple[State, int]:
    """That of the one entry of the ledger, and what is left of the budget."""
    with open_ledger(LEDGER) as ledger:
        assert ledger.verify().ok
        book = ledger.book()
        assert len(book.entries) == 1
        return book.entries[1].state, book.accounts["trips"].left


def assert_says_how_to_go_on(stderr: str, engine: str) -> None:
    """What was spent, what to do, and nothing of the engine's own words."""
    assert f"{engine} failed while counting" in stderr
    assert "epsilon 1 of the data set 'trips' stays spent by entry 1" in stderr
    assert "--resume 1" in stderr
    assert "Traceback" not in stderr
    assert "py4j" not in stderr


def assert_released(first: dict[int, object]) -> None:
    """The release has the draws that the ledger had kept of the run that failed."""
    synopsis = hg.read(OUTPUT)
    assert synopsis.claim.size is not None
    assert synopsis.claim.size.value == first[SIZE]
    np.testing.assert_array_equal(synopsis.measurements.region_values.values, first[FIRST_LEVEL])
    assert state() == ("committed", 1)


BREAKS = {
    "in the copy": ("select=SELECT lon, lat FROM trips, pg_sleep(60)", "INSERT INTO"),
    "in the second pass": ("table=trips", "first_leaf"),
}


@pytest.mark.parametrize(("ending", "query"), BREAKS.values(), ids=BREAKS)
def test_a_lost_connection_is_paid_for(server: str, ending: str, query: str) -> None:
    """The server ends the connection in the middle of a query. Its table may have changed before another run."""
    given = arguments(f"{server}&{ending}")
    with psycopg.connect(server, autocommit=True) as connection:

        def terminate() -> bool:
            pids = connection.execute(ACTIVE, [query]).fetchall()
            for pid in pids:
                connection.execute("SELECT pg_terminate_backend(%s)", pid)
            return bool(pids)

        with broken_off(terminate, begun=lambda: True) as done:
            broken = CliRunner().invoke(main, given)

    assert done.is_set()
    assert broken.exit_code == 1
    assert "PostgreSQL failed while counting" in broken.stderr
    assert "stays spent by entry 1 of the ledger, and no run can go on with it" in broken.stderr
    assert "--resume" not in broken.stderr
    assert "Traceback" not in broken.stderr
    assert list(Path().iterdir()) == [Path(LEDGER)]
    assert state() == ("abandoned", 1)

    resumed = CliRunner().invoke(main, [*given, "--resume", "1"])

    assert resumed.exit_code == 5
    assert "entry 1 is already abandoned. Ask for a new release" in resumed.stderr


def test_cells_that_are_counted_ahead_are_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """STAQ breaks off in its second query, and goes on with the draws that followed from the first."""
    monkeypatch.setattr(quadtree, "DENSE_LEVEL", 3)
    places = np.random.default_rng(4).random((2, 20_000))
    pq.write_table(pa.table({"lon": places[0], "lat": places[1]}), "trips.parquet")
    given = [*arguments("trips.parquet", "--engine", "duckdb"), "--method", "staq"]
    run, queries = nw.LazyFrame.collect, []

    def breaking(query: Any) -> Any:
        queries.append(query)
        if len(queries) == 2:
            raise ConnectionResetError
        return run(query)

    monkeypatch.setattr(nw.LazyFrame, "collect", breaking)
    broken = CliRunner().invoke(main, given)
    first = kept_draws()
    resumed = CliRunner().invoke(main, [*given, "--resume", "1"])

    assert_says_how_to_go_on(broken.stderr, "DuckDB")
    assert resumed.exit_code == 0, resumed.output
    assert list(first) == [SIZE, FIRST_LEVEL]
    synopsis = hg.read(OUTPUT)
    assert synopsis.claim.size is not None
    assert synopsis.claim.size.value == first[SIZE]
    assert len(queries) >= 4
    assert state() == ("committed", 1)


@pytest.mark.slow
def test_a_killed_job_can_be_made_up_for(tmp_path: Path) -> None:
    """Of Spark: first its jobs are cancelled, then, as the run goes on, its process is killed."""
    if reason := why_no_spark():
        pytest.skip(reason)
    Path("trips").mkdir()
    places = np.random.default_rng(4).random((2, 2_000_000))  # so many that a job is still there when it is looked for
    pq.write_table(pa.table({"lon": places[0], "lat": places[1]}), "trips/part-0.parquet")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.ledger.broken_runs", "trips/part-0.parquet"]

    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)

    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    assert [end["broken"] for end in ends] == [True, True]
    for end in ends:
        assert end["code"] == 1
        assert_says_how_to_go_on(end["stderr"], "Spark")
        assert end["left"] == [LEDGER, "trips"]
    assert "Exception" not in done.stderr
    assert state() == ("reserved", 1)
    first = kept_draws()
    assert list(first) == [SIZE, FIRST_LEVEL]

    command = [sys.executable, "-m", "hushgrid", *on_spark("trips/part-0.parquet", "--resume", "1")]
    resumed = subprocess.run(command, check=False, capture_output=True, text=True)

    assert resumed.returncode == 0, resumed.stderr
    assert_released(first)
