"""Points and polygons of public files, with or without a weight."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.answering.boxes import BoxTree
from hushgrid.answering.cover import Cover
from hushgrid.answering.outlines import (
    MULTIPOLYGON,
    POLYGON,
    Geometries,
    import_shapely,
    outlines,
    transformed_places,
    transformer,
)
from hushgrid.answering.surface import FLAT
from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError
from hushgrid.files.columns import usual_pairs
from hushgrid.files.geojson import check_degrees, features_in, geometries_of, parse_geojson, reference_system
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.geometry.grid import Grid
from hushgrid.priors.masses import LARGEST_COUNT, RASTER_LEVEL, CellMasses, Source
from hushgrid.text import shown

POINT, MULTIPOINT = 0, 4  # shapely's numbers of types
LONGEST_TEXT = 200
NAMED_BY = "name"  # the property or column that says what each is called


@dataclass(frozen=True, kw_only=True, eq=False)
class Vectors:
    """Points or polygons, as a file has them.

    Parameters
    ----------
    places : array of float, shape (n, 2), optional
        Points, where there are no geometries.
    geometries : array of shapely geometries, shape (n,), optional
        All of them points or polygons; None where a row has no place.
    crs : str or a system of pyproj
        Their reference system, longitude or easting first.
    weights : array of float, shape (n,), optional
        What each counts for, if not one.
    licence : str, optional
        What the file says of its licence.
    names : tuple of str, optional
        What each is called, by the property or column ``name``; none where some have no name.
    """

    places: Floats | None = None
    geometries: Geometries | None = None
    crs: Any = LONGITUDE_LATITUDE
    weights: Floats | None = None
    licence: str | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of_geojson(cls, content: bytes, weight: str | None) -> Self:
        """Features of GeoJSON; the weight is a property of each."""
        import_shapely()
        document = parse_geojson(content)
        features = features_in(document)
        geometries, crs = geometries_of(features), reference_system(document)
        if crs == LONGITUDE_LATITUDE and len(features):
            check_degrees(geometries)
        weights, properties = None, [feature.get("properties") or {} for feature in features]
        if weight is not None:
            _check_named(weight, list(dict.fromkeys(name for each in properties for name in each)))
            weights = _weights(_numbers([each.get(weight) for each in properties], weight), weight)
        licence = document.get("licence", document.get("license"))
        names = _names([each.get(NAMED_BY) for each in properties])
        return cls(geometries=geometries, crs=crs, weights=weights, licence=plain_text(licence), names=names)

    @classmethod
    def of_parquet(cls, content: bytes, weight: str | None) -> Self:
        """Rows of Parquet: two columns of degrees, or GeoParquet's geometries."""
        try:
            file = pq.ParquetFile(pa.BufferReader(content))
            names, metadata = file.schema_arrow.names, file.schema_arrow.metadata or {}
            if weight is not None:
                _check_named(weight, names)
            chosen, geometry = _columns(names, metadata)
            used = [*chosen, *(name for name in (weight, NAMED_BY) if name is not None and name in names)]
            _check_told_apart(used, names)
            table = file.read(used)
        except (pa.ArrowException, OSError):
            msg = "it is damaged or cut short."
            raise ArgumentError(msg) from None
        weights = None if weight is None else _weights(_column(table, weight), weight)
        licence = metadata.get(b"licence", metadata.get(b"license", b"")).decode(errors="replace")
        named = _names(table[NAMED_BY].to_pylist()) if NAMED_BY in table.column_names else None
        said = cls(weights=weights, licence=plain_text(licence), names=named)
        if geometry is None:
            return replace(said, places=np.stack([_column(table, name) for name in chosen], axis=1))
        shapely = import_shapely()
        try:
            geometries = shapely.from_wkb(np.array(table[chosen[0]].to_pylist(), dtype=object))
        except (shapely.errors.ShapelyError, TypeError):
            msg = f"its column {chosen[0]!r} does not hold geometries in well-known binary (WKB)."
            raise ArgumentError(msg) from None
        return replace(said, geometries=geometries, crs=_declared_crs(geometry))

    @property
    def frame(self) -> "_Frame":
        """The polygons with their reference system, as GeoPandas has them."""
        if self.geometries is None:
            msg = "it has points where polygons are needed."
            raise ArgumentError(msg)
        return _Frame(self.geometries, self.crs)

    def prior(self, source: Source, domain: Domain) -> CellMasses:
        """The masses of cells of a domain.

        The source is given the kind and the licence that were found.
        """
        source = replace(source, licence=self.licence)
        if self.places is not None:
            places = _moved(self.places, self.crs, domain)
            return CellMasses.of_points(replace(source, kind="points"), places, self.weights, domain)
        kinds = import_shapely().get_type_id(self.geometries)
        known = kinds >= 0  # what is missing has no type
        if np.isin(kinds[known], [POINT, MULTIPOINT]).all():
            return self._of_point_geometries(replace(source, kind="points"), domain)
        if np.isin(kinds[known], [POLYGON, MULTIPOLYGON]).all():
            return self._of_polygons(replace(source, kind="polygons"), domain)
        msg = "it must hold points alone, or polygons alone; other geometries are not a density."
        raise ArgumentError(msg)

    def _of_point_geometries(self, source: Source, domain: Domain) -> CellMasses:
        shapely = import_shapely()
        places, row = shapely.get_coordinates(self.geometries, return_index=True)
        weights = None
        if self.weights is not None:
            weights = (self.weights / np.maximum(shapely.get_num_geometries(self.geometries), 1))[row]
        return CellMasses.of_points(source, _moved(places, self.crs, domain), weights, domain)

    def _of_polygons(self, source: Source, domain: Domain) -> CellMasses:
        return CellMasses.of_raster(source, spread_evenly(self, domain))


