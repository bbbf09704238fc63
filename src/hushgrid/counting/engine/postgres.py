"""Points in PostgreSQL and PostGIS, by URL.

A URL names a table or holds a SELECT; the catalogue of the database declares the columns.

Points of PostGIS become two numbers here, so that neither Ibis nor a later query sees a geometry.
"""

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from hushgrid.counting.by_slice.slicing import check_slice_names
from hushgrid.counting.columns import find_columns
from hushgrid.counting.engine.engine import TABLE
from hushgrid.counting.engine.ibis import PostgresEngine
from hushgrid.counting.engine.points import EnginePoints
from hushgrid.counting.users import check_user_name
from hushgrid.errors import ArgumentError, EngineError, HushgridError, InputError, MissingExtraError
from hushgrid.geometry.domain import GEOGRAPHIC
from hushgrid.slices.by import By

if TYPE_CHECKING:
    import psycopg


EAST, NORTH = "ST_X", "ST_Y"  # names of the two columns that are made of a geometry
DEFAULT_SRIDS = {"geometry": 0, "geography": 4326}  # of a column that declares none; 0 means that the system is unknown
CATALOGUE = """
    SELECT attname, CASE typtype WHEN 'e' THEN 'enum' ELSE typname END,
           format_type(atttypid, atttypmod), typnamespace::regnamespace::text, atttypmod
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
    WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum
"""
# A geometry that is not a point would make an error of its row.
POINT = "CASE WHEN {schema}.ST_GeometryType({0}::{schema}.geometry) = 'ST_Point' THEN {0}::{schema}.geometry END"
ORDINATE = f"{{schema}}.{{part}}({POINT})"
# Ids as `hushgrid.counting.users` has them; other types are cast to text later on, or refused.
IDS = {"uuid": "replace({0}::text, '-', '')", "bytea": "encode({0}, 'hex')"}
VALUES = dict.fromkeys(("enum", "bpchar"), "{0}::text")  # without the blanks that fill a char(n)


@dataclass(frozen=True)
class Column:
    """A column, by its declaration alone."""

    name: str
    kind: str
    declared: str
    schema: str  # that of the type, which for PostGIS is also that of its functions
    modifier: int


