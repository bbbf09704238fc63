"""`hushgrid publish` with points that an engine reads."""

import gzip
from pathlib import Path

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from tests.cli.commands import DOMAIN, ROWS, Run, assert_refused
from tests.ledger.server import running_server, why_not

OUTPUT = Path("out.dp.parquet")
PATTERN = "x/*.csv.gz"
QUERY = "SELECT lon, lat FROM 'x/*.parquet'"


@pytest.fixture
def packed(run: Run, points: pa.Table) -> None:
    """The points as two Parquet and two packed CSV files, in the folder that commands run in."""
    Path("x").mkdir()
    for name, part in {"a": points.slice(0, 20_000), "b": points.slice(20_000)}.items():
        pq.write_table(part, f"x/{name}.parquet")
        with gzip.open(f"x/{name}.csv.gz", "wb") as file:
            pyarrow.csv.write_csv(part, file)


def about_all_points(output: Path) -> bool:
    """Whether a release holds all points that there are, but for those few outside and the noise."""
    return bool(abs(hg.read(output).answer(DOMAIN.bounds).estimate / ROWS - 1) < 0.01)


@pytest.mark.parametrize("given", [QUERY, PATTERN, "x/*.parquet"], ids=["query", "CSV", "Parquet"])
@pytest.mark.usefixtures("packed")
def test_duckdb_counts_what_it_reads(publish: Run, given: str) -> None:
    """Files of a pattern, by name or in a query."""
    result = publish("--engine", "duckdb", "--method", "ag", points=given)

    assert result.exit_code == 0, result.output
    assert result.stdout == f"{OUTPUT}\n"
    assert about_all_points(OUTPUT)
    assert str(ROWS) not in result.output


@pytest.mark.parametrize("given", [QUERY, "x/*.parquet", "x/a.parquet"], ids=["query", "pattern", "file"])
@pytest.mark.usefixtures("packed")
def test_a_release_does_not_replace_what_an_engine_reads(run: Run, given: str) -> None:
    """Whoever counts, the points stay as they are."""
    points, bounds = Path("x/a.parquet").read_bytes(), ",".join(map(str, DOMAIN.bounds))
    asked = ("--engine", "duckdb", "--domain", bounds, "--epsilon", "1", "-o", "x/a.parquet", "--overwrite")

    assert_refused(run("publish", given, *asked), 2, "is the file of the points themselves")
    assert Path("x/a.parquet").read_bytes() == points


def test_a_url_is_counted_by_its_server(publish: Run, points: pa.Table) -> None:
    """PostgreSQL, by a table of it."""
    if reason := why_not():
        pytest.skip(reason)
    with running_server() as url:
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE trips (lon double precision, lat double precision)")
            with cursor.copy("COPY trips FROM STDIN") as copy:
                for row in np.column_stack([points["lon"], points["lat"]]).tolist():
                    copy.write_row(row)
        result = publish("--method", "ug", points=f"{url}&table=trips")

    assert result.exit_code == 0, result.output
    assert about_all_points(OUTPUT)


def test_a_server_is_divided_by_month_and_hour(publish: Run, run: Run) -> None:
    """A month is charged to its own account, and stays so where a row of it stops the query."""
    if reason := why_not():
        pytest.skip(reason)
    run("ledger", "init", "--dataset", "trips", "--unit", "record", "--budget", "1", "--per", "month")
    of_march = ("--period", "2026-03", "--time", "at", "--timezone", "America/New_York", "--dataset", "trips")
    of_february = ("--period", "2026-02", *of_march[2:])
    with running_server() as url:
        with psycopg.connect(url) as connection:
            # A record an hour, of which New York has 28 * 24 in February, and one less than 31 * 24 in March.
            rows = "generate_series('2026-01-01'::timestamptz, '2026-06-01', '1 hour') AS times(at)"
            connection.execute(
                f"CREATE TABLE trips AS SELECT -74.0::float8 AS lon, 40.7::float8 AS lat, at FROM {rows}"
            )
        march = publish(*of_march, "--method", "uniform", "--size-from", "domain", points=f"{url}&table=trips")
        whole = hg.read(OUTPUT)
        failing = "SELECT lon, lat, at + (1 / (lat - 40.7))::int * interval '1 s' AS at FROM trips"
        broken = publish(*of_february, "--overwrite", points=f"{url}&select={failing}")
        hours = publish(
            "--time", "at", "--slices", "hour", "--overwrite", "--method", "ug", points=f"{url}&table=trips"
        )

    assert march.exit_code == hours.exit_code == 0, march.output + hours.output
    assert isinstance(whole, hg.Synopsis)
    assert abs(whole.answer(DOMAIN.bounds).estimate - 743) < 30
    assert broken.exit_code != 0
    assert "PostgreSQL failed while counting" in broken.stderr
    assert "epsilon 1 of 2026-02 of 'trips' stays spent by entry 2" in broken.stderr
    assert list(hg.read(OUTPUT)) == [f"{hour:02}" for hour in range(24)]


