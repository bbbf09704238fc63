"""The features of a GeoJSON text."""

import json
from pathlib import Path
from typing import Any, NoReturn

import click

from hushgrid.cli.features import Features
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE


def geojson_features(path: Path) -> Features:
    """Features of a GeoJSON file, or of standard input for ``-``; what is wrong with it is an ArgumentError.

    Coordinates are longitude and latitude (RFC 7946), unless the file names another reference system the way GeoJSON
    did before, and GDAL still does.
    """
    with click.open_file(str(path), "rb") as file:
        text = file.read()
    try:
        document = json.loads(text.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        msg = "it is not GeoJSON text in UTF-8."
        raise ArgumentError(msg) from None
    features = _features(document)
    return Features(geometry=_geometries(features), crs=_reference_system(document), features=features)


def _features(document: Any) -> list[dict[str, Any]]:
    """The features of a collection, a single feature, or a geometry as one."""
    if not isinstance(document, dict):
        msg = "it is no GeoJSON object."
        raise ArgumentError(msg)
    match document.get("type"):
        case "FeatureCollection":
            features = document.get("features")
        case "Feature":
            features = [document]
        case _:
            features = [{"type": "Feature", "properties": {}, "geometry": document}]
    if not isinstance(features, list) or not all(isinstance(feature, dict) for feature in features):
        msg = "its features are no list of objects."
        raise ArgumentError(msg)
    for number, feature in enumerate(features):
        if not isinstance(feature.get("properties"), dict | None):
            msg = f"the properties of feature {number} are no object."
            raise ArgumentError(msg)
    return [{"geometry": None, **feature} for feature in features]


def _geometries(features: list[dict[str, Any]]) -> Any:
    import numpy as np
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


def _reference_system(document: dict[str, Any]) -> str:
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
    msg = f"{name} is no JSON"
    raise ValueError(msg)
