"""A table or a SELECT of PostgreSQL, by URL. The server counts; Ibis writes the queries."""

import weakref
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from hushgrid.errors import ArgumentError, InputError, MissingExtraError

VIEW = "hushgrid_points"
SCHEMES = ("postgresql://", "postgres://")


def is_postgres(text: str) -> bool:
    """Whether a text is the URL of a PostgreSQL database."""
    return text.startswith(SCHEMES)


def postgres_table(url: str) -> Any:
    """The table that a URL names with ``table=NAME``, or the query that it holds as ``select=SELECT ...``.

    Everything else of the URL is as for any client of PostgreSQL; what it leaves out, such as a password, comes from
    the usual places (PGPASSWORD, a password file).

    Privacy
    -------
    Messages leave the URL out: it may hold a password.
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
    try:
        if query is not None:
            # A view of this connection alone. Ibis would make one too, to learn the columns.
            connection.execute(f"CREATE TEMPORARY VIEW {VIEW} AS {query}")
            return database.table(VIEW)
        *schema, name = str(table).split(".")
        return database.table(name, database=schema[0] if schema else None)
    except Exception as error:  # noqa: BLE001  # of Ibis, sqlglot or psycopg
        msg = f"PostgreSQL does not know {query or table!r} ({type(error).__name__}). Check the names in it."
        raise InputError(msg) from None


def parse_address(url: str) -> tuple[str, str | None, str | None]:
    """The URL of the database, and the table or the query.

    Examples
    --------
    >>> parse_address("postgresql://me@host/db?sslmode=require&table=trips")
    ('postgresql://me@host/db?sslmode=require', 'trips', None)
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    table, query = options.pop("table", None), options.pop("select", None)
    if (table is None) == (query is None):
        msg = "a URL of PostgreSQL needs table=NAME or select=QUERY, and one of them: "
        msg += "postgresql://USER@HOST/DATABASE?table=trips."
        raise ArgumentError(msg)
    return urlunsplit(parts._replace(query=urlencode(options))), table, query
