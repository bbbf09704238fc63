"""Opens points, whatever form they come in.

They are moved to the domain's reference system as they are read.
"""

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushgrid.counting.columns import NOT_NAMED, Dialect, refuse_signs, schema_of
from hushgrid.counting.counter import BeforeRows, OpenedPoints, kind_of, nothing
from hushgrid.counting.engine.address import Address
from hushgrid.counting.source import CSV, PARQUET, Block, PointSource
from hushgrid.errors import ArgumentError, InputError, MissingExtraError
from hushgrid.files.paths import FOLDER, IRREGULAR, MISSING, irregularity, near_file
from hushgrid.geometry.domain import GEOGRAPHIC, LONGITUDE_LATITUDE, Bounds, Domain, exact_text
from hushgrid.slices.by import By


def projected(source: PointSource, *, crs: str = LONGITUDE_LATITUDE, domain: Domain) -> PointSource:
    """Move points to a domain's reference system.

    The same source where there is nothing to do.

    Parameters
    ----------
    crs : str
        Reference system of the points as they come. East comes before north whatever the authority says.

    Privacy
    -------
    Rows are transformed one by one, by one operation that is chosen from the two systems alone. One that cannot be
    transformed is not a point any more; that is not an error, and touches no other row.
    """
    return source if _is_same(crs, domain) else ProjectedPoints(source, _transformer(crs, domain))


def check_reachable(crs: str, domain: Domain) -> None:
    """Refuse points that cannot reach the domain's system.

    By the reference systems alone, before any points are opened.
    """
    if not _is_same(crs, domain):
        _transformer(crs, domain)


FAR = 10.0  # degrees: systems are used a little beyond their area, as zone 33 is for all of Norway


def check_place(crs: str, domain: Domain) -> None:
    """Refuse a domain far from where the systems are used.

    Degrees taken for metres, exchanged axes and the wrong system all end up there. By public arguments alone, before
    any points are opened; `check_reachable` comes first.
    """
    if {crs, domain.crs} <= GEOGRAPHIC:
        return
    fault = _misplacement(crs, domain)
    if fault is None:
        return
    west, south, east, north = domain.bounds
    exchanged = (south, west, north, east)
    guesses = ((domain.bounds, LONGITUDE_LATITUDE), (domain.bounds, crs), (exchanged, domain.crs))
    likely = (guess for guess in (_domain(*guess) for guess in guesses) if guess is not None)
    better = next((guess for guess in likely if _misplacement(crs, guess) is None), None)
    instead: dict[str, object] = {} if better is None else {"domain": better}
    if better is not None and better.crs != crs == domain.crs:
        instead["crs"] = crs  # in Python, points are in the domain's system unless it is said
    raise ArgumentError(fault, instead=instead)


def _domain(bounds: Bounds, crs: str) -> Domain | None:
    """The domain of these bounds, if they make one."""
    west, south, east, north = bounds
    try:
        return Domain(west=west, south=south, east=east, north=north, crs=crs)
    except ArgumentError:
        return None


def _misplacement(crs: str, domain: Domain) -> str | None:
    """What is wrong with the place of a domain, or None."""
    import pyproj

    bounds, own = exact_text(domain.bounds), pyproj.CRS.from_user_input(domain.crs)
    is_known = own.is_projected and own.area_of_use is not None  # a system of one's own may begin at a street corner
    if is_known and _domain(domain.bounds, LONGITUDE_LATITUDE) is not None:
        return f"the bounds {bounds} look like degrees, and the domain is in {domain.crs}, which is not in degrees."
    to_degrees = pyproj.Transformer.from_crs(domain.crs, LONGITUDE_LATITUDE, always_xy=True)
    place = to_degrees.transform_bounds(*domain.bounds)
    for system in (domain.crs, crs):
        area = pyproj.CRS.from_user_input(system).area_of_use
        if area is not None and not _distance(place, area.bounds) <= FAR:
            where = ",".join(f"{bound:g}" for bound in area.bounds)
            whose = "" if system == domain.crs else " of the points"
            return (
                f"the domain {bounds} in {domain.crs} lies far from where the system{whose} {system} is used, "
                f"{where} (W,S,E,N in degrees)."
            )
    return None


def _distance(place: Bounds, area: Bounds) -> float:
    """Degrees between two rectangles, along the axis where they are more.

    One whose east is below its west crosses the 180th meridian.
    """
    (west, south, east, north), (first, bottom, last, top) = place, area
    east, last = (high + 360 if high < low else high for low, high in ((west, east), (first, last)))
    sideways = min(max(first - east - turn, west + turn - last, 0.0) for turn in (-360, 0, 360))
    return max(sideways, bottom - north, south - top)


