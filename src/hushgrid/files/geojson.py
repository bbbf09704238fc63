"""GeoJSON of unknown origin: its features, their geometries and system."""

import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE

GEOJSON_ENDINGS = (".geojson", ".json")
FARTHEST_DEGREE = 360.0  # of any longitude that means one
OBJECT = (dict, Mapping)  # asked first, a dict is known much faster


def parse_geojson(text: bytes) -> dict[str, Any]:
    """The JSON object in a text, or an error."""
    try:
        with _no_collector():
            document = json.loads(text.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        msg = "it is not GeoJSON text in UTF-8."
        raise ArgumentError(msg) from None
    if not isinstance(document, dict):
        msg = "it is not a GeoJSON object."
        raise ArgumentError(msg)
    return document


@contextmanager
def _no_collector() -> Iterator[None]:
    """Stop looking for garbage in cycles meanwhile.

    JSON has no cycles, and looking for them takes most of the time of a large file.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def features_in(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The features of a GeoJSON object.

    A single feature is one, and so is a bare geometry.

    Examples
    --------
    >>> features_in({"type": "Point", "coordinates": [0, 0]})
    [{'geometry': {'type': 'Point', 'coordinates': [0, 0]}, 'type': 'Feature', 'properties': {}}]
    """
    match document.get("type"):
        case "FeatureCollection":
            features = document.get("features")
        case "Feature":
            features = [document]
        case _:
            features = [{"type": "Feature", "properties": {}, "geometry": document}]
    if not isinstance(features, list) or not all(isinstance(feature, OBJECT) for feature in features):
        msg = "its features are not a list of objects."
        raise ArgumentError(msg)
    for number, feature in enumerate(features):
        if not isinstance(feature.get("properties"), (*OBJECT, type(None))):
            msg = f"the properties of feature {number} are not an object."
            raise ArgumentError(msg)
    with _no_collector():
        return [{"geometry": None, **feature} for feature in features]


def geometries_of(features: list[dict[str, Any]]) -> NDArray[np.object_]:
    """Geometries of features as shapely has them; None where one has no place."""
    import shapely

    geometries = np.full(len(features), None, dtype=object)
    for number, feature in enumerate(features):
        if feature["geometry"] is None:
            continue
        try:
            geometries[number] = shapely.from_geojson(json.dumps(feature["geometry"]))
        except (shapely.errors.ShapelyError, ValueError, RecursionError):
            msg = f"feature {number} has no geometry that can be read; its rings may not be closed."
            raise ArgumentError(msg) from None
    return geometries


def check_degrees(geometries: NDArray[np.object_]) -> None:
    """Refuse what is not in degrees, though GeoJSON is."""
    import shapely

    far = np.abs(shapely.bounds(geometries)).max(axis=1, initial=0) > FARTHEST_DEGREE  # not where there is no geometry
    if far.any():
        msg = f"feature {int(far.argmax())} is not in longitude and latitude, as GeoJSON is. Convert the file from its "
        msg += "own system, for instance by ogr2ogr -s_srs EPSG:32618 -t_srs EPSG:4326 degrees.geojson FILE."
        raise ArgumentError(msg)


def reference_system(document: Mapping[str, Any]) -> str:
    """The system of a GeoJSON object.

    Longitude and latitude (RFC 7946), unless it names another the way GeoJSON did before, and GDAL still does.
    """
    named = document.get("crs")
    if named is None:
        return LONGITUDE_LATITUDE
    try:
        name = named["properties"]["name"]
    except (LookupError, TypeError):
        name = None
    if not isinstance(name, str):
        msg = "its member crs does not name a reference system."
        raise ArgumentError(msg)
    return LONGITUDE_LATITUDE if name.endswith(":CRS84") else name


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)
