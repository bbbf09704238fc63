"""Every engine counts what our own kernels count, bit for bit, and publishes the same."""

import math
import os
import re
import runpy
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import duckdb
import numpy as np
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hushgrid as hg
from hushgrid.cli import main
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.by_user.tallies import UserTally
from hushgrid.counting.counter import PointCounter, open_bounded_counter, open_counter
from hushgrid.counting.engine.address import Address
from hushgrid.counting.engine.local import PREFIX
from hushgrid.counting.opening import open_points
from hushgrid.counting.users import LONGEST_ID
from hushgrid.errors import ArgumentError, HushgridError, InputError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.ledger.ledger import open_ledger
from hushgrid.methods import METHODS
from tests.conformance.engines import (
    DOMAIN,
    EDGES,
    TABLES,
    awkward_rows,
    ibis_table,
    partitions,
    why_no_spark,
)

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = awkward_rows(DOMAIN)
KINDS = tuple(partitions(DOMAIN))
# Under load a session of Spark takes a minute to start, and Dask seconds for each join.
ENGINES = [name if name != "spark" else pytest.param(name, marks=pytest.mark.slow) for name in TABLES]
HERE = [name for name in TABLES if name != "spark"]


@pytest.fixture
def table(request):
    """A function that makes a table of an engine."""
    with ExitStack() as stack:

        def make(engine, rows):
            if engine == "spark":
                request.getfixturevalue("spark")
            return stack.enter_context(TABLES[engine](rows))

        yield make


def in_memory(rows, domain):
    """Our own kernels over the same rows."""
    return PointCounter(domain, open_points(rows, crs=domain.crs))