class ProjectedPoints:
    """Points of another source, transformed when read."""

    def __init__(self, source: PointSource, transformer: Any) -> None:
        self._source = source
        self._transformer = transformer
        self.kind = kind_of(source)
        self.schema = schema_of(source)

    def rows(self) -> int:
        """Number of rows."""
        return self._source.rows()

    def parts(self) -> Sequence["ProjectedPart"]:
        """Parts of the other source."""
        return [ProjectedPart(part, self._transformer) for part in self._source.parts()]

    def check_unchanged(self) -> None:
        """Refuse data that changed since it was opened."""
        self._source.check_unchanged()

    def state(self) -> bytes:
        """Digest of the rows before they are transformed."""
        return self._source.state()


@dataclass(frozen=True, repr=False, eq=False)
class ProjectedPart:
    """One part of another source."""

    part: Iterable[Block]
    transformer: Any

    def __iter__(self) -> Iterator[Block]:
        for block in self.part:
            # PROJ gives infinity where it fails, which lies in no domain.
            longitudes, latitudes = self.transformer.transform(*block.doubles(), errcheck=False)
            yield Block.of(longitudes, latitudes, block.share, block.users, block.slices)


def _is_same(crs: str, domain: Domain) -> bool:
    return crs == domain.crs or {crs, domain.crs} <= GEOGRAPHIC


def _transformer(crs: str, domain: Domain) -> Any:
    """The one transformation that serves all rows.

    The best for the area of the domain among those that are installed.
    """
    try:
        import pyproj
        from pyproj.transformer import AreaOfInterest, TransformerGroup
    except ImportError as error:
        msg = f"points in {crs} for a domain in {domain.crs} need pyproj: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    try:
        to_degrees = pyproj.Transformer.from_crs(domain.crs, LONGITUDE_LATITUDE, always_xy=True)
        bounds = to_degrees.transform_bounds(*domain.bounds)
        area = AreaOfInterest(*bounds) if np.isfinite(bounds).all() else None
        with warnings.catch_warnings(action="ignore"):  # PROJ warns that a more accurate one is not installed
            operations = TransformerGroup(crs, domain.crs, always_xy=True, area_of_interest=area).transformers
    except pyproj.exceptions.ProjError:
        operations = []
    if not operations:
        msg = f"PROJ cannot transform crs={crs!r} to the domain's {domain.crs!r}. Write both as in 'EPSG:32618'."
        raise ArgumentError(msg)
    return operations[0]


# What to do with files of other kinds that people have.
_BY_GDAL = "Convert it with: ogr2ogr {stem}.csv {path} -t_srs EPSG:4326 -lco GEOMETRY=AS_XY"
_BY_DUCKDB = "Convert it in Python: duckdb.sql(\"FROM '{path}'\").write_parquet('{stem}.parquet')"
CONVERTERS = {
    **dict.fromkeys((".shp", ".gpkg", ".geojson", ".kml", ".gpx", ".fgb"), _BY_GDAL),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _BY_DUCKDB),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "Save it as CSV in the program that wrote it."),
    **dict.fromkeys((".zip", ".tar", ".7z"), "Unpack it first."),
    ".gz": "A packed CSV file is called {stem}.csv.gz.",
}