def spread_evenly(polygons: Vectors, domain: Domain) -> Floats:
    """Pixels of a domain, over which polygons spread their weights.

    A polygon that lies in the domain in part has that part of its weight there. Shape (side, side), the southernmost
    row first.
    """
    rings = outlines(polygons.frame, domain)
    side = 1 << RASTER_LEVEL
    grid = Grid(domain=domain, rows=side, columns=side)
    cover = Cover.of(BoxTree.of(grid), rings, FLAT)
    x, y, next_x, next_y = rings.segments.T
    area = np.repeat(np.arange(rings.areas), np.diff(rings.starts))
    sizes = np.bincount(area, (x * next_y - next_x * y) / 2, minlength=rings.areas)  # the shoelace formula
    weights = np.ones(rings.areas) if polygons.weights is None else polygons.weights
    density = np.divide(weights, sizes, out=np.zeros(rings.areas), where=sizes > 0)
    pixel_size = domain.width * domain.height / grid.cells
    masses = pixel_size * density[np.repeat(np.arange(rings.areas), np.diff(cover.starts))] * cover.area_shares
    return _painted(cover, masses, grid)


def _painted(cover: Cover, masses: Floats, grid: Grid) -> Floats:
    """Add to each pixel the masses of the runs that hold it."""
    first, stop = cover.runs.T
    single, nodes = stop - first == 1, grid.cells + 1
    begun, ended = first[~single], stop[~single]
    held = np.cumsum(np.bincount(begun, minlength=nodes) - np.bincount(ended, minlength=nodes + 1)[:nodes])
    added = np.bincount(begun, masses[~single], minlength=nodes)
    running = np.cumsum(added - np.bincount(ended, masses[~single], minlength=nodes + 1)[:nodes])
    pixels = np.where(held > 0, np.maximum(running, 0.0), 0.0)  # where nothing is held, rounding is left
    pixels += np.bincount(first[single], masses[single], minlength=nodes)
    # Node 0 is the whole domain, and the pixels follow.
    return np.asarray(pixels[1:] + pixels[0], np.float64).reshape(grid.rows, grid.columns)


class _Frame:
    """Geometries with their reference system, as GeoPandas has them."""

    def __init__(self, geometry: Any, crs: Any) -> None:
        self.geometry, self.crs = geometry, crs