@pytest.fixture(scope="module", params=ENGINES)
def counter(request):
    """A counter of the awkward rows in each engine."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    with TABLES[request.param](ROWS) as rows, open_counter(DOMAIN, open_points(rows, crs=DOMAIN.crs)) as counting:
        yield counting


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_the_kernels(counter, kind):
    """Engines agree on every kind of partition, on points on edges, an ulp beside them, and rows without points."""
    partition = partitions(DOMAIN)[kind]

    found = counter.count(partition)

    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, in_memory(ROWS, DOMAIN).count(partition))


def test_sizes_are_those_of_the_kernels(counter):
    """All rows, bad ones too; and points in the domain."""
    expected = in_memory(ROWS, DOMAIN)

    assert counter.rows() == expected.rows() == ROWS.num_rows
    assert counter.total() == expected.total() < expected.rows()


def test_a_partition_of_another_domain_is_refused(counter):
    """An engine counts on its own domain only, as counters in memory do."""
    with pytest.raises(ArgumentError, match="must tile the counter's domain"):
        counter.count(partitions(Domain(west=0, south=0, east=1, north=1))["grid"])


def test_the_rows_can_tell_formulas_apart():
    """Negative control: another formula, and bounds an ulp away, put some of the points in other cells."""
    count, west, width = max(EDGES), DOMAIN.west, DOMAIN.width
    longitudes = ROWS["lon"].to_numpy()
    inside = longitudes[(longitudes >= west) & (longitudes <= DOMAIN.east)]
    ours = np.floor((inside - west) * (count / width))

    assert np.any(ours != np.floor((inside - west) / (width / count)))
    assert np.any(ours != np.floor((inside - np.nextafter(west, 0)) * (count / width)))
    assert np.any(ours != np.floor((inside - west) * np.nextafter(count / width, 0)))


def scanned(engine, path, request):
    """A table that an engine reads from a Parquet file itself."""
    match engine:
        case "polars":
            return pl.scan_parquet(path)
        case "duckdb":
            return duckdb.connect().sql(f"SELECT * FROM '{path}'")
        case "dask":
            import dask.dataframe

            return dask.dataframe.read_parquet(path)
        case "ibis-on-duckdb":
            import ibis

            return ibis.duckdb.connect().read_parquet(path)
        case "spark":
            return request.getfixturevalue("spark").read.parquet(str(path))


@pytest.mark.parametrize("engine", ENGINES)
def test_no_engine_believes_statistics(engine, request, tmp_path):
    """Those of a Parquet file leave NaN out, so that a comparison may seem to hold for all rows."""
    path = tmp_path / "rows.parquet"
    rows = {
        "lon": [DOMAIN.west, math.nan, DOMAIN.east, math.nan] * 3,
        "lat": [DOMAIN.south, DOMAIN.south, math.nan] * 4,
    }
    pq.write_table(pa.table(rows), path)
    points = open_points(scanned(engine, path, request), crs=DOMAIN.crs)

    with open_counter(DOMAIN, points) as counting:
        assert counting.rows() == 12
        assert counting.total() == in_memory(pa.table(rows), DOMAIN).total()


@pytest.mark.parametrize("engine", HERE)
@pytest.mark.parametrize("kind", [pa.float32(), pa.int32(), pa.int64()], ids=str)
def test_columns_of_other_numbers_are_cast_first(table, engine, kind):
    """Single precision and whole numbers become doubles before anything is compared."""
    numbers = np.tile(np.arange(-4, 7), 20)
    rows = pa.table(
        {
            "lon": pa.array(numbers * (0.7 if kind == pa.float32() else 1)).cast(kind),
            "lat": pa.array(numbers[::-1] % 3).cast(kind),
        }
    )
    partition = partitions(DOMAIN)["grid"]

    with open_counter(DOMAIN, open_points(table(engine, rows), crs=DOMAIN.crs)) as counting:
        found = counting.count(partition)

    np.testing.assert_array_equal(found, in_memory(rows, DOMAIN).count(partition))


RELEASES = [("polars", method) for method in METHODS if method != "identity"]
RELEASES += [(engine, method) for engine in ("duckdb", "dask", "ibis-on-duckdb") for method in ("ug", "ag")]
RELEASES += [("duckdb", "staq"), ("duckdb", "kd")]
RELEASES += [pytest.param("spark", method, marks=pytest.mark.slow) for method in ("ag", "staq")]


@pytest.mark.parametrize(("engine", "method"), RELEASES)
def test_a_release_is_the_same_from_everywhere(table, engine, method):
    """The same simulated noise gives the same measurements and counts."""
    options = {"domain": DOMAIN, "epsilon": 1, "method": method, "calibrate": False}
    rows = ROWS

    there = hg.publish(table(engine, rows), rng=hg.simulation_rng(3), **options)
    here = hg.publish(rows, rng=hg.simulation_rng(3), **options)

    np.testing.assert_array_equal(there.counts, here.counts)
    assert there.claim == here.claim


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_eager_frames_publish_the_same(form):
    """They are counted here, as ever."""
    rows = awkward_rows(DOMAIN)
    frame = rows.to_pandas() if form == "pandas" else pl.from_arrow(rows)
    options = {"domain": DOMAIN, "epsilon": 1, "method": "ag", "calibrate": False}

    found = hg.publish(frame, rng=hg.simulation_rng(3), **options)

    np.testing.assert_array_equal(found.counts, hg.publish(rows, rng=hg.simulation_rng(3), **options).counts)


def test_an_empty_table_is_no_error():
    """It has no points, and that is private."""
    frame = pl.LazyFrame({"lon": [], "lat": []}, schema={"lon": pl.Float64, "lat": pl.Float64})

    with open_counter(DOMAIN, open_points(frame, crs=DOMAIN.crs)) as counting:
        assert counting.rows() == counting.total() == 0


# One snapshot (rule D).


def test_duckdb_rows_that_come_later_are_not_seen():
    """The copy was made when the counter was opened."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE trips AS SELECT 1.0 AS lon, 1.0 AS lat")
        points = open_points(connection.table("trips"), crs=DOMAIN.crs)
        with open_counter(DOMAIN, points) as counting:
            connection.execute("INSERT INTO trips VALUES (1.0, 1.0)")

            assert counting.rows() == counting.total() == 1


def test_ibis_rows_that_come_later_are_not_seen_and_nothing_is_left_behind():
    """The temporary table is gone with the counter."""
    with ibis_table(awkward_rows(DOMAIN)) as rows:
        backend = rows.get_backend()
        before = backend.con.execute("FROM duckdb_tables()").fetchall()
        with open_counter(DOMAIN, open_points(rows, crs=DOMAIN.crs)) as counting:
            total = counting.total()
            backend.raw_sql("INSERT INTO rows VALUES (1, 1.0, 1.0)")

            assert counting.total() == total
        assert len(backend.con.execute("FROM duckdb_tables()").fetchall()) == len(before)


