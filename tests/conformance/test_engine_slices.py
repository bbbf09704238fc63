"""Every engine has the slices and periods that are found in memory, record by record."""

import re
import time
from contextlib import ExitStack, contextmanager
from urllib.parse import quote

import duckdb
import ibis
import numpy as np
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.counting.engine import copied
from hushgrid.counting.engine import ibis as ibis_engine
from hushgrid.counting.engine.address import Address
from hushgrid.counting.engine.local import PREFIX
from hushgrid.counting.opening import open_points
from hushgrid.counting.users import LONGEST_ID
from hushgrid.errors import EngineError, HushgridError
from tests.conformance.engines import DOMAIN, awkward_rows, read

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own

ZONE = "America/New_York"
ELSEWHERE = "Australia/Lord_Howe"  # the zone of sessions, servers and this process: half an hour off the hour
SPARK = ("spark", "spark-path", "spark-query")
POSTGRES = ("postgres", "postgres-query", "ibis-on-postgres")
DUCKDB = ("duckdb", "duckdb-path", "duckdb-pattern", "duckdb-query", "duckdb-table", "ibis-on-duckdb")
EVERYWHERE = [
    pytest.param(name, marks=pytest.mark.slow) if name in SPARK else name
    for name in ("polars", "dask", *DUCKDB, *POSTGRES, *SPARK)
]


def made_rows():
    """Points of a few users, made around both changes of the clocks, with their times and kinds in every type."""
    rng = np.random.default_rng(11)
    points = awkward_rows(DOMAIN, 150)
    count = points.num_rows
    changes = np.array(["2026-03-08T07:00", "2026-11-01T06:00", "2026-06-15T12:00"], "datetime64[s]").astype(np.int64)
    instants = rng.choice(changes, count) + rng.integers(-2 * 86_400, 2 * 86_400, count)
    instants[:6] = [-(2**31), 0, 4_102_444_800, -62_135_510_400, 7_258_118_400, 32_503_680_000]
    missing = rng.random(count) < 0.05
    clock = pa.array(instants, pa.timestamp("s"), mask=missing)
    kinds = np.array(["car", "bike", "Zoë", "other", "", "CAR", "bike ", "x" * 5000, None], dtype=object)
    who = [None, "", "ü" * LONGEST_ID, "ü" * (LONGEST_ID + 1), *(f"user {n}" for n in range(40))]
    written = ["soon", "2026-03-08", "2026-03-08 02:30", "2026-11-01T01:30-04:00", "2026-11-01T01:30-0500"]
    written += ["2026-03-08T06:59:59.999Z", "2026-02-30", None, " 2026-06-15T23:59 ", "2026-06-15" + " " * 3000]
    return pa.table(
        {
            "lon": points["lon"],
            "lat": points["lat"],
            "kind": pa.array(rng.choice(kinds, count), pa.string()),
            "who": pa.array([who[n] for n in np.minimum(rng.zipf(1.5, count), len(who)) - 1]),
            "wheels": pa.array(rng.integers(-1, 5, count), pa.int16()),
            "paid": pa.array(rng.random(count) < 0.5, mask=missing),
            "at": clock.cast(pa.timestamp("us", "UTC")),
            "clock": clock.cast(pa.timestamp("us")),
            "day": clock.cast(pa.date32()),
            "written": pa.array([written[n] for n in rng.integers(len(written), size=count)]),
            "local": pa.array([f"{n % 28 + 1}.{n % 12 + 1}.2026 {n % 24}:30" for n in range(count)]),
            "seconds": pa.array(instants, pa.int64()),
            "milliseconds": pa.array(instants * 1000 + 999, pa.int64()),
        }
    )


