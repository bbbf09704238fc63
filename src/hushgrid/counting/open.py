"""From whatever a user hands over to a source of points."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from hushgrid.counting.columns import check_column_arguments
from hushgrid.counting.source import PointSource
from hushgrid.errors import ArgumentError, InputError
from hushgrid.geometry.domain import Domain

PARQUET = (".parquet", ".geoparquet", ".pq")
CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")


def open_points(
    points: Any, *, domain: Domain, lon: str | None = None, lat: str | None = None, geometry: str | None = None
) -> PointSource:
    """Source of the points in a file, an array or a frame.

    Parameters
    ----------
    points : path, array of shape (n, 2), tuple of two 1-D arrays, list of pairs, or frame of pandas, polars or Arrow
        Files are Parquet, GeoParquet or CSV, by their extension. A tuple holds columns, a list rows.
    domain : Domain
        Geometries declared to be in another reference system than the domain's are refused.
    lon, lat : str, optional
        Names of the columns; the usual ones are recognised.
    geometry : str, optional
        Name of a column of points, instead of `lon` and `lat`.

    Privacy
    -------
    Errors come from the arguments, the schema and the file system; rows are not looked at.

    Examples
    --------
    >>> domain = Domain(west=-75, south=40, east=-73, north=41)
    >>> open_points(np.array([[-73.9, 40.7]]), domain=domain).rows()
    1
    """
    from hushgrid.counting.memory import ArrayPoints, TablePoints  # each reader when it is needed: `import` stays quick

    check_column_arguments(lon, lat, geometry)
    if isinstance(points, str | os.PathLike):
        return _open_file(Path(points), domain, lon, lat, geometry)
    if isinstance(points, np.ndarray | tuple | list):
        if lon is not None or geometry is not None:
            msg = "lon, lat and geometry name columns of a table; an array has none. Leave them out."
            raise ArgumentError(msg)
        return ArrayPoints.of_rows(points) if isinstance(points, list) else ArrayPoints(points)
    return TablePoints.of_frame(points, domain=domain, lon=lon, lat=lat, geometry=geometry)


def _open_file(path: Path, domain: Domain, lon: str | None, lat: str | None, geometry: str | None) -> PointSource:
    name = path.name.lower()
    if path.is_dir():
        msg = f"{path} is a folder. Give one file."
        raise InputError(msg)
    if path.exists() and not path.is_file():
        msg = f"{path} is not a regular file; it is read more than once. Save it as a Parquet or CSV file first."
        raise InputError(msg)
    if name.endswith(PARQUET):
        from hushgrid.counting.parquet import ParquetPoints

        return ParquetPoints(path, domain=domain, lon=lon, lat=lat, geometry=geometry)
    if name.endswith(CSV):
        if geometry is not None:
            msg = f"geometry names a column of points in a Parquet file or a frame; {path} is CSV. Name lon and lat."
            raise InputError(msg)
        from hushgrid.counting.csv_points import CsvPoints

        return CsvPoints(path, lon=lon, lat=lat)
    msg = f"{path} has an extension that is not known. Known are: {', '.join(PARQUET + CSV)}."
    raise InputError(msg)
