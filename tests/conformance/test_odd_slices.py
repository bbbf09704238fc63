"""No value of a row is an error where slices are read from an engine, whatever its types and texts."""

import sqlite3
from contextlib import closing

import dask
import dask.dataframe as dd
import duckdb
import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from tests.conformance.engines import read

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own


def test_times_that_python_has_not_lie_in_no_slice(server):
    """Infinite ones, and years of one or six digits, of a table by address and by Ibis."""
    times = ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31", "0001-01-01", "9999-12-31 23:59:59.999999"]
    listed = ", ".join(f"(0.5, 1.5, '{moment}', '{moment}', '{moment}')" for moment in [*times, "2026-03-08 12:00"])
    with psycopg.connect(server) as connection:
        connection.execute("CREATE TABLE odd (lon float8, lat float8, at timestamptz, clock timestamp(0), day date)")
        connection.execute(f"INSERT INTO odd VALUES {listed}")
    with psycopg.connect(server) as connection:
        ways = (
            ibis.postgres.from_connection(connection).table("odd"),
            Address(text=f"{server}&table=odd", engine="postgres"),
        )
        for points in ways:
            for column in ("at", "clock", "day"):
                by = hg.By.time(column, "month", start="2026-01-01", end="2026-07-01")
                assert sorted(row[2] for row in read(points, by=by)) == [-1] * len(times) + [2]


def test_types_that_are_only_of_a_server(server):
    """Values of an enumeration, and texts that are filled up with blanks."""
    with psycopg.connect(server) as connection:
        connection.execute("CREATE TYPE vehicle AS ENUM ('car', 'bike')")
        connection.execute("CREATE TABLE typed (lon float8, lat float8, kind vehicle, code char(5), name varchar(9))")
        values = "(1, 1, 'car', 'car', 'car'), (1, 1, 'bike', 'bike', 'bike'), (1, 1, NULL, NULL, NULL)"
        connection.execute(f"INSERT INTO typed VALUES {values}")
    points = Address(text=f"{server}&table=typed", engine="postgres")

    for column in ("kind", "code", "name"):
        found = read(points, by=hg.By(column, values=["bike", "car"], other=True))
        assert sorted(row[2] for row in found) == [-1, 0, 1]


def test_types_that_are_only_of_an_engine():
    """Categories, enumerations and whole numbers of 128 bits tell slices and users."""
    kinds = pl.DataFrame({"lon": [1.0] * 3, "lat": [1.0] * 3, "kind": ["car", "bike", None]})
    lazy = [kinds.with_columns(pl.col("kind").cast(kind)).lazy() for kind in (pl.Categorical, pl.Enum(["car", "bike"]))]
    with duckdb.connect() as connection:
        connection.execute("CREATE TYPE vehicle AS ENUM ('car', 'bike')")
        listed = "(VALUES ('car', 1), ('bike', 2), (NULL, NULL)) AS listed(kind, wide)"
        relation = connection.sql(
            f"SELECT 1.0::DOUBLE AS lon, 1.0::DOUBLE AS lat, kind::vehicle AS kind, wide::HUGEINT AS wide FROM {listed}"
        )
        for points in (*lazy, relation):
            found = read(points, by=hg.By("kind", values=["bike", "car"], other=True))
            assert sorted(row[2] for row in found) == [-1, 0, 1]
        found = read(relation, by=hg.By("wide", values=["2"]))
        assert sorted(row[2] for row in found) == [-1, -1, 0]
        found = read(relation, by=hg.By("kind", values=["car"]), user="wide")
        assert sorted(row[2:] for row in found) == [(-1, b""), (-1, b"2"), (0, b"1")]


@pytest.mark.parametrize("dtype", ["object", "string[python]"])
def test_objects_of_python_are_read_one_by_one(dtype):
    """Dask writes none of these to a file with texts, or not what they are in a frame of pandas."""
    odd = ["car", "\ud800", None, *([] if dtype != "object" else [5, b"\xff", True, [1], {"car": 1}, 1.5])]
    kinds = pd.Series(odd, dtype=dtype)
    frame = pd.DataFrame({"lon": 1.0, "lat": 1.0, "kind": kinds, "who": kinds.where(kinds != "\ud800", "ann")})
    by = hg.By("kind", values=["car", "5", "true"], other=True)
    with dask.config.set({"dataframe.convert-string": False}):
        table = dd.from_pandas(frame, npartitions=2)

        assert read(table, by=by, user="who") == read(frame, by=by, user="who")
        assert len(read(table, by=hg.By("who", values=["ann"]), user="kind")) == len(odd)