def test_polars_files_that_change_are_not_seen(tmp_path):
    """A lazy frame scans its file once."""
    pq.write_table(pa.table({"lon": [1.0], "lat": [1.0]}), tmp_path / "trips.parquet")
    with open_counter(DOMAIN, open_points(pl.scan_parquet(tmp_path / "trips.parquet"), crs=DOMAIN.crs)) as counting:
        pq.write_table(pa.table({"lon": [1.0] * 9, "lat": [1.0] * 9}), tmp_path / "trips.parquet")

        assert counting.rows() == counting.total() == 1


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask", pytest.param("spark", marks=pytest.mark.slow)])
def test_the_copy_is_private_and_goes_away(table, engine, tmp_path, monkeypatch):
    """Nobody else may enter its folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    points = open_points(table(engine, ROWS), crs=DOMAIN.crs)

    with open_counter(DOMAIN, points) as counting:
        (folder,) = tmp_path.glob(f"{PREFIX}*")
        assert folder.stat().st_mode & 0o077 == 0
        with pytest.raises(ArgumentError):
            counting.count(partitions(Domain(west=0, south=0, east=1, north=1))["grid"])

    assert not list(tmp_path.glob(f"{PREFIX}*"))


# Errors are those of memory.

FEW = pa.table({"id": [1], "lon": [1.5], "lat": [1.5], "x": ["1.5"], "y": [1.5], "weight": [0.5]})
WRONG = {
    "a missing column": (["lon", "lat"], {"lon": "easting", "lat": "lat"}),
    "a column under another case": (["lon", "lat"], {"lon": "LON", "lat": "lat"}),
    "no coordinates": (["id", "weight"], {}),
    "more than one pair": (["lon", "lat", "x", "y"], {}),
    "text": (["x", "y"], {}),
    "text by name": (["lon", "lat", "x"], {"lon": "x", "lat": "lat"}),
    "no users": (["lon", "lat"], {"user": "rider"}),
    "users by a coordinate": (["lon", "lat"], {"user": "lon"}),
    "users by a measure": (["lon", "lat", "weight"], {"user": "weight"}),
    "users that are no name": (["lon", "lat"], {"user": [1]}),
}
WITHOUT_USERS = ("polars", "dask")  # which say so before they look at a column
SAID = [
    (engine, case)
    for engine in [*HERE, "postgres"]
    for case, (_, columns) in WRONG.items()
    if engine not in WITHOUT_USERS or not isinstance(columns.get("user"), str)
]
SAID += [pytest.param("spark", case, marks=pytest.mark.slow) for case in WRONG]


@pytest.mark.parametrize(("engine", "case"), SAID)
def test_what_is_wrong_is_said_as_in_memory(request, table, engine, case):
    """Engines raise the error of points in memory, by arguments and declared types alone; names of types may differ."""
    names, columns = WRONG[case]
    rows = FEW.select(names)
    there = postgres_copy(request.getfixturevalue("server"), rows) if engine == "postgres" else table(engine, rows)

    with pytest.raises(HushgridError) as expected:
        open_points(rows, crs=DOMAIN.crs, **columns)
    with pytest.raises(HushgridError) as found:
        open_points(there, crs=DOMAIN.crs, **columns)

    assert found.type is expected.type
    assert told(found.value) == told(expected.value)


def told(error):
    """What an error says, whatever the table is called and its types are."""
    return re.sub(r"has type \w+;", "has type;", str(error).replace("the frame", "the table"))


def postgres_copy(server, rows):
    """An address of an empty table with the columns of other rows."""
    kinds = {pa.int64(): "bigint", pa.float64(): "double precision", pa.string(): "text"}
    declared = ", ".join(f'"{field.name}" {kinds[field.type]}' for field in rows.schema)
    name = f"t{uuid4().hex}"
    with psycopg.connect(server) as connection:
        connection.execute(f"CREATE TABLE {name} ({declared})")
    return Address(text=f"{server}&table={name}", engine="postgres")


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_geometry_column_needs_a_query(table, engine):
    """The message shows how a query makes numbers of a geometry."""
    with pytest.raises(ArgumentError, match=r"ST_X\(geom\) AS lon"):
        open_points(table(engine, ROWS), crs=DOMAIN.crs, geometry="geom")


def test_what_an_engine_says_of_rows_is_not_repeated():
    """A query that fails on a row: neither the message nor its chain quotes the row."""
    with duckdb.connect() as connection:
        rows = connection.sql(
            "SELECT CASE WHEN i = 7 THEN error('12.34567') ELSE 1.5 END AS lon, 1.5 AS lat FROM range(9) t(i)"
        )
        points = open_points(rows.select("lon::DOUBLE AS lon, lat"), crs=DOMAIN.crs)

        with (
            pytest.raises(HushgridError, match="DuckDB failed while counting") as caught,
            open_counter(DOMAIN, points),
        ):
            pass

    assert "12.34567" not in str(caught.value)
    assert caught.value.__suppress_context__


# Users.


def user_rows():
    """Records of few users, some with very many, some without an id, or with one that is too long."""
    rng = np.random.default_rng(3)
    rows = awkward_rows(DOMAIN)
    names = [None, "", "Zoë", "1:2:3", "ü" * LONGEST_ID, "ü" * (LONGEST_ID + 1), *(f"user {n}" for n in range(34))]
    who = [names[n - 1] for n in np.minimum(rng.zipf(1.4, rows.num_rows), len(names))]
    return rows.append_column("who", pa.array(who))


FIVE_BY_FOUR = Grid(domain=DOMAIN, rows=4, columns=5)
USERS = {"integers": ("id", None), "texts": ("who", None), "distinct": ("who", FIVE_BY_FOUR)}
BOUNDED = [(name, case, own) for name in ("duckdb", "ibis-on-duckdb") for case in USERS for own in ("drop", "own")]
BOUNDED += [pytest.param("spark", case, "own", marks=pytest.mark.slow) for case in ("texts", "distinct")]


@pytest.mark.parametrize(("engine", "case", "missing"), BOUNDED)
def test_the_same_records_of_a_user_are_kept(table, engine, case, missing):
    """By the same key: counts, the capped total and the tallies of all records."""
    user, grid = USERS[case]
    rows, fine = user_rows(), partitions(DOMAIN)["fine-grid"]
    tally = UserTally.of(DOMAIN, most=3, cap=None)
    rule = KeyedRule(key=bytes(range(32)), domain=DOMAIN, most=3, most_for_total=7, distinct_grid=grid, tally=tally)
    there, here = (open_points(rows, crs=DOMAIN.crs, user=user) for rows in (table(engine, rows), rows))

    with (
        open_bounded_counter(there, rule, missing=missing) as found,
        open_bounded_counter(here, rule, missing=missing) as expected,
    ):
        np.testing.assert_array_equal(found.counter.count(fine), expected.counter.count(fine))
        assert found.counter.rows() == expected.counter.rows()
        assert found.true_capped_total == expected.true_capped_total
        assert repr(found) == "BoundedCounter(...)"
        for name, true_sums in vars(expected.true_tallies).items():
            np.testing.assert_array_equal(getattr(found.true_tallies, name), true_sums)


@pytest.mark.parametrize("user", ["id", "no such column", "lon"])
@pytest.mark.parametrize("engine", WITHOUT_USERS)
def test_engines_without_a_hash_refuse_users_before_anything_is_read(table, engine, user):
    """No column is looked at, since types may be found in rows; so a ledger gives the budget back."""
    with pytest.raises(ArgumentError, match="has no SHA-256"):
        open_points(table(engine, ROWS), crs=DOMAIN.crs, user=user)


def test_ids_of_another_type_are_refused(table):
    """Ids are refused by their declared type, as in memory."""
    rows = ROWS.append_column("weight", pa.array(np.ones(ROWS.num_rows)))

    with pytest.raises(InputError, match="column 'weight' of the table has type Float64; user ids are integers"):
        open_points(table("duckdb", rows), crs=DOMAIN.crs, user="weight")


# PostgreSQL, for real.


@pytest.fixture(scope="module")
def trips(server):
    """The URL of a table of the awkward rows."""
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE trips (id int, lon double precision, lat double precision, name text)")
        with cursor.copy("COPY trips (id, lon, lat) FROM STDIN") as copy:
            for row in zip(*(ROWS[name].to_pylist() for name in ROWS.column_names), strict=True):
                copy.write_row(row)
    return f"{server}&table=trips"


def test_postgres_counts_what_the_kernels_count(trips):
    """Counts agree on every kind of partition; the group-by runs in the server."""
    expected = in_memory(ROWS, DOMAIN)

    with open_counter(DOMAIN, open_points(Address(text=trips, engine="postgres"), crs=DOMAIN.crs)) as counting:
        assert counting.rows() == expected.rows()
        for partition in partitions(DOMAIN).values():
            np.testing.assert_array_equal(counting.count(partition), expected.count(partition))


def test_postgres_reads_one_snapshot(trips, server):
    """Rows that come later are not seen."""
    with open_counter(DOMAIN, open_points(Address(text=trips, engine="postgres"), crs=DOMAIN.crs)) as counting:
        total = counting.total()
        with psycopg.connect(server) as connection:
            connection.execute("INSERT INTO trips VALUES (0, %s, %s)", [DOMAIN.west, DOMAIN.south])
        assert counting.total() == total
        with psycopg.connect(server) as connection:
            connection.execute("DELETE FROM trips WHERE ctid = (SELECT max(ctid) FROM trips)")


def test_postgres_keeps_the_same_records_of_a_user(trips):
    """PostgreSQL's own SHA-256 keeps the records that are kept in memory; tallies agree, too."""
    tally = UserTally.of(DOMAIN, most=3, cap=None)
    rule = KeyedRule(key=bytes(range(32)), domain=DOMAIN, most=3, most_for_total=7, tally=tally)
    fine = partitions(DOMAIN)["fine-grid"]
    there = open_points(Address(text=trips, engine="postgres"), crs=DOMAIN.crs, user="id")
    here = open_points(ROWS, crs=DOMAIN.crs, user="id")

    with (
        open_bounded_counter(there, rule, missing="drop") as found,
        open_bounded_counter(here, rule, missing="drop") as expected,
    ):
        np.testing.assert_array_equal(found.counter.count(fine), expected.counter.count(fine))
        assert found.true_capped_total == expected.true_capped_total
        np.testing.assert_array_equal(found.true_tallies.true_regions, expected.true_tallies.true_regions)