def quoted_name(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def declared_columns(connection: "psycopg.Connection[Any]", relation: str) -> list[Column]:
    """Declared columns of a relation.

    Its name is quoted already. None if there is no such relation.
    """
    return [Column(*row) for row in connection.execute(CATALOGUE, [relation])]


def chosen_columns(
    connection: "psycopg.Connection[Any]",
    columns: Sequence[Column],
    *,
    crs: str,
    lon: str | None,
    lat: str | None,
    geometry: str | None,
    user: str | None,
    by: By | None,
) -> dict[str, str]:
    """SQL expressions of coordinates, users and what tells slices, by name.

    Longitudes, latitudes, users and the rest, in this order.

    Privacy
    -------
    Everything is decided by declarations. A row that is not a point is null; none can make the query fail.
    """
    named = {column.name: column for column in columns}
    geometries = [column.name for column in columns if column.kind in DEFAULT_SRIDS]
    only = geometries[0] if len(geometries) == 1 else None
    chosen = find_columns(list(named), lon=lon, lat=lat, geometry=geometry, primary_geometry=only, where=TABLE)
    if len(chosen) == 2:
        parts = {name: quoted_name(name) for name in chosen}
    else:
        point = named[chosen[0]]
        _check_points(connection, point, crs)
        parts = {
            part: ORDINATE.format(quoted_name(point.name), schema=point.schema, part=part) for part in (EAST, NORTH)
        }
    if by is not None:
        check_slice_names(by, list(named), coordinates=[*chosen, *parts], user=user, where=TABLE)
    if user is not None:
        check_user_name(user, list(named), coordinates=chosen, where=TABLE)
        parts[user] = IDS.get(named[user].kind, "{0}").format(quoted_name(user))
    for name in () if by is None else by.columns:
        parts[name] = VALUES.get(named[name].kind, "{0}").format(quoted_name(name))
    return parts


def _check_points(connection: "psycopg.Connection[Any]", column: Column, crs: str) -> None:
    """Refuse a column declared to hold other things than points of the system.

    A column that declares no system is taken to be in the one asked for, as columns of numbers are.
    """
    if column.kind not in DEFAULT_SRIDS:
        raise _no_points(column)
    prefix = f"{column.schema}.postgis_typmod_"
    ((shape, srid),) = connection.execute(f"SELECT {prefix}type(%(m)s), {prefix}srid(%(m)s)", {"m": column.modifier})
    if not shape.startswith(("Point", "Geometry")) or shape.startswith("GeometryCollection"):
        raise _no_points(column)
    srid = srid or DEFAULT_SRIDS[column.kind]
    asked = crs.upper()
    declared = _crs_name(connection, column.schema, srid) if srid else asked
    if declared != asked and not {declared, asked} <= GEOGRAPHIC:
        target = "4326" if asked in GEOGRAPHIC else crs.rpartition(":")[2]
        msg = f"column {column.name!r} of {TABLE} is in {declared}, and not in {crs}. Give the system of the "
        msg += "points, and the domain in it: crs= (--crs); or transform in a view those points that can be: "
        msg += f"ST_Transform(CASE WHEN {column.name} && ST_MakeEnvelope(W, S, E, N, {srid}) THEN {column.name} END, "
        msg += f"{target})."
        raise InputError(msg, instead={"crs": declared} if ":" in declared else None)


def _crs_name(connection: "psycopg.Connection[Any]", schema: str, srid: int) -> str:
    known = f"{schema}.spatial_ref_sys"
    query = f"SELECT auth_name, auth_srid FROM {known} WHERE srid = %s"  # noqa: S608  # the catalogue's own name
    for authority, code in connection.execute(query, [srid]):
        if authority and code:
            return f"{authority}:{code}".upper()
    return f"SRID {srid}"


def _no_points(column: Column) -> InputError:
    msg = f"column {column.name!r} of {TABLE} has type {column.declared}; points are of type geometry or geography, "
    msg += "declared as Point or not at all. Name another column, or two of numbers: lon=, lat=."
    return InputError(msg)


QUERY, VIEW = "hushgrid_query", "hushgrid_points"  # views of the connection, which nobody else sees
# Asks whether the columns of the views may be read. A query would tell, too, but could run what it names.
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
    """Whether a text is a URL of PostgreSQL."""
    return text.startswith(SCHEMES)


def postgres_points(
    url: str,
    *,
    crs: str,
    lon: str | None = None,
    lat: str | None = None,
    geometry: str | None = None,
    user: str | None = None,
    by: By | None = None,
) -> EnginePoints:
    """Points of the table or query in a URL.

    A table is ``table=NAME``, a query ``select=SELECT``. Everything else of the URL is as for any client of PostgreSQL;
    what it leaves out, such as a password, comes from the usual places (PGPASSWORD, a password file).

    Parameters
    ----------
    crs : str
        Reference system of the points. Geometries declared to be in another are refused.
    lon, lat, geometry, user : str, optional
        Names of the columns. A table without a usual pair of numbers, and with one column of geometries, has its points
        there.
    by : By, optional
        Slices to read.

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
        chosen = chosen_columns(connection, columns, crs=crs, lon=lon, lat=lat, geometry=geometry, user=user, by=by)
        parts = ", ".join(f"{expression} AS {quoted_name(name)}" for name, expression in chosen.items())
        connection.execute(f"CREATE TEMPORARY VIEW {VIEW} AS SELECT {parts} FROM {relation}")  # noqa: S608  # quoted
        connection.execute(NO_COMPILER)
        if any(allowed is False for (allowed,) in connection.execute(RIGHTS, [[QUERY, VIEW]])):
            raise psycopg.errors.InsufficientPrivilege
        connection.commit()
        east, north, *_ = chosen
        return EnginePoints.of(database.table(VIEW), lon=east, lat=north, user=user, by=by, engine=PostgresEngine())


def parse_address(url: str) -> tuple[str, str | None, str | None]:
    """Split a URL into database, table and query.

    The query comes last, and may hold any sign.

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
        msg = "a URL of PostgreSQL needs either table=NAME or select=QUERY, such as "
        msg += "postgresql://USER@HOST/DATABASE?table=trips."
        raise ArgumentError(msg)
    rest = "&".join(option for option in options if not option.startswith("table="))
    return f"{place}?{rest}" if rest else place, unquote(tables[0]) if tables else None, unquote(query) or None


def _relation(connection: "psycopg.Connection[Any]", table: str | None, query: str | None) -> str:
    """Quoted name of the table or query view."""
    if query is None:
        return ".".join(map(quoted_name, str(table).split(".")))
    # In binary form, a statement goes by a protocol that takes no more than one; and a view is of a SELECT, which may
    # not hold statements that write. What the functions it calls do is for `read_only`.
    connection.execute(f"CREATE TEMPORARY VIEW {QUERY} AS {query}", binary=True)
    return QUERY


@contextmanager
def _opening(given: str, connection: "psycopg.Connection[Any]") -> Iterator[None]:
    """Explain errors of the server by what was given.

    A connection that led to one is closed.
    """
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
        msg = f"PostgreSQL does not accept {given!r} as one SELECT ({type(error).__name__}). Give one that only reads."
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
        connection.close()  # at once, because views that are not committed keep others from the server's tables
        raise