def test_categories_are_read_one_by_one():
    """What Dask can write of categories depends on those that a partition has."""
    odd = pd.Series(["car", 5, "\ud800", b"\xff", True, None, (1, 2), pd.Timestamp("2026-03-08")], dtype=object)
    frame = pd.DataFrame({"lon": 1.0, "lat": 1.0, "kind": odd})
    by = hg.By("kind", values=["car", "5", "true"], other=True)
    with dask.config.set({"dataframe.convert-string": False}):
        table = dd.from_pandas(frame, npartitions=2)
        table["kind"] = table["kind"].astype("category")

        assert read(table, by=by) == read(frame, by=by)


def test_a_table_whose_columns_may_hold_anything_is_refused(tmp_path):
    """SQLite stores a text in a column of numbers, where one odd value would end a release."""
    path = tmp_path / "trips.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE trips (lon REAL, lat REAL, kind TEXT)")
        connection.execute("INSERT INTO trips VALUES (0.5, 0.5, 'car')")
    table = ibis.sqlite.connect(path).table("trips")

    with pytest.raises(hg.ArgumentError, match="in SQLite may hold values of any type"):
        open_points(table, by=hg.By("kind", values=["car"]))
    assert [row[2] for row in read(table.to_pandas(), by=hg.By("kind", values=["car"]))] == [0]


def test_missing_objects_of_pandas_lie_in_no_slice():
    """Not in the one of all other values either, whatever they are called."""
    kinds = pd.Series([pd.NaT, pd.NA, None, float("nan"), "bus", "car"], dtype=object)
    frame = pd.DataFrame({"lon": 1.0, "lat": 1.0, "kind": kinds})

    found = read(frame, by=hg.By("kind", values=["car"], other=True))

    assert sorted(row[2] for row in found) == [-1, -1, -1, -1, 0, 1]


@pytest.mark.parametrize("engine", ["duckdb-pattern", pytest.param("spark-path", marks=pytest.mark.slow)])
def test_texts_that_are_none_lie_in_no_slice(request, engine, tmp_path):
    """Bytes that are not UTF-8, in a column that is declared to hold text."""
    if engine == "spark-path":
        request.getfixturevalue("spark")
    kinds = pa.array([b"car", b"\xff\xfe", b"b\xc3", "Zoë".encode()]).view(pa.string())
    pq.write_table(pa.table({"lon": [1.0] * 4, "lat": [1.0] * 4, "kind": kinds}), tmp_path / "odd.parquet")
    text = f"{tmp_path}/*.parquet"
    by = hg.By("kind", values=["car", "Zoë"], other=True)

    found = read(Address(text=text, engine=engine.partition("-")[0]), by=by)

    assert sorted(row[2] for row in found) == [0, 1, 2, 2]


def test_a_database_of_another_encoding(server):
    """Its texts are compared as texts; a byte that stands for none there is no error."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE western TEMPLATE template0 ENCODING 'WIN1252' LOCALE 'C'")
    url = server.replace("/postgres?", "/western?")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE trips (lon float8, lat float8, kind text, at timestamp)")
        listed = rb"(1, 1, 'car'), (1, 1, e'Zo\xeb'), (1, 1, e'\x81'), (1, 1, e'\x8d'), (1, 1, e'\\x8d')"
        connection.execute(b"INSERT INTO trips (lon, lat, kind) VALUES " + listed)
    points = Address(text=f"{url}&table=trips", engine="postgres")

    found = read(points, by=hg.By("kind", values=["Zoë", "car"], other=True))
    with open_points(points, by=hg.By.time("at", "hour"), user="kind").copied() as source:
        users = {user for part in source.parts() for block in part for user in block.users.to_pylist()}

    assert sorted(row[2] for row in found) == [0, 1, 2, 2, 2]
    assert len(users) == 5  # of different texts none becomes one with another