def _moved(places: Floats, crs: Any, domain: Domain) -> Floats:
    """Places in the domain's system; infinite where it has none."""
    move = None if domain.is_geographic and crs == LONGITUDE_LATITUDE else transformer(crs, domain.crs)
    return transformed_places(move, places)


def _columns(names: list[str], metadata: Mapping[bytes, bytes]) -> tuple[list[str], dict[str, Any] | None]:
    """The columns of the places, and what GeoParquet says of them."""
    geo = _geo(metadata.get(b"geo"))
    primary = geo.get("primary_column")
    if isinstance(primary, str) and primary in names:
        columns = geo.get("columns")
        entry = columns.get(primary) if isinstance(columns, dict) else None
        return [primary], entry if isinstance(entry, dict) else {}
    pairs = usual_pairs(names)
    if len(pairs) == 1:
        return list(pairs[0]), None
    msg = "it must be GeoParquet, or have two columns called lon and lat (or longitude and latitude, or x and y), in "
    msg += "degrees."
    raise ArgumentError(msg)


def _geo(text: bytes | None) -> dict[str, Any]:
    try:
        said = json.loads(text or b"{}")
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        msg = "its 'geo' metadata is damaged."
        raise ArgumentError(msg)
    return said


def _declared_crs(column: Mapping[str, Any]) -> Any:
    """The reference system of a column of GeoParquet."""
    if column.get("encoding", "WKB") != "WKB":
        msg = "its geometries must be well-known binary (WKB)."
        raise ArgumentError(msg)
    crs = column.get("crs", LONGITUDE_LATITUDE)  # the default of the specification
    if crs is None:
        msg = "it does not say its coordinate reference system."
        raise ArgumentError(msg)
    identifier = crs.get("id", {}) if isinstance(crs, dict) else {}
    return LONGITUDE_LATITUDE if identifier == {"authority": "OGC", "code": "CRS84"} else crs


def _check_named(weight: str, names: list[str]) -> None:
    if weight not in names:
        listed = ", ".join(map(repr, names[:40])) or "none"
        msg = f"it has no column {weight!r} of weights (prior_weight); its columns are: {listed}."
        raise ArgumentError(msg)


def _check_told_apart(used: list[str], names: list[str]) -> None:
    for name in used:
        if names.count(name) > 1:
            msg = f"it has several columns called {name!r}. Leave one of them."
            raise ArgumentError(msg)


def _numbers(values: list[Any], name: str) -> Floats:
    """Values of JSON as numbers, NaN where one is missing."""
    if any(isinstance(value, bool) or not isinstance(value, float | int | None) for value in values):
        msg = f"its column {name!r} does not hold numbers."
        raise ArgumentError(msg)
    # Whole numbers of JSON may be larger than any float; what is beyond the bounds is refused as a weight.
    bounded = (np.nan if value is None else min(max(value, -1), 2 * LARGEST_COUNT) for value in values)
    return np.fromiter(bounded, np.float64)


def _column(table: pa.Table, name: str) -> Floats:
    """A column as numbers, NaN where one is missing."""
    column, kind = table[name], table.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        msg = f"its column {name!r} has type {kind}, which does not hold numbers."
        raise ArgumentError(msg)
    return np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(), np.float64)


def _names(values: list[Any]) -> tuple[str, ...] | None:
    """Names as texts, none if one is missing."""
    texts = tuple(plain_text(str(value)) or "" if value is not None else "" for value in values)
    return texts if all(texts) else None


def _weights(values: Floats, name: str) -> Floats:
    """Weights of at least zero; a missing one counts as nothing."""
    weights = np.where(np.isnan(values), 0.0, values)
    if not ((weights >= 0) & (weights <= LARGEST_COUNT)).all():
        msg = f"its weights {name!r} must be numbers from 0 to {LARGEST_COUNT:g}."
        raise ArgumentError(msg)
    return weights


def plain_text(text: object) -> str | None:
    """A text as a release can state it, None if there is none."""
    if not isinstance(text, str):
        return None
    return " ".join(shown(text, other=" ").split())[:LONGEST_TEXT] or None
