"""A query that chooses points reads, and that is all: one statement, in transactions that cannot write."""

from contextlib import suppress

import psycopg
import pyarrow as pa
import pytest

from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import open_bounded_counter, open_counter
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.errors import EngineError, HushgridError, InputError
from hushgrid.geometry.domain import Domain
from tests.conformance.engines import spark_session, why_no_spark
from tests.ledger.server import running_server, why_not

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own

DOMAIN = Domain(west=0, south=0, east=1, north=1)
SCHEMA = """
    CREATE TABLE trips AS SELECT n AS id, n / 10.0::float8 AS lon, 0.5::float8 AS lat FROM generate_series(1, 9) n;
    CREATE TABLE seen (note text);
    CREATE SEQUENCE counted;
    CREATE FUNCTION note() RETURNS float8 VOLATILE LANGUAGE plpgsql
        AS $$ BEGIN INSERT INTO seen VALUES ('was here'); RETURN 0.5; END $$;
    CREATE FUNCTION sly() RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN note(); END $$;
    CREATE FUNCTION freed() RETURNS float8 VOLATILE LANGUAGE plpgsql
        AS $$ BEGIN PERFORM set_config('transaction_read_only', 'off', true); RETURN note(); END $$;
    CREATE VIEW noting AS SELECT lon, note() AS lat FROM trips;
"""
# What the server was left with: its tables, what is in them, and the sequence.
STATE = """
    SELECT (SELECT array_agg(relname::text ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
    (SELECT count(*) FROM trips), (SELECT count(*) FROM seen), (SELECT is_called FROM counted)
"""


@pytest.fixture(scope="module")
def server():
    """The URL of a PostgreSQL server of our own, with a table and functions that write."""
    if reason := why_not():
        pytest.skip(reason)
    with running_server() as url:
        with psycopg.connect(url) as connection:
            connection.execute(SCHEMA)
        yield url


def state(server):
    """Of the server's tables."""
    with psycopg.connect(server) as connection:
        return connection.execute(STATE).fetchone()


def count(server, ending):
    """The points of the domain that the server counts."""
    with open_counter(
        DOMAIN, open_points(Address(text=server + ending, engine="postgres"), crs=DOMAIN.crs)
    ) as counting:
        return counting.total()


SEVERAL = {
    "two statements": "SELECT lon, lat FROM trips; DROP TABLE seen",
    "two of them short": "SELECT lon, lat FROM trips;DROP TABLE seen;",
    "one behind a comment": "SELECT lon, lat FROM trips -- all\n; DROP TABLE seen",
    "one after a closed comment": "SELECT lon, lat FROM trips /* ; */ ; DROP TABLE seen; --",
    "a transaction that is ended": "SELECT lon, lat FROM trips; COMMIT; DROP TABLE seen",
    "a bracket that is closed": "SELECT lon, lat FROM (SELECT * FROM trips) t); DROP TABLE seen; --",
    "no SELECT": "DROP TABLE seen",
    "rows that come back": "DELETE FROM trips RETURNING lon, lat",
    "a table that is made": "SELECT lon, lat INTO copy FROM trips",
    "a part that writes": "WITH gone AS (DELETE FROM trips RETURNING lon, lat) SELECT * FROM gone",
    "a procedure": "CALL note()",
}


@pytest.mark.parametrize("query", SEVERAL.values(), ids=SEVERAL)
def test_a_query_is_one_select(server, query):
    """Anything else is refused when it is opened, and nothing of it runs."""
    before = state(server)

    with pytest.raises(InputError, match="as one SELECT"):
        open_points(Address(text=f"{server}&select={query}", engine="postgres"), crs=DOMAIN.crs)

    assert state(server) == before


WRITING = {
    "a function": "select=SELECT lon, note() AS lat FROM trips",
    "one that says it does not": "select=SELECT lon, sly() AS lat FROM trips",
    "one that asks for leave first": "select=SELECT lon, freed() AS lat FROM trips",
    "one in a condition": "select=SELECT lon, lat FROM trips WHERE note() > 0",
    "a setting": "select=SELECT lon, lat FROM trips, set_config('transaction_read_only', 'off', true), note()",
    "a sequence": "select=SELECT nextval('counted')::float8 AS lon, lat FROM trips",
    "a view": "table=noting",
}


@pytest.mark.parametrize("ending", WRITING.values(), ids=WRITING)
def test_what_a_query_calls_cannot_write(server, ending):
    """Functions cannot write, neither when a query is planned nor when it runs; the message is not the server's."""
    before = state(server)

    with pytest.raises(HushgridError) as caught:
        count(server, f"&{ending}")

    assert state(server) == before
    assert isinstance(caught.value, EngineError | InputError)
    assert "was here" not in str(caught.value)


def test_the_functions_do_write_elsewhere(server):
    """Negative control: the server itself does not mind."""
    with psycopg.connect(server) as connection:
        connection.execute("SELECT lon, note(), sly(), nextval('counted') FROM trips")
        assert connection.execute(STATE).fetchone() != state(server)
        connection.rollback()