@pytest.mark.usefixtures("packed")
def test_a_ledger_tells_queries_apart(publish: Run, run: Run) -> None:
    """Another choice of rows is another release; the same query gives back the same one."""
    run("ledger", "init", "--dataset", "trips", "--unit", "record", "--budget", "3")
    options = ("--engine", "duckdb", "--method", "ug", "--dataset", "trips", "--overwrite")

    first = publish(*options, points=QUERY)
    again = publish(*options, points=QUERY)
    other = publish(*options, points=f"{QUERY} WHERE lon < -73.9")

    assert [result.exit_code for result in (first, again, other)] == [0, 0, 0], first.output
    assert "nothing was spent" in again.stderr
    assert "nothing was spent" not in other.stderr


@pytest.mark.usefixtures("packed")
def test_points_that_cannot_be_opened_cost_nothing_unless_rows_may_have_been_read(publish: Run, run: Run) -> None:
    """The ledger gives the budget back for a file that is not there, and not for a query that DuckDB looked into."""
    run("ledger", "init", "--dataset", "trips", "--unit", "record", "--budget", "1")

    missing = publish("--engine", "duckdb", "--dataset", "trips", points="y/*.csv.gz")
    looked_into = publish("--engine", "duckdb", "--dataset", "trips", points="SELECT lon, up FROM 'x/*.parquet'")

    assert missing.exit_code == looked_into.exit_code == 3
    assert "its budget given back" in missing.stderr
    assert "entry 2 of the ledger is given up, and epsilon 1 of the data set 'trips' stays spent" in looked_into.stderr


@pytest.mark.usefixtures("packed")
def test_an_entry_is_resumed_with_the_same_files(publish: Run, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file more is another state of the points, and so is one that was written or touched since."""
    run("ledger", "init", "--dataset", "trips", "--unit", "record", "--budget", "1")
    options = ("--engine", "duckdb", "--method", "ug", "--dataset", "trips", "--no-calibrate")
    with monkeypatch.context() as patch:
        patch.setattr("hushgrid.release.on_ledger.write_to", fail)
        publish(*options, points=PATTERN)
    file, other = Path("x/a.csv.gz"), Path("x/c.csv.gz")

    other.write_bytes(file.read_bytes())
    more = publish(*options, "--resume", 1, points=PATTERN)
    other.unlink()
    same = publish(*options, "--resume", 1, points=PATTERN)

    assert more.exit_code == 3
    assert f"{PATTERN} is not what entry 1 was begun with, or was changed since" in more.stderr
    assert same.exit_code == 0, same.output


@pytest.mark.usefixtures("packed")
def test_a_query_is_not_resumed(publish: Run, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have other rows another time, whatever files it names: the entry ends, spent."""
    run("ledger", "init", "--dataset", "trips", "--unit", "record", "--budget", "1")
    options = ("--engine", "duckdb", "--method", "ug", "--dataset", "trips", "--no-calibrate")
    with monkeypatch.context() as patch:
        patch.setattr("hushgrid.release.on_ledger.write_to", fail)
        cut_off = publish(*options, points=QUERY)

    again = publish(*options, "--resume", 1, points=QUERY)

    assert "no run can go on with it" in cut_off.stderr
    assert again.exit_code == 5, again.output


def fail(*_: object) -> None:
    """A disk that is full."""
    raise OSError


REFUSALS = {
    "a query without an engine": (QUERY, [], 2, "--engine duckdb"),
    "an address without an engine": ("s3a://bucket/trips", [], 2, "--engine spark"),
    "settings without Spark": ("trips.parquet", ["--spark-conf", "a=b"], 2, "--engine spark"),
    "a setting without a value": ("trips", ["--engine", "spark", "--spark-conf", "a"], 2, "KEY=VALUE"),
    "PostgreSQL by DuckDB": ("postgresql://h/d?table=t", ["--engine", "duckdb"], 2, "Leave out --engine duckdb"),
    "PostgreSQL without a table": ("postgresql://h/d", [], 2, "needs either table=NAME"),
    "CSV in a query": (f"FROM '{PATTERN}'", ["--engine", "duckdb"], 3, "a query may name Parquet files"),
    "JSON": ("x.ndjson", ["--engine", "duckdb"], 3, "Write a Parquet file first"),
    "no such column": ("SELECT lon, up FROM 'x/*.parquet'", ["--engine", "duckdb"], 3, '"up"'),
    "no such file": ("y/*.csv", ["--engine", "duckdb"], 3, "y/*.csv"),
    "text for coordinates": ("SELECT 'a' AS lon, 1 AS lat", ["--engine", "duckdb"], 3, "coordinates must be numbers"),
}


@pytest.mark.parametrize(("given", "options", "code", "word"), REFUSALS.values(), ids=REFUSALS)
@pytest.mark.usefixtures("packed")
def test_what_is_wrong_is_one_line(publish: Run, given: str, options: list[str], code: int, word: str) -> None:
    """The line names what is wrong and the way out, and nothing is written."""
    assert_refused(publish(*options, points=given), code, word)
    assert not OUTPUT.exists()
