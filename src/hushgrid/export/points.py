"""Synthetic points as files that say what they are."""

import json
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError
from hushgrid.export.facts import facts
from hushgrid.export.geojson import write_points_geojson
from hushgrid.files.paths import check_target, new_file
from hushgrid.synopsis.synopsis import Synopsis

SYNTHETIC = "Synthetic points, drawn from a release under differential privacy. None of them is a record."
KEY = "hushgrid:synthetic"
PREFIX = "synthetic_"  # of the columns of a CSV file, which has no other place to say so


def check_points_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a path that points cannot be written to, before there are any."""
    if path.suffix.lower() not in WRITERS:
        msg = f"{path} has an extension that is not known. Points can be written as {', '.join(WRITERS)}."
        raise ArgumentError(msg)
    check_target(path, overwrite=overwrite)


def write_points(synopsis: Synopsis, points: Floats, path: Path, *, overwrite: bool = False) -> None:
    """Write points drawn from a synopsis as Parquet, CSV or GeoJSON, by the extension of the path."""
    check_points_target(path, overwrite=overwrite)
    about = {"synthetic": SYNTHETIC, **facts(synopsis)}
    with new_file(path, overwrite=overwrite) as out:
        WRITERS[path.suffix.lower()](synopsis, points, about, out)


def _write_parquet(synopsis: Synopsis, points: Floats, about: dict[str, str], out: BinaryIO) -> None:
    table = _table(synopsis, points).replace_schema_metadata({KEY: json.dumps(about)})
    pq.write_table(table, out, compression="zstd", use_dictionary=False)


def _write_csv(synopsis: Synopsis, points: Floats, _about: dict[str, str], out: BinaryIO) -> None:
    table = _table(synopsis, points)
    out.write((",".join(PREFIX + name for name in table.column_names) + "\n").encode())
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=False))


def _table(synopsis: Synopsis, points: Floats) -> pa.Table:
    names = ("longitude", "latitude") if synopsis.domain.is_geographic else ("easting", "northing")
    return pa.table(dict(zip(names, points.T, strict=True)))


WRITERS = {".parquet": _write_parquet, ".csv": _write_csv, ".geojson": write_points_geojson}
