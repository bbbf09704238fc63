"""Areas and lines to show on the map."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hushgrid.errors import LONGEST_QUOTE, ArgumentError, InputError
from hushgrid.files.geojson import features_in, parse_geojson
from hushgrid.files.paths import IRREGULAR, irregularity

DEPTHS = {"LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}  # of lists around a position
SMALLEST_RING = 4  # positions, the first once more at the end
FARTHEST = 1e300  # of any coordinate; a double holds no whole number much larger
MOST_LISTED = 20  # names in a message
NAMES = ("name", "NAME", "Name", "title", "id")  # of properties that say what an area is called

Position = list[float]


def read_overlay(path: Path) -> dict[str, Any]:
    """The GeoJSON object in a file."""
    if irregularity(path) == IRREGULAR:
        msg = f"cannot read the overlay {path}: it {IRREGULAR}."
        raise InputError(msg)
    try:
        return parse_geojson(path.read_bytes())
    except OSError as error:
        msg = f"cannot read the overlay {path}: {error.strerror}."
        raise InputError(msg) from None
    except ArgumentError as error:
        msg = f"cannot read the overlay {path}: {error}"
        raise InputError(msg) from None


def areas_and_lines(overlay: Mapping[str, Any], *, area_name: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Areas and lines of a GeoJSON object.

    An area is a name and polygons; points are passed over.

    Positions are those of the domain: longitude and latitude, or easting and northing in its own CRS. Areas are called
    by the property `area_name`, or by one that is commonly used.

    Examples
    --------
    >>> triangle = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}
    >>> areas_and_lines({"type": "Feature", "properties": {"name": "Delta"}, "geometry": triangle})
    {'areas': [{'name': 'Delta', 'polygons': [[[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]]}], 'lines': []}
    """
    areas: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    places = list(_places(overlay))
    if area_name is not None:
        _check_names(area_name, places)
    for index, (_, properties, geometry) in enumerate(places):
        kind = str(geometry.get("type"))
        if kind in ("Point", "MultiPoint"):
            continue
        _check(kind in DEPTHS, f"geometry {index} is of an unknown type, {kind!r}")
        coordinates = _nested(geometry.get("coordinates"), DEPTHS[kind], index)
        if kind.endswith("Polygon"):
            polygons = coordinates if kind == "MultiPolygon" else [coordinates]
            rings = [[_open(ring, index) for ring in polygon] for polygon in polygons]
            name = str(properties[area_name]) if area_name is not None else _name(properties, len(areas))
            areas.append({"name": name, "polygons": rings})
        else:
            lines.extend({"line": line} for line in (coordinates if kind == "MultiLineString" else [coordinates]))
    return {"areas": areas, "lines": lines}


Place = tuple[int, Mapping[str, Any], Mapping[str, Any]]  # a feature's number, its properties, one of its geometries


def _places(overlay: Mapping[str, Any]) -> Iterator[Place]:
    """Everything that has a place."""
    try:
        features = features_in(overlay)
    except ArgumentError as error:
        msg = f"the overlay is not GeoJSON of lines and areas: {error}"
        raise InputError(msg) from None
    for number, feature in enumerate(features):
        if feature["geometry"] is not None:
            for geometry in _single(feature["geometry"]):
                if geometry.get("coordinates") == []:
                    continue  # a geometry of nothing, as RFC 7946 has it
                yield number, feature.get("properties") or {}, geometry


def _single(geometry: Any) -> Iterator[Mapping[str, Any]]:
    """The geometries of a collection, or the one there is."""
    _check(isinstance(geometry, Mapping), "a geometry is not an object")
    if geometry.get("type") != "GeometryCollection":
        yield geometry
        return
    members = geometry.get("geometries")
    _check(isinstance(members, list), "its geometries are not a list")
    for member in members or []:
        yield from _single(member)


def _nested(coordinates: Any, depth: int, index: int) -> list[Any]:
    nested = isinstance(coordinates, list) and len(coordinates) > 0
    _check(nested, f"the coordinates of geometry {index} are not nested as its type has it")
    if depth > 0:
        return [_nested(part, depth - 1, index) for part in coordinates]
    numbers = len(coordinates) > 1 and all(map(_is_number, coordinates[:2]))
    _check(numbers, f"a position of geometry {index} is not two finite numbers")
    return [float(coordinates[0]), float(coordinates[1])]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -FARTHEST < value < FARTHEST


def _open(ring: list[Position], index: int) -> list[Position]:
    closed = len(ring) >= SMALLEST_RING and ring[0] == ring[-1]
    _check(closed, f"a ring of geometry {index} is not closed, or has fewer than {SMALLEST_RING} positions")
    return ring[:-1]


def _name(properties: Mapping[str, Any], number: int) -> str:
    return next((str(properties[name]) for name in NAMES if properties.get(name)), f"Area {number + 1}")


def _check_names(area_name: str, places: Sequence[Place]) -> None:
    """Refuse a property that is not there, or empty for some area."""
    areas = [(number, properties) for number, properties, geometry in places if "Polygon" in str(geometry.get("type"))]
    there = dict.fromkeys(str(name)[:LONGEST_QUOTE] for _, properties in areas for name in properties)
    if areas and area_name not in there:
        listed = f"there are: {', '.join(list(there)[:MOST_LISTED])}" if there else "there are none"
        msg = f"--area-name must be a property of the overlay's areas, got {area_name[:LONGEST_QUOTE]!r}; {listed}."
        raise InputError(msg)
    for number, properties in areas:
        name = properties.get(area_name)
        if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
            msg = f"feature {number} of the overlay has no name: its property {area_name!r} is missing or empty. Give "
            msg += "it one, or leave the feature out."
            raise InputError(msg)


def _check(good: bool, complaint: str) -> None:
    if not good:
        msg = f"the overlay is not GeoJSON of lines and areas: {complaint}."
        raise InputError(msg)
