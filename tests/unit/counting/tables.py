"""The same points in every form hushgrid reads."""

import gzip
import json
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.geometry.domain import Domain

DOMAIN = Domain(west=-10, south=-5, east=30, north=15)

HOSTILE = {
    "both are NaN": (np.nan, np.nan),
    "longitude is NaN": (np.nan, 1.0),
    "latitude is infinite": (1.0, np.inf),
    "longitude is minus infinity": (-np.inf, 1.0),
    "just west of the domain": (np.nextafter(-10.0, -11.0), 1.0),
    "just north of the domain": (1.0, np.nextafter(15.0, 16.0)),
    "too large for an integer": (1e300, 1e300),
    "smallest double below the south": (0.0, -1e308),
}


def some_points(size=200, seed=0):
    """Points in and around the domain, on its corners, and every kind of row that is none."""
    rng = np.random.default_rng(seed)
    inside = rng.uniform([-12, -6], [32, 16], (size, 2))
    corners = [(-10, -5), (30, 15), (-10, 15), (30, -5), (0, 0), (-0.0, 5e-324)]
    return np.concatenate([inside, corners, list(HOSTILE.values())])


def wkb(longitude, latitude, *, order="<", kind=1, srid=None, more=()):
    """A point in well-known binary."""
    head = struct.pack(order + "BI", int(order == "<"), kind)
    body = struct.pack(f"{order}{2 + len(more)}d", longitude, latitude, *more)
    return head + (b"" if srid is None else struct.pack(order + "I", srid)) + body


def geo_metadata(column="geometry", *, encoding="WKB", **entry):
    """The metadata of a GeoParquet file."""
    columns = {column: {"encoding": encoding, "geometry_types": ["Point"], **entry}}
    return {"geo": json.dumps({"version": "1.1.0", "primary_column": column, "columns": columns})}


def _nullable(column):
    return pa.array([None if np.isnan(number) else number for number in column], pa.float64())


def _wkb_table(points):
    geometry = pa.array([wkb(*point) for point in points], pa.binary())
    return pa.table({"geometry": geometry}).replace_schema_metadata(geo_metadata())


def _struct_table(points):
    geometry = pa.StructArray.from_arrays([points[:, 0], points[:, 1]], ["x", "y"])
    return pa.table({"geometry": geometry}).replace_schema_metadata(geo_metadata(encoding="point"))


def _arrow_table(points):
    return pa.table({"name": ["?"] * len(points), "lat": points[:, 1], "lon": points[:, 0]})


def _write_parquet(table, path, **options):
    pq.write_table(table, path, **options)
    return path


def csv_text(points, delimiter=",", newline="\n"):
    """Points as text, every digit of them."""
    rows = [f"{i}{delimiter}{x!r}{delimiter}{y!r}{newline}" for i, (x, y) in enumerate(points.tolist())]
    return f"id{delimiter}Lon{delimiter}Lat{newline}" + "".join(rows)


def _write_text(text, path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wb") as file:
        file.write(text.encode())
    return path


FORMS = {
    "array": lambda points, folder: points,
    "array in column order": lambda points, folder: np.asfortranarray(points),
    "every other row of an array": lambda points, folder: np.repeat(points, 2, axis=0)[::2],
    "array of the other byte order": lambda points, folder: points.astype(">f8"),
    "array of long doubles": lambda points, folder: points.astype(np.longdouble),
    "masked array": lambda points, folder: np.ma.masked_invalid(points),
    "pair of arrays": lambda points, folder: (points[:, 0].copy(), points[:, 1].copy()),
    "list of pairs": lambda points, folder: points.tolist(),
    "pandas": lambda points, folder: pd.DataFrame(points, columns=["lon", "lat"]),
    "pandas, nullable": lambda points, folder: pd.DataFrame(points, columns=["lon", "lat"], dtype="Float64"),
    "polars": lambda points, folder: pl.DataFrame(points, schema=["LON", "LAT"]),
    "Arrow table": lambda points, folder: _arrow_table(points),
    "Arrow table with nulls": lambda points, folder: pa.table(
        {"x": _nullable(points[:, 0]), "y": _nullable(points[:, 1])}
    ),
    "Arrow table of WKB": lambda points, folder: _wkb_table(points),
    "Parquet": lambda points, folder: _write_parquet(_arrow_table(points), folder / "points.parquet"),
    "Parquet in row groups": lambda points, folder: _write_parquet(
        _arrow_table(points), folder / "points.pq", row_group_size=17, compression="zstd"
    ),
    "GeoParquet of WKB": lambda points, folder: _write_parquet(_wkb_table(points), folder / "points.geoparquet"),
    "GeoParquet of structs": lambda points, folder: _write_parquet(_struct_table(points), folder / "points.geoparquet"),
    "CSV": lambda points, folder: _write_text(csv_text(points), folder / "points.csv"),
    "CSV with bars and CRLF": lambda points, folder: _write_text(csv_text(points, "|", "\r\n"), folder / "points.txt"),
    "TSV": lambda points, folder: _write_text(csv_text(points, "\t"), folder / "points.tsv"),
    "compressed CSV": lambda points, folder: _write_text(csv_text(points), folder / "points.csv.gz"),
}
