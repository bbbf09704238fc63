"""A table or a SELECT of PostgreSQL, by URL. The server counts; Ibis writes the queries."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from hushgrid.counting.engine.engine_points import EnginePoints
from hushgrid.counting.engine.ibis_engine import PostgresEngine
from hushgrid.counting.engine.postgres_columns import chosen_columns, declared_columns, quoted
from hushgrid.errors import ArgumentError, EngineError, HushgridError, InputError, MissingExtraError
from hushgrid.geometry.domain import Domain

if TYPE_CHECKING:
    import psycopg

QUERY, VIEW = "hushgrid_query", "hushgrid_points"  # views of the connection, which nobody else sees
# Whether the columns that the views read may be read. A query would tell, too, but whatever it names may then run.
RIGHTS = """
    SELECT CASE WHEN refobjsubid = 0 THEN has_any_column_privilege(refobjid, 'SELECT')
           ELSE has_column_privilege(refobjid, refobjsubid::smallint, 'SELECT') END
    FROM pg_depend JOIN pg_rewrite ON pg_rewrite.oid = objid JOIN pg_class ON pg_class.oid = refobjid
    WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
      AND relkind IN ('r', 'p', 'v', 'm', 'f') AND ev_class IN (SELECT to_regclass(name) FROM unnest(%s::text[]) name)
"""
SCHEMES = ("postgresql://", "postgres://")
# The server takes seconds to compile the joins of a tree, which it overestimates: it knows nothing of our small tables.
NO_COMPILER = "SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'"


def is_postgres(text: str) -> bool:
    """Whether a text is the URL of a PostgreSQL database."""
    return text.startswith(SCHEMES)


def postgres_points(
    url: str,
    *,
    domain: Domain,
    lon: str | None = None,
    lat: str | None = None,
    geometry: str | None = None,
    user: str | None = None,
) -> EnginePoints:
    """The points of the table that a URL names with ``table=NAME``, or of the query that it holds as ``select=SELECT``.

    Everything else of the URL is as for any client of PostgreSQL; what it leaves out, such as a password, comes from
    the usual places (PGPASSWORD, a password file).

    Parameters
    ----------
    domain : Domain
        Geometries declared to be in another reference system than the domain's are refused.
    lon, lat, geometry, user : str, optional
        Names of the columns. A table without a usual pair of numbers, and with one column of geometries, has its points
        there.

    Privacy
    -------
    Errors come from the arguments and the catalogue; no query is run or planned that names the table. Messages leave
    the URL out: it may hold a password. A query is one SELECT, and whatever it calls runs where it cannot write.
    """
    connection_url, table, query = parse_address(url)
    try:
        import ibis  # type: ignore[import-untyped]  # no types of its own
        import psycopg
    except ImportError as error:
        msg = 'points in PostgreSQL need Ibis and psycopg: pip install "hushgrid[postgres]".'
        raise MissingExtraError(msg) from error
    try:
        connection = psycopg.connect(connection_url)
    except psycopg.Error as error:
        msg = f"PostgreSQL cannot be reached ({type(error).__name__}). Check host, database, user and password."
        raise InputError(msg) from None
    database = ibis.postgres.from_connection(connection)
    weakref.finalize(database, connection.close)
    with _opening(query or str(table), connection):
        relation = _relation(connection, table, query)
        columns = declared_columns(connection, relation)
        if not columns:
            raise LookupError
        chosen = chosen_columns(connection, columns, domain=domain, lon=lon, lat=lat, geometry=geometry, user=user)
        parts = ", ".join(f"{expression} AS {quoted(name)}" for name, expression in chosen.items())
        connection.execute(f"CREATE TEMPORARY VIEW {VIEW} AS SELECT {parts} FROM {relation}")  # noqa: S608  # quoted
        connection.execute(NO_COMPILER)
        if any(allowed is False for (allowed,) in connection.execute(RIGHTS, [[QUERY, VIEW]])):
            raise psycopg.errors.InsufficientPrivilege
        connection.commit()
        east, north, *_ = chosen
        return EnginePoints.of(database.table(VIEW), lon=east, lat=north, user=user, engine=PostgresEngine())


def parse_address(url: str) -> tuple[str, str | None, str | None]:
    """The URL of the database, and the table or the query, which comes last and may hold any sign.

    Examples
    --------
    >>> parse_address("postgresql://me@host/city?sslmode=require&table=trips")
    ('postgresql://me@host/city?sslmode=require', 'trips', None)
    >>> parse_address("postgresql:///city?select=SELECT geom FROM trips WHERE geom && area AND day+1 > now()")
    ('postgresql:///city', None, 'SELECT geom FROM trips WHERE geom && area AND day+1 > now()')
    """
    place, _, given = url.partition("?")
    given, _, query = f"&{given}".partition("&select=")
    options = [option for option in given.split("&") if option]
    tables = [option.removeprefix("table=") for option in options if option.startswith("table=")]
    if len(tables) + bool(query) != 1:
        msg = "a URL of PostgreSQL needs table=NAME or select=QUERY, and one of them: "
        msg += "postgresql://USER@HOST/DATABASE?table=trips."
        raise ArgumentError(msg)
    rest = "&".join(option for option in options if not option.startswith("table="))
    return f"{place}?{rest}" if rest else place, unquote(tables[0]) if tables else None, unquote(query) or None


def _relation(connection: "psycopg.Connection[Any]", table: str | None, query: str | None) -> str:
    """The quoted name of the table, or of a view of the query."""
    if query is None:
        return ".".join(map(quoted, str(table).split(".")))
    # In binary form, a statement goes by a protocol that takes no more than one; and a view is of a SELECT, which may
    # not hold statements that write. What the functions it calls do is for `read_only`.
    connection.execute(f"CREATE TEMPORARY VIEW {QUERY} AS {query}", binary=True)
    return QUERY


@contextmanager
def _opening(given: str, connection: "psycopg.Connection[Any]") -> Iterator[None]:
    """Turn what the server says into errors that name what was given; a connection that led to one is closed."""
    import psycopg

    try:
        with _closing_after_errors(connection):
            yield
    except HushgridError:
        raise
    except psycopg.errors.InsufficientPrivilege:
        msg = (
            f"PostgreSQL does not let this user open {given!r}. Reading it takes SELECT on the table, and TEMPORARY on "
        )
        msg += "the database for a copy of the coordinates."
        raise InputError(msg) from None
    except (psycopg.errors.SyntaxError, psycopg.errors.FeatureNotSupported) as error:
        msg = f"PostgreSQL does not take {given!r} for one SELECT ({type(error).__name__}). Give one that only reads."
        raise InputError(msg) from None
    except psycopg.OperationalError as error:
        msg = f"PostgreSQL ended the connection ({type(error).__name__}) before anything was read. Try again."
        raise EngineError(msg) from None
    except Exception as error:  # noqa: BLE001  # of Ibis, sqlglot or psycopg
        msg = f"PostgreSQL does not know {given!r} ({type(error).__name__}). Check the names in it."
        raise InputError(msg) from None


@contextmanager
def _closing_after_errors(connection: "psycopg.Connection[Any]") -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()  # at once: views that are not committed would keep others from the server's tables
        raise
