"""Polygons as directed segments, in a domain's coordinates."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.domain import FARTHEST, Domain

Geometries = NDArray[np.object_]

POLYGON, MULTIPOLYGON = 3, 6  # shapely's numbers of types
# PROJ parameters that make it open a file; the grid @null is not a file.
NAMES_A_FILE = re.compile(r"\b(init|file|model|catalog|\w*grids)\s*=(?!\s*@null\b)|PARAMETERFILE", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlines:
    """The rings of areas, as directed segments.

    They run counterclockwise around the inside, clockwise around holes.

    Parameters
    ----------
    segments : array, shape (segments, 4)
        From x, y to x, y; those of a ring follow one another.
    starts : array of int, shape (areas + 1,)
        The segments of an area lie from ``starts[area]`` to ``starts[area + 1]``.
    """

    segments: Floats
    starts: Indices

    @property
    def areas(self) -> int:
        """Number of areas."""
        return len(self.starts) - 1


def outlines(geometries: Any, domain: Domain) -> Outlines:
    """Outlines of polygons, in a domain's reference system.

    Rings that are not valid are repaired.

    Parameters
    ----------
    geometries : shapely geometry, sequence or array of them, GeoSeries or GeoDataFrame
        Polygons and multipolygons. One that is empty, missing or without area has no outline. A frame that carries a
        reference system other than the domain's is transformed, vertex by vertex; edges stay straight.
    domain : Domain

    Examples
    --------
    >>> from shapely import box
    >>> outlines(box(0, 0, 2, 1), Domain(west=0, south=0, east=9, north=9)).segments
    array([[2., 0., 2., 1.],
           [2., 1., 0., 1.],
           [0., 1., 0., 0.],
           [0., 0., 2., 0.]])
    """
    return _of_valid(valid_polygons(geometries, domain))


def valid_polygons(geometries: Any, domain: Domain) -> Geometries:
    """Polygons as valid geometries, in a domain's reference system.

    What a repair left of lines and points is in them, too.
    """
    polygons = geometry_array(geometries)
    _check_types(polygons)
    _check_coordinates(polygons, "has a coordinate that is not a finite number")
    crs = getattr(geometries, "crs", None)
    if crs is not None:
        polygons = transformed(polygons, crs, domain.crs)
    return _repaired(polygons)


class Frame(Protocol):
    """A table with a column of geometries, as GeoPandas has it."""

    @property
    def geometry(self) -> Any:
        """The geometries."""

    def assign(self, **columns: Any) -> Self:
        """The same table with more columns."""


def is_frame(geometries: Any) -> TypeGuard[Frame]:
    """Whether these are geometries with columns beside them, which can take more."""
    return all(hasattr(geometries, name) for name in ("geometry", "columns", "assign"))


def is_one(geometries: Any) -> bool:
    """Whether this is one geometry, not several."""
    return np.ndim(getattr(geometries, "geometry", geometries)) == 0


def transformed(geometries: Geometries, crs: Any, wanted: str) -> Geometries:
    """Geometries in another reference system, vertex by vertex.

    Longitude or easting comes first in both.
    """
    move = transformer(crs, wanted)
    if move is None:
        return geometries

    moved: Geometries = import_shapely().transform(geometries, lambda places: transformed_places(move, places))
    name = _pyproj().CRS.from_user_input(crs).name
    _check_coordinates(moved, f"reaches to where {name} cannot be transformed to {wanted}")
    return moved


def transformed_places(move: Any, places: Floats) -> Floats:
    """Places after a transformer, shape (n, 2); infinite where it fails."""
    return places if move is None else np.stack(move.transform(*places.T, errcheck=False), axis=1)


def transformer(crs: Any, wanted: str) -> Any:
    """The transformer of pyproj between two systems, None if they are the same."""
    if crs == wanted:
        return None
    pyproj = _pyproj()
    for name in (crs, wanted):
        if isinstance(name, str) and NAMES_A_FILE.search(name):
            msg = "a reference system, of polygons or of the domain, names a file; hushgrid opens no such file."
            raise ArgumentError(msg)
    try:
        given = pyproj.CRS.from_user_input(crs)
        if given.equals(pyproj.CRS.from_user_input(wanted), ignore_axis_order=True):
            return None
        return pyproj.Transformer.from_crs(given, wanted, always_xy=True)
    except (pyproj.exceptions.ProjError, ValueError) as error:  # pyproj raises it for names it cannot pass on
        msg = f"a reference system is unknown to PROJ, or cannot be transformed to {wanted}."
        raise ArgumentError(msg) from error


def geometry_array(geometries: Any) -> Geometries:
    """Any geometries as an array, shape (n,).

    They may be one geometry, a sequence, a frame, or a mapping with a column of that name.
    """
    shapely = import_shapely()
    if isinstance(geometries, Mapping) and "geometry" not in geometries:
        msg = "polygons in a mapping must be its 'geometry', as geometries of shapely. Those of GeoJSON are, for "
        msg += "instance, geopandas.GeoDataFrame.from_features(FEATURES, crs=4326)."
        raise ArgumentError(msg)
    column = geometries["geometry"] if isinstance(geometries, Mapping) else getattr(geometries, "geometry", geometries)
    array = np.atleast_1d(np.asarray(column, dtype=object))
    if array.ndim != 1:
        msg = f"polygons must be one geometry or a sequence of them, got an array of shape {array.shape}."
        raise ArgumentError(msg)
    good = shapely.is_valid_input(array)
    if not good.all():
        index = int(np.argmin(good))
        _refuse(index, f"is not a geometry of shapely but of type {type(array[index]).__name__}")
    return array


def _check_types(polygons: Geometries) -> None:
    shapely = import_shapely()
    good = np.isin(shapely.get_type_id(polygons), [POLYGON, MULTIPOLYGON])
    good |= shapely.is_missing(polygons) | shapely.is_empty(polygons)
    if not good.all():
        index = int(np.argmin(good))
        _refuse(index, f"is a {polygons[index].geom_type}; only a Polygon or a MultiPolygon holds points")


def _check_coordinates(polygons: Geometries, complaint: str) -> None:
    coordinates, index = import_shapely().get_coordinates(polygons, return_index=True)
    good = (np.abs(coordinates) < FARTHEST).all(axis=1)  # false for NaN too
    if not good.all():
        _refuse(int(index[np.argmin(good)]), complaint)


def _repaired(polygons: Geometries) -> Geometries:
    shapely = import_shapely()
    broken = np.flatnonzero(~(shapely.is_valid(polygons) | shapely.is_missing(polygons)))
    if len(broken) == 0:
        return polygons
    repaired = polygons.copy()
    for index in broken:
        if is_tangled(polygons[index]):
            _refuse(int(index), f"is not valid and crosses itself more than {MOST_CROSSINGS:,} times; repair it first")
        try:
            repaired[index] = shapely.make_valid(polygons[index])
        except shapely.errors.GEOSException:
            _refuse(int(index), "is not valid and cannot be repaired")
    return repaired


def _of_valid(geometries: Geometries) -> Outlines:
    """Outlines of the polygons in geometries.

    Lines and points that a repair left have none.
    """
    shapely = import_shapely()
    parts, area = shapely.get_parts(geometries, return_index=True)
    polygons, part = shapely.get_parts(parts, return_index=True)
    is_polygon = shapely.get_type_id(polygons) == POLYGON
    rings, polygon = shapely.get_rings(polygons[is_polygon], return_index=True)
    is_shell = np.diff(polygon, prepend=-1) > 0
    rings = np.where(shapely.is_ccw(rings) == is_shell, rings, shapely.reverse(rings))
    places, ring = shapely.get_coordinates(rings, return_index=True)
    real = (ring[1:] == ring[:-1]) & (places[1:] != places[:-1]).any(axis=1)
    area_of_segment = area[part][is_polygon][polygon[ring[1:][real]]]
    return Outlines(
        segments=np.hstack([places[:-1][real], places[1:][real]]),
        starts=np.searchsorted(area_of_segment, np.arange(len(geometries) + 1)),
    )


def import_shapely() -> Any:
    """Import shapely, or say how to get it."""
    try:
        import shapely
    except ImportError as error:
        msg = "polygons need shapely: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    return shapely


def _pyproj() -> Any:
    try:
        import pyproj
    except ImportError as error:
        msg = "other reference systems than longitude and latitude need pyproj: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    return pyproj


def _refuse(index: int, complaint: str) -> NoReturn:
    msg = f"polygon {index} {complaint}."
    raise ArgumentError(msg)


MOST_CROSSINGS = 5_000  # a repair takes seconds at this number, and grows with its square
PAIRS_AT_ONCE = 2**22
NEIGHBOURS = 64  # of an edge on average: far more than drawn outlines have


def is_tangled(polygon: Any) -> bool:
    """Whether a polygon crosses itself too often.

    A repair would then not end, or not fit in memory.

    Examples
    --------
    >>> from shapely import Polygon
    >>> is_tangled(Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]))
    False
    """
    import shapely

    places, ring = shapely.get_coordinates(shapely.get_rings(shapely.get_parts(polygon)), return_index=True)
    joined = ring[1:] == ring[:-1]
    segments = shapely.linestrings(np.stack([places[:-1][joined], places[1:][joined]], axis=1))
    tree, step = shapely.STRtree(segments), max(1, min(len(segments), PAIRS_AT_ONCE // max(1, len(segments))))
    meetings = 0
    for first in range(0, len(segments), step):
        some = segments[first : first + step]
        # Each segment meets itself and its neighbours in the ring; any other pair is found from both sides.
        meetings += tree.query(some, predicate="intersects").shape[1] - 3 * len(some)
        if meetings > 2 * MOST_CROSSINGS:
            return True
    return False


def is_intricate(segments: NDArray[np.float64]) -> bool:
    """Whether boxes around segments overlap too often.

    To compare such outlines would not end. Segments have shape (n, 4).

    Examples
    --------
    >>> is_intricate(np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 2.0, 0.0]]))
    False
    """
    import shapely

    boxes = shapely.linestrings(segments.reshape(-1, 2, 2))
    tree, step = shapely.STRtree(boxes), max(1, PAIRS_AT_ONCE // max(1, len(boxes)))
    pairs = 0
    for first in range(0, len(boxes), step):
        pairs += tree.query(boxes[first : first + step]).shape[1]
        if pairs > NEIGHBOURS * len(boxes) + PAIRS_AT_ONCE:
            return True
    return False