POSTGRES_ERRORS = {
    "no table": ("&table=nowhere", "PostgreSQL does not know 'nowhere'"),
    "no column": ("&select=SELECT id FROM trips", "no columns known as coordinates"),
    "text": ("&select=SELECT name AS lon, lat FROM trips", "coordinates must be numbers"),
    "bad query": ("&select=SELECT lon, lat FROM nowhere", "PostgreSQL does not know"),
    "neither": ("", "needs either table=NAME or select=QUERY"),
}


@pytest.mark.parametrize(("ending", "message"), POSTGRES_ERRORS.values(), ids=POSTGRES_ERRORS)
def test_postgres_errors_are_those_of_a_schema(trips, server, ending, message):
    """None of them is the server's own."""
    with pytest.raises(HushgridError, match=message):
        open_points(Address(text=server + ending, engine="postgres"), crs=DOMAIN.crs)


def test_a_server_that_is_not_there_is_an_error_without_the_password():
    """The URL is left out of the message."""
    address = Address(text="postgresql://me:s3cret@127.0.0.1:1/db?table=trips", engine="postgres")

    with pytest.raises(InputError, match="PostgreSQL cannot be reached") as caught:
        open_points(address, crs=DOMAIN.crs)

    assert "s3cret" not in str(caught.value)


