"""GeoJSON of unknown origin, and its features."""

import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from hushgrid.errors import ArgumentError

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
    """No search for cycles meanwhile: there are none in JSON, and it takes most of the time of a large file."""
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


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)