ROWS = made_rows()
MONTHS = {"timezone": ZONE, "start": "2026-02-01", "end": "2026-12-01"}
SLICES = {
    "kinds": hg.By("kind", values=["car", "bike", "Zoë"], other=True),
    "numbers": hg.By("wheels", values=["-1", "2", "4"]),
    "truths": hg.By("paid", values=["true", "false"]),
    "hours of instants": hg.By.time("at", "hour", timezone=ZONE),
    "hours of clocks": hg.By.time("clock", "hour", timezone=ZONE),
    "hours of text": hg.By.time("written", "hour", timezone=ZONE),
    "hours of a format": hg.By.time("local", "hour", timezone=ZONE, format="%d.%m.%Y %H:%M"),
    "hours of seconds": hg.By.time("seconds", "hour", timezone=ZONE, unit="seconds"),
    "hours of milliseconds": hg.By.time("milliseconds", "hour", timezone=ZONE, unit="milliseconds"),
    "days of dates": hg.By.time("day", "weekday", timezone=ZONE),
    "months": hg.By.time("at", "month", **MONTHS),
    "both": hg.By.product(hg.By("kind", values=["car", "bike"]), hg.By.time("clock", "month", **MONTHS)),
}
WHOLE = ("polars", "duckdb", "ibis-on-duckdb", "postgres", "ibis-on-postgres", "spark")
SOME = ("kinds", "hours of instants", "both")  # where rows come by the same copy


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch):
    """A process whose clock is of another zone."""
    monkeypatch.setenv("TZ", ELSEWHERE)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The rows in two files of one folder."""
    folder = tmp_path_factory.mktemp("rows") / "trips"
    folder.mkdir()
    for number, part in enumerate((ROWS.slice(0, 200), ROWS.slice(200))):
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=200)
    return folder


@pytest.fixture(scope="module")
def database(server):
    """The URL of a database that holds the rows, and whose sessions are of another zone."""
    declared = "lon float8, lat float8, kind text, who text, wheels smallint, paid boolean, at timestamptz, "
    declared += "clock timestamp, day date, written varchar, local text, seconds bigint, milliseconds bigint"
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE trips ({declared})")
        with cursor.copy("COPY trips FROM STDIN") as copy:
            for row in zip(*(ROWS[name].to_pylist() for name in ROWS.column_names), strict=True):
                copy.write_row(row)
    return f"{server}&options={quote(f'-c TimeZone={ELSEWHERE}')}"


@contextmanager
def on_duckdb(engine, folder):
    """The rows as DuckDB has them."""
    pattern = f"{folder}/*.parquet"
    match engine:
        case "duckdb":
            with duckdb.connect() as connection:
                connection.execute(f"SET TimeZone = '{ELSEWHERE}'")
                yield connection.read_parquet(pattern)
        case "ibis-on-duckdb":
            yield ibis.duckdb.connect().read_parquet(pattern)
        case "duckdb-table":
            path = folder.parent / "trips.duckdb"
            with duckdb.connect(path) as connection:
                connection.execute(f"CREATE OR REPLACE TABLE trips AS FROM '{pattern}'")
            yield Address(text=f"{path}?table=trips", engine="duckdb")
        case _:
            texts = {"path": str(folder), "pattern": pattern, "query": f"SELECT * FROM '{pattern}'"}
            yield Address(text=texts[engine.removeprefix("duckdb-")], engine="duckdb")


@pytest.fixture
def held(request, files):
    """A function that gives the rows as an engine has them."""

    def on_spark(engine):
        session = request.getfixturevalue("spark")
        session.conf.set("spark.sql.session.timeZone", ELSEWHERE)
        query = f"SELECT * FROM parquet.`{files}`"
        texts = {"spark-path": str(files), "spark-query": query}
        return Address(text=texts[engine], engine="spark") if engine in texts else session.read.parquet(str(files))

    def on_postgres(engine):
        url = request.getfixturevalue("database")
        if engine == "ibis-on-postgres":
            connection = stack.enter_context(psycopg.connect(url))
            return ibis.postgres.from_connection(connection).table("trips")
        place = "table=trips" if engine == "postgres" else "select=SELECT * FROM trips"
        return Address(text=f"{url}&{place}", engine="postgres")

    with ExitStack() as stack:

        def put(engine):
            if engine in SPARK:
                return on_spark(engine)
            if engine in POSTGRES:
                return on_postgres(engine)
            if engine in DUCKDB:
                return stack.enter_context(on_duckdb(engine, files))
            if engine == "polars":
                return pl.scan_parquet(files)
            return pytest.importorskip("dask.dataframe").read_parquet(files, dtype_backend="pyarrow")

        yield put


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_records_have_the_slices_of_memory(held, engine):
    """By every type of column, whatever zone the session, the server or the process is in."""
    points = held(engine)
    for name in SLICES if engine in WHOLE else SOME:
        by = SLICES[name]
        assert read(points, by=by, user="who") == read(ROWS, by=by, user="who"), name


def test_the_rows_can_tell_zones_apart():
    """Negative control: instants taken for clocks, another zone, and another half of the rows have other slices."""

    def numbers(column, zone):
        return [row[2] for row in read(ROWS, by=hg.By.time(column, "hour", timezone=zone))]

    ways = [numbers("at", ZONE), numbers("clock", ZONE), numbers("at", ELSEWHERE), numbers("at", "Etc/GMT+5")]
    assert len({str(way) for way in ways}) == 4
    assert all(len(set(way)) == 25 for way in ways)


RELEASES = {
    "kinds": {"by": SLICES["kinds"]},
    "hours": {"by": SLICES["hours of instants"], "method": "ug"},
    "months": {"by": SLICES["months"], "method": "ug"},
    "both": {"by": SLICES["both"], "method": "ug"},
    "users": {"by": SLICES["hours of clocks"], "method": "ug", "user": "who", "max_per_user": 2, "missing_user": "own"},
    "a period": {"period": "2026-03", "time": "at", "timezone": ZONE, "method": "ag"},
    "a period of users": {"period": "2026-11", "time": "written", "timezone": ZONE, "user": "who", "max_per_user": 2},
}
# Where rows come by the same copy, one case is enough.
RELEASED = [(engine, case) for engine in ("polars", "postgres") for case in RELEASES]
RELEASED += [("dask", "hours"), ("duckdb", "users"), ("ibis-on-duckdb", "months"), ("duckdb-table", "a period")]
RELEASED += [pytest.param("spark", case, marks=pytest.mark.slow) for case in RELEASES]


@pytest.mark.parametrize(("engine", "case"), RELEASED)
def test_a_release_is_the_same_from_everywhere(held, engine, case):
    """The same simulated noise gives the same values in every slice, and in their total."""
    options = {"domain": DOMAIN, "epsilon": 1, "calibrate": False, **RELEASES[case]}

    there, here = (hg.publish(points, rng=hg.simulation_rng(3), **options) for points in (held(engine), ROWS))

    for one, other in zip(released(there), released(here), strict=True):
        assert one.claim == other.claim
        np.testing.assert_array_equal(one.counts, other.counts)


def released(release):
    """All synopses of a release."""
    return [release] if isinstance(release, hg.Synopsis) else [*release.values(), *filter(None, [release.total])]


# One query, however many slices.

ALL_HOURS = {"domain": DOMAIN, "epsilon": 1, "method": "ug", "by": SLICES["hours of instants"], "calibrate": False}
ALL_HOURS |= {"user": "who", "max_per_user": 2}


def test_an_engine_is_asked_once():
    """A lazy frame is computed once."""
    asked = []

    def noted(rows):
        asked.append(True)
        return rows

    rows = pl.from_arrow(ROWS)
    hg.publish(rows.lazy().map_batches(noted, schema=rows.schema), rng=hg.simulation_rng(3), **ALL_HOURS)

    assert len(asked) == 1


def test_a_server_is_asked_once(held, server):
    """By the server's own account, which it closes when the connection ends."""

    def scans():
        with psycopg.connect(server) as connection:
            listed = "SELECT seq_scan FROM pg_stat_all_tables WHERE relname = 'trips'"
            return connection.execute(listed).fetchone()[0]

    def settled():
        number = -1
        while number != (number := scans()):
            time.sleep(0.5)
        return number

    points = held("postgres")
    before = settled()
    hg.publish(points, rng=hg.simulation_rng(3), **ALL_HOURS)

    assert settled() == before + 1


