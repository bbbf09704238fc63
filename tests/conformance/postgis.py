"""A PostgreSQL server with PostGIS and tables of awkward geometries, for as long as the tests run."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pyarrow as pa

from tests.conformance.engines import DOMAIN, awkward_rows
from tests.ledger.server import find_binaries, running_server, why_not

ODD = ("POINT EMPTY", "LINESTRING(0 1,1 2)", "MULTIPOINT((0 1))", "POLYGON((0 1,1 1,1 2,0 1))", "POINT Z (1 1 9)")
ODD += ("POINT M (1 2 9)", "POINT ZM (2 1 9 9)", "GEOMETRYCOLLECTION(POINT(0 1))", "POINT Z EMPTY")
SCHEMA = """
    CREATE TABLE trips (
        id int, who uuid, device bytea,
        geom geometry(Point, 4326), anything geometry, globe geography(Point, 4326), metres geometry(Geometry, 3857),
        heights geometry(PointZ, 4326), road geometry(LineString, 4326), exact numeric, name text
    );
    CREATE VIEW points AS SELECT id, who, device, geom FROM trips;
    CREATE VIEW mixed AS SELECT id, anything FROM trips;
    CREATE VIEW in_degrees AS SELECT ST_Transform(metres, 4326) AS metres FROM trips;
"""
INSERT = """
    INSERT INTO trips (id, who, device, geom, anything)
    SELECT %(id)s, %(who)s, %(device)s, point, coalesce(ST_GeomFromText(%(odd)s), point)
    FROM (SELECT ST_SetSRID(ST_MakePoint(%(lon)s, %(lat)s), 4326) AS point) AS made
"""
# One bad latitude would make an error of all that is transformed.
UPDATE = """
    UPDATE trips SET exact = (ARRAY[1e400, 1e-400, 1.5])[1 + id % 3];
    UPDATE trips SET globe = geom, metres = ST_Transform(geom, 3857)
    WHERE geom && ST_MakeEnvelope(-180, -85, 180, 85, 4326)
"""


def why_no_postgis() -> str | None:
    """Why there can be no server with PostGIS here, if so."""
    if reason := why_not():
        return reason
    binaries = find_binaries()
    assert binaries is not None
    places = [*Path("/usr/share/postgresql").glob("*/extension"), *binaries.parent.glob("share/**/extension")]
    if not any((place / "postgis.control").exists() for place in places):
        return "PostGIS is not installed (Debian: postgresql-postgis)"
    return None


@contextmanager
def running_postgis() -> Iterator[str]:
    """The URL of a server with the table `trips`, of which `points` and `mixed` are views."""
    with running_server() as url:
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION postgis")
            cursor.execute(SCHEMA)
            cursor.executemany(INSERT, list(_records()))
            cursor.execute(UPDATE)
        yield url


def in_memory(url: str, column: str) -> pa.Table:
    """The rows of a column as well-known binary that the server wrote, beside the ids."""
    query = f"SELECT id, replace(who::text, '-', ''), device, ST_AsEWKB({column}::geometry) FROM trips"
    with psycopg.connect(url) as connection:
        ids, who, devices, geometries = zip(*connection.execute(query).fetchall(), strict=True)
    columns = {"id": pa.array(ids), "who": pa.array(who), "device": pa.array(devices, pa.binary())}
    return pa.table({**columns, column: pa.array(geometries, pa.binary())})


def _records() -> Iterator[dict[str, object]]:
    rows = awkward_rows(DOMAIN, rows=150).to_pylist()
    for number, row in enumerate(rows):
        odd = ODD[number // 7 % len(ODD)] if number % 7 == 0 else None
        user = row["id"]
        yield {**row, "odd": odd, "who": uuid.UUID(int=user * 12345678901234567890), "device": bytes([user, 255])}