READING = {
    "plain": "SELECT lon, lat FROM trips",
    "with a semicolon": "SELECT lon, lat FROM trips ; ",
    "with signs": "SELECT lon, lat FROM trips WHERE 'a;b--' NOT LIKE '%s' AND id % 2 < 9 -- all; of them",
    "in parts": "WITH part AS (SELECT * FROM trips) SELECT lon, lat FROM part ORDER BY lon LIMIT 100",
    "by name": "TABLE trips",
    "in brackets": "(SELECT lon, lat FROM trips) UNION ALL (SELECT 5, 5)",
}


@pytest.mark.parametrize("query", READING.values(), ids=READING)
def test_any_select_is_taken(server, query):
    """PostgreSQL counts any SELECT, however it is written."""
    assert count(server, f"&select={query}") == 9


def test_users_are_chosen_in_a_transaction_that_cannot_write(server):
    """The second copy, of what is kept, is made in the same way."""
    rule = KeyedRule(key=bytes(32), domain=DOMAIN, most=1)
    points = open_points(Address(text=f"{server}&table=trips", engine="postgres"), crs=DOMAIN.crs, user="id")

    with open_bounded_counter(points, rule, missing="drop") as bounded:
        assert bounded.counter.total() == 9


def test_one_state_of_the_database_is_read(server):
    """Functions of a query see one state too, and not what is written while it runs."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE TABLE levels AS SELECT current_setting('transaction_isolation') AS level LIMIT 0")
        connection.execute(
            "CREATE FUNCTION isolated() RETURNS float8 VOLATILE LANGUAGE sql AS "
            "$$ SELECT CASE WHEN current_setting('transaction_isolation') = 'repeatable read' THEN 0.5 ELSE 7 END $$"
        )
    assert count(server, "&select=SELECT lon, isolated() AS lat FROM trips") == 9


def test_ids_in_any_encoding_are_no_error(server):
    """A sign that has no place in Unicode is part of an id like others."""
    with psycopg.connect(server, autocommit=True) as connection, suppress(psycopg.errors.DuplicateDatabase):
        connection.execute("CREATE DATABASE old ENCODING 'WIN1252' LOCALE 'C' TEMPLATE template0")
    url = server.replace("/postgres?", "/old?")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE trips AS SELECT 0.5::float8 AS lon, 0.5::float8 AS lat, chr(129) AS who")
        connection.execute("INSERT INTO trips SELECT 0.5, 0.5, chr(128) FROM generate_series(1, 5)")
    points = open_points(Address(text=f"{url}&table=trips", engine="postgres"), crs=DOMAIN.crs, user="who")

    with open_bounded_counter(points, KeyedRule(key=bytes(32), domain=DOMAIN, most=2), missing="drop") as bounded:
        assert bounded.counter.total() == 3


# Spark runs a statement that writes as soon as it is given one.

SPARK_WRITING = {
    "an insert of several": "FROM numbers INSERT INTO kept SELECT lon, lat",
    "an insert with parts": "WITH some AS (SELECT * FROM numbers) INSERT INTO kept SELECT lon, lat FROM some",
    "two statements": "SELECT lon, lat FROM numbers; INSERT INTO kept SELECT lon, lat FROM numbers",
    "a bracket that is closed": "SELECT lon, lat FROM numbers) INSERT INTO kept (SELECT lon, lat FROM numbers",
}
SPARK_READING = {
    "plain": "SELECT lon, lat FROM numbers;",
    "from first": "FROM numbers SELECT lon, lat",
    "in parts": "WITH some AS (SELECT * FROM numbers) SELECT lon, lat FROM some -- all of them",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """The session that the tests of Spark share, with a table that can be written to."""
    if reason := why_no_spark():
        pytest.skip(reason)
    session = spark_session()
    session.createDataFrame(pa.table({"lon": [0.25, 0.5], "lat": [0.5, 0.5]})).createOrReplaceTempView("numbers")
    place = tmp_path_factory.mktemp("kept")
    session.sql(f"CREATE TABLE kept (lon DOUBLE, lat DOUBLE) USING parquet LOCATION '{place.as_uri()}'")
    yield session
    session.sql("DROP TABLE kept")
    session.stop()


@pytest.mark.slow
@pytest.mark.parametrize("query", SPARK_WRITING.values(), ids=SPARK_WRITING)
def test_spark_runs_no_statement_that_writes(spark, query):
    """A statement that writes is refused, whatever words it begins with."""
    with pytest.raises(InputError, match="Spark cannot open"):
        open_points(Address(text=query, engine="spark"), crs=DOMAIN.crs)

    assert spark.table("kept").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("query", SPARK_READING.values(), ids=SPARK_READING)
def test_spark_takes_any_select(spark, query):
    """However it is written."""
    with open_counter(DOMAIN, open_points(Address(text=query, engine="spark"), crs=DOMAIN.crs)) as counting:
        assert counting.total() == 2