@pytest.mark.slow
def test_a_cluster_is_asked_once(held, tmp_path):
    """A task that reads the rows runs once."""
    path = str(tmp_path / "asked")

    def noted(batches):
        with open(path, "a") as file:  # noqa: PTH123  # as executors get it
            file.write("once\n")
        yield from batches

    rows = held("spark").coalesce(1)
    hg.publish(rows.mapInArrow(noted, rows.schema), rng=hg.simulation_rng(3), **ALL_HOURS)

    assert (tmp_path / "asked").read_text() == "once\n"


# What is left, what is shown, and what is refused.


@pytest.mark.parametrize(
    "engine", ["duckdb-query", "ibis-on-duckdb", "postgres", pytest.param("spark", marks=pytest.mark.slow)]
)
def test_the_copy_is_private_and_goes_away(held, engine, tmp_path, monkeypatch):
    """Nobody else may enter its folder; rows that come in pieces are all there."""
    monkeypatch.setattr(ibis_engine, "FETCHED_ROWS", 100)
    monkeypatch.setattr(copied, "GROUP_ROWS", 250)
    points = open_points(held(engine), crs=DOMAIN.crs, by=SLICES["kinds"])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    with points.copied() as source:
        folders = list(tmp_path.glob(f"{PREFIX}*"))
        assert folders
        assert all(folder.stat().st_mode & 0o077 == 0 for folder in folders)
        assert source.rows() == ROWS.num_rows

    assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_what_a_server_says_of_rows_is_not_repeated(server):
    """A query that fails on a row, or writes: no message quotes the row, and nothing is written."""
    with psycopg.connect(server) as connection:
        connection.execute("CREATE TABLE seen (note text)")
        connection.execute(
            "CREATE FUNCTION note() RETURNS text VOLATILE LANGUAGE plpgsql "
            "AS $$ BEGIN INSERT INTO seen VALUES ('was here'); RETURN 'car'; END $$"
        )
    for kind in ("note()", "(1 / (n - 12))::text"):
        query = f"SELECT 1.5::float8 AS lon, 1.5::float8 AS lat, {kind} AS kind FROM generate_series(1, 20) n"
        points = open_points(Address(text=f"{server}&select={query}", engine="postgres"), by=SLICES["kinds"])
        with pytest.raises(EngineError, match="PostgreSQL failed while counting") as caught, points.copied():
            pass
        assert "12" not in str(caught.value)
        assert caught.value.__suppress_context__
    with psycopg.connect(server) as connection:
        assert connection.execute("SELECT count(*) FROM seen").fetchone() == (0,)