def open_points(
    points: Any,
    *,
    crs: str = LONGITUDE_LATITUDE,
    lon: str | None = None,
    lat: str | None = None,
    geometry: str | None = None,
    user: Any = None,
    by: By | None = None,
    dialect: Dialect = NOT_NAMED,
    before_rows: BeforeRows = nothing,
) -> OpenedPoints:
    """Open points in a file, array, frame or engine.

    Parameters
    ----------
    points : path, array of shape (n, 2), tuple of two 1-D arrays, list of pairs, frame, table or address
        Files are Parquet, GeoParquet or CSV, by their extension; a folder of Parquet files is one table. A tuple holds
        columns, a list rows. Frames of pandas, polars and Arrow are counted here; lazy frames of polars, relations of
        DuckDB, frames of Dask and Spark, tables of Ibis and whatever an `Address` leads to are counted there.
    crs : str
        Reference system of the points. Geometries declared to be in another are refused.
    lon, lat : str, optional
        Names of the columns; the usual ones are recognised.
    geometry : str, optional
        Name of a column of points, instead of `lon` and `lat`.
    user : str, or array or list of ids, optional
        Name of the column of user ids; beside an array or a list of points, the ids themselves. The source then has
        them in its blocks.
    by : By, optional
        The slices that records are divided into, by columns of a table. The source then has their numbers in its
        blocks.
    dialect : Dialect
        The signs of CSV files, where they were named. Other points have none.
    before_rows : callable
        Called before the first step that may look at a row, if opening these points takes one.

    Privacy
    -------
    Errors come from the arguments, the declared schema and the file system. Where that cannot be promised, because an
    engine may find its schema in rows, `before_rows` is called first: for a lazy frame, and for what DuckDB and Spark
    are told to read by anything but a path of Parquet files.

    Examples
    --------
    >>> open_points(np.array([[-73.9, 40.7]])).rows()
    1
    """
    from hushgrid.counting.memory import ArrayPoints, TablePoints  # readers are imported when needed

    if isinstance(points, str | os.PathLike):
        return _open_file(Path(points), crs, lon, lat, geometry, _column_name(user), by, dialect)
    if not isinstance(points, Address):
        refuse_signs(dialect, "what is in memory")
    if isinstance(points, np.ndarray | tuple | list):
        if by is not None:
            msg = "slices and periods are by a column, and an array has none. Give a frame or a table with the "
            msg += f"coordinates and {' and '.join(map(repr, by.columns))}."
            raise ArgumentError(msg)
        if lon is not None or geometry is not None:
            msg = "lon, lat and geometry name columns of a table; an array has none. Leave them out."
            raise ArgumentError(msg)
        users = _given_ids(user)
        return (
            ArrayPoints.of_rows(points, users=users) if isinstance(points, list) else ArrayPoints(points, users=users)
        )
    if isinstance(points, Address):
        name = _column_name(user)
        columns = {"lon": lon, "lat": lat, "geometry": geometry, "user": name}
        return points.open(crs=crs, by=by, dialect=dialect, before_rows=before_rows, **columns)
    if not isinstance(points, pa.Table):
        from hushgrid.counting.engine.points import EnginePoints, is_lazy  # narwhals is slow to import

        if is_lazy(points):
            name = _column_name(user)
            return EnginePoints.of(
                points, lon=lon, lat=lat, geometry=geometry, user=name, by=by, before_rows=before_rows
            )
    return TablePoints.of_frame(points, crs=crs, lon=lon, lat=lat, geometry=geometry, user=_column_name(user), by=by)


def _column_name(user: Any) -> str | None:
    if user is not None and not isinstance(user, str):
        msg = f"user must be the name of a column of user ids, got {type(user).__name__}."
        raise ArgumentError(msg)
    return user


def _given_ids(user: Any) -> pa.LargeBinaryArray | None:
    if user is None:
        return None
    if not isinstance(user, np.ndarray | list | tuple):
        msg = f"an array of points has no columns: user must be an array or a list of ids, got {type(user).__name__}."
        raise ArgumentError(msg)
    from hushgrid.counting.users import ids_of_array

    return ids_of_array(user)


def _open_file(
    path: Path,
    crs: str,
    lon: str | None,
    lat: str | None,
    geometry: str | None,
    user: str | None,
    by: By | None,
    dialect: Dialect,
) -> PointSource:
    name = path.name.lower()
    complaint = irregularity(path)
    if complaint == FOLDER or name.endswith(PARQUET):
        refuse_signs(dialect, str(path))
    if complaint == FOLDER:
        from hushgrid.counting.parquet import ParquetFolder

        return ParquetFolder(path, crs=crs, lon=lon, lat=lat, geometry=geometry, user=user, by=by)
    if complaint == IRREGULAR:
        msg = f"{path} is not a regular file, but points are read several times. Save it as a Parquet or CSV file."
        raise InputError(msg)
    if complaint is not None:
        near = near_file(path) if complaint == MISSING else None
        msg = f"{path} {complaint}. Check the path."
        raise InputError(msg, instead={"points": near} if near else None)
    if name.endswith(PARQUET):
        from hushgrid.counting.parquet import ParquetPoints

        return ParquetPoints(path, crs=crs, lon=lon, lat=lat, geometry=geometry, user=user, by=by)
    if name.endswith(CSV):
        if geometry is not None:
            msg = f"geometry names a column of points in a Parquet file or a frame; {path} is CSV. Name lon and lat."
            raise InputError(msg)
        from hushgrid.counting.csv import CsvPoints

        return CsvPoints(path, lon=lon, lat=lat, user=user, by=by, dialect=dialect)
    msg = f"{path} has an unknown extension. Known are: {', '.join(PARQUET + CSV)}."
    if path.suffix.lower() in CONVERTERS:
        msg += f" {CONVERTERS[path.suffix.lower()].format(path=path, stem=path.with_suffix(''))}"
    raise InputError(msg)