# Spark, by command and by example.


def city_rows():
    """Records of a hundred riders in the domain of the examples."""
    rng = np.random.default_rng(8)
    longitudes, latitudes = rng.normal([-73.95, 40.75], 0.04, (20_000, 2)).T
    return pa.table({"rider": np.arange(20_000) % 100, "lon": longitudes, "lat": latitudes})


CITY = "-74.26,40.48,-73.70,40.92"


@pytest.mark.slow
def test_the_command_publishes_a_folder_that_spark_reads(spark, tmp_path):
    """The command uses the session that is active."""
    (tmp_path / "trips").mkdir()
    pq.write_table(city_rows(), tmp_path / "trips" / "part-0.parquet")
    target = tmp_path / "out.dp.parquet"
    arguments = ["publish", f"{tmp_path}/trips", "--engine", "spark", "--domain", CITY, "--epsilon", "1"]

    result = CliRunner().invoke(main, [*arguments, "--method", "ug", "-o", str(target)])

    assert result.exit_code == 0, result.output
    assert abs(hg.read(target).answer(hg.read(target).domain.bounds).estimate - 20_000) < 500


@pytest.mark.slow
def test_the_copy_of_a_cluster_is_where_it_was_told_to_be(request, spark, tmp_path):
    """The copy lies in the scratch folder, and Spark removes it in the end."""
    spark.conf.set("spark.hushgrid.scratch", tmp_path.as_uri())
    request.addfinalizer(lambda: spark.conf.unset("spark.hushgrid.scratch"))
    points = open_points(spark.createDataFrame(city_rows()), crs=DOMAIN.crs)

    with open_counter(DOMAIN, points):
        (folder,) = tmp_path.glob("hushgrid-*")
        assert list(folder.glob("points/*.parquet"))

    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_spark_tells_files_apart(spark, tmp_path):
    """One file more is another state, and so is one written again, by address and by frame."""

    def states():
        by_address = Address(text=str(tmp_path), engine="spark").open(crs=DOMAIN.crs)
        return by_address.state(), open_points(spark.read.parquet(str(tmp_path)), crs=DOMAIN.crs).state()

    pq.write_table(city_rows(), tmp_path / "part-0.parquet")
    first = states()
    pq.write_table(city_rows(), tmp_path / "part-1.parquet")
    second = states()
    pq.write_table(city_rows().slice(1), tmp_path / "part-1.parquet")
    third = states()

    assert all(by_address == by_frame for by_address, by_frame in (first, second, third))
    assert len({first, second, third, (None, None)}) == 4