WRONG = {
    "a missing column": hg.By("sort", values=["car"]),
    "a coordinate": hg.By("lon", values=["1"]),
    "a measure": hg.By("weight", values=["1"]),
    "values of another type": hg.By("wheels", values=["four"]),
    "numbers without a unit": hg.By.time("seconds", "hour"),
    "a unit of times": hg.By.time("clock", "hour", unit="seconds"),
    "hours of dates": hg.By.time("day", "hour"),
}
FEW = ROWS.slice(0, 1).append_column("weight", pa.array([0.5]))


@pytest.mark.parametrize("engine", ["polars", "duckdb", "postgres", pytest.param("spark", marks=pytest.mark.slow)])
def test_what_is_wrong_is_said_as_in_memory(request, engine, tmp_path):
    """By arguments and declared types alone; names of types may differ."""
    pq.write_table(FEW, tmp_path / "few.parquet")
    match engine:
        case "polars":
            points = pl.scan_parquet(tmp_path)
        case "duckdb":
            points = Address(text=f"SELECT * FROM '{tmp_path}/few.parquet'", engine="duckdb")
        case "spark":
            points = request.getfixturevalue("spark").read.parquet(str(tmp_path))
        case _:
            points = Address(
                text=request.getfixturevalue("database") + "&select=SELECT *, 0.5::float8 AS weight FROM trips",
                engine="postgres",
            )
    for case, by in WRONG.items():
        with pytest.raises(HushgridError) as expected:
            open_points(FEW, by=by)
        with pytest.raises(HushgridError) as found:
            open_points(points, by=by)
        assert found.type is expected.type, case
        assert told(found.value) == told(expected.value), case


def told(error):
    """What an error says, whatever the table is called, its other columns and its types are."""
    text = re.sub(r"the (frame|query|table)", "the table", str(error))
    return re.sub(r"has type [^;:]*([;:,])", r"has type\1", re.sub(r" (Its columns are|Select it).*", "", text))
