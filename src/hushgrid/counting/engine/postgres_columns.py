"""The columns of a relation of PostgreSQL as its catalogue declares them, and what becomes of them in a query.

Points of PostGIS become two numbers here, so that neither Ibis nor a later query sees a geometry.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushgrid.counting.columns import find_columns
from hushgrid.counting.engine.engine import TABLE
from hushgrid.counting.users import check_user_name
from hushgrid.errors import InputError
from hushgrid.geometry.domain import GEOGRAPHIC, Domain

if TYPE_CHECKING:
    import psycopg

EAST, NORTH = "ST_X", "ST_Y"  # of what is made of a geometry
DEFAULT_SRIDS = {"geometry": 0, "geography": 4326}  # of a column that declares none; 0 is no system at all
CATALOGUE = """
    SELECT attname, typname, format_type(atttypid, atttypmod), typnamespace::regnamespace::text, atttypmod
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
    WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum
"""
# A geometry that is no point would make an error of its row.
POINT = "CASE WHEN {schema}.ST_GeometryType({0}::{schema}.geometry) = 'ST_Point' THEN {0}::{schema}.geometry END"
ORDINATE = f"{{schema}}.{{part}}({POINT})"
# Ids as `hushgrid.counting.users` has them; other types are cast to text later on, or refused.
IDS = {"uuid": "replace({0}::text, '-', '')", "bytea": "encode({0}, 'hex')"}


@dataclass(frozen=True)
class Column:
    """A column, by its declaration alone."""

    name: str
    kind: str
    declared: str
    schema: str  # that of the type, which for PostGIS is also that of its functions
    modifier: int


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def declared_columns(connection: "psycopg.Connection[Any]", relation: str) -> list[Column]:
    """Columns of a relation, whose name is quoted already; none if there is no such relation."""
    return [Column(*row) for row in connection.execute(CATALOGUE, [relation])]


def chosen_columns(
    connection: "psycopg.Connection[Any]",
    columns: Sequence[Column],
    *,
    domain: Domain,
    lon: str | None,
    lat: str | None,
    geometry: str | None,
    user: str | None,
) -> dict[str, str]:
    """Expressions of the longitudes, the latitudes and the users, in this order, by their names.

    Privacy
    -------
    Everything is decided by declarations. A row that is no point is null; none can make the query fail.
    """
    named = {column.name: column for column in columns}
    geometries = [column.name for column in columns if column.kind in DEFAULT_SRIDS]
    only = geometries[0] if len(geometries) == 1 else None
    chosen = find_columns(list(named), lon=lon, lat=lat, geometry=geometry, primary_geometry=only, where=TABLE)
    if len(chosen) == 2:
        parts = {name: quoted(name) for name in chosen}
    else:
        point = named[chosen[0]]
        _check_points(connection, point, domain)
        parts = {part: ORDINATE.format(quoted(point.name), schema=point.schema, part=part) for part in (EAST, NORTH)}
    if user is not None:
        check_user_name(user, list(named), coordinates=chosen, where=TABLE)
        parts[user] = IDS.get(named[user].kind, "{0}").format(quoted(user))
    return parts


def _check_points(connection: "psycopg.Connection[Any]", column: Column, domain: Domain) -> None:
    """Refuse a column that is declared to hold no points, or points of another reference system than the domain's.

    A column that declares no system is taken to be in the domain's, as columns of numbers are.
    """
    if column.kind not in DEFAULT_SRIDS:
        raise _no_points(column)
    prefix = f"{column.schema}.postgis_typmod_"
    ((shape, srid),) = connection.execute(f"SELECT {prefix}type(%(m)s), {prefix}srid(%(m)s)", {"m": column.modifier})
    if not shape.startswith(("Point", "Geometry")) or shape.startswith("GeometryCollection"):
        raise _no_points(column)
    crs = domain.crs.upper()
    srid = srid or DEFAULT_SRIDS[column.kind]
    declared = _crs_name(connection, column.schema, srid) if srid else crs
    if declared != crs and not {declared, crs} <= GEOGRAPHIC:
        target = "4326" if crs in GEOGRAPHIC else crs.rpartition(":")[2]
        msg = f"column {column.name!r} of {TABLE} is in {declared}, and not in {domain.crs}. Give the system of the "
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