@pytest.mark.slow
def test_spark_does_not_tell_queries_apart(spark, tmp_path):
    """Rows that are chosen, computed or in memory may be others in another run of the same files."""
    from pyspark.sql import functions

    pq.write_table(city_rows(), tmp_path / "part-0.parquet")
    files = spark.read.parquet(str(tmp_path))
    files.createOrReplaceTempView("city_files")
    now = functions.when(functions.current_date() > "2000-01-01", files.lon).alias("lon")
    unknown = [
        files.filter("lon > 0"),
        files.sample(0.5),
        files.limit(10),
        files.union(spark.createDataFrame(city_rows().slice(0, 5))),
        files.select((files.lon + functions.rand()).alias("lon"), "lat"),
        files.select(now, "lat"),
        spark.sql("SELECT lon, lat FROM city_files WHERE lat > 0"),
        spark.createDataFrame(city_rows()),
    ]
    known = [files, files.select("lat", "lon"), spark.sql("SELECT lon, lat FROM city_files")]

    assert [open_points(frame, crs=DOMAIN.crs).state() for frame in unknown] == [None] * len(unknown)
    assert len({open_points(frame, crs=DOMAIN.crs).state() for frame in known} - {None}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("points", ["nowhere/trips", "no_such_table", "SELECT lon FROM no_such_table"])
def test_what_spark_cannot_open_is_one_line(spark, tmp_path, points):
    """The error is one line, without a stack of Java."""
    arguments = ["publish", points, "--engine", "spark", "--domain", CITY, "--epsilon", "1"]

    result = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "out.dp.parquet")])

    assert result.exit_code == 3
    assert result.stderr.count("\n") == 1
    assert "Spark cannot open" in result.stderr


@pytest.mark.slow
def test_the_notebook_runs(spark, tmp_path):
    """The notebook publishes a table of the catalog, for users."""
    spark.createDataFrame(city_rows()).createOrReplaceTempView("city_trips")
    spark.conf.set("spark.hushgrid.example.table", "city_trips")
    spark.conf.set("spark.hushgrid.example.release", str(tmp_path / "trips.dp.parquet"))

    runpy.run_path(str(EXAMPLES / "notebook_job.py"))

    released = hg.read(tmp_path / "trips.dp.parquet")
    assert released.claim.unit == "user"
    found = released.answer(released.domain.bounds)
    assert abs(found.estimate - 1000) < 5 * found.noise_std


@pytest.mark.slow
def test_the_job_runs_by_spark_submit(tmp_path):
    """The job runs in a process and a session of its own, on the account of a data set."""
    if reason := why_no_spark():
        pytest.skip(reason)
    pq.write_table(city_rows(), tmp_path / "trips.parquet")
    with open_ledger(tmp_path / "ledger", create=True) as ledger:
        ledger.add_dataset("trips", budget=1, unit="record")
    settings = ["--master", "local[1]", "--driver-memory", "768m", "--conf", "spark.ui.enabled=false"]
    job = [EXAMPLES / "spark_job.py", tmp_path / "trips.parquet", tmp_path / "out.dp.parquet", f"--domain={CITY}"]
    submit = Path(sys.executable).with_name("spark-submit")

    done = subprocess.run(
        [
            submit,
            *settings,
            *job,
            "--epsilon",
            "1",
            "--method",
            "ug",
            "--ledger",
            tmp_path / "ledger",
            "--dataset=trips",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )

    assert done.returncode == 0, done.stderr
    released = hg.read(tmp_path / "out.dp.parquet")
    assert (released.method.name, released.ledger.entry) == ("ug", 1)
