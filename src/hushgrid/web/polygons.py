"""Polygons that the server is asked about, as GeoJSON."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hushgrid.answering.outlines import import_shapely
from hushgrid.errors import ArgumentError
from hushgrid.files.geojson import features_in
from hushgrid.geometry.domain import LONGITUDE_LATITUDE
from hushgrid.web.overlay import DEPTHS, SMALLEST_RING
from hushgrid.web.questions import (
    BODY_TOO_LARGE,
    LARGEST_BATCH,
    MOST_OF_ONE,
    MOST_VERTICES,
    AskedSlices,
    RefusalError,
    confidence_in_address,
    slices_in_address,
)

POLYGONS_EXAMPLE = (
    '{"type": "Feature", "properties": {"name": "Centre"}, "geometry": {"type": "Polygon", "coordinates": '
    "[[[-74, 40], [-73, 40], [-73, 41], [-74, 40]]]}}"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class PolygonQuestion:
    """Features, their geometries, and the confidence and the slices asked for.

    It is given to `Synopsis.answer_polygons` as a frame is: by its column `geometry` and its `crs`.
    """

    features: list[dict[str, Any]]
    geometry: NDArray[np.object_]
    vertices: int
    confidence: float
    slices: AskedSlices
    crs: str = LONGITUDE_LATITUDE


def polygons_in_body(body: bytes, parameters: Iterable[tuple[str, str]] = ()) -> PolygonQuestion:
    """The question of a GeoJSON object, and of ``?confidence=0.95&slice=07``.

    Coordinates are longitude and latitude (RFC 7946), whatever the release is in.

    Examples
    --------
    >>> question = polygons_in_body(POLYGONS_EXAMPLE.encode())
    >>> question.features[0]["properties"], question.geometry[0].area
    ({'name': 'Centre'}, 0.5)
    """
    slices, others = slices_in_address(parameters)
    confidence = confidence_in_address(others)
    document = _parsed(body)
    if document.get("crs") is not None:
        msg = (
            "the member crs is not read: GeoJSON is in longitude and latitude (RFC 7946). Transform it, and leave crs "
        )
        msg += "out."
        raise ArgumentError(msg)
    try:
        features = features_in(document)
    except ArgumentError as error:
        msg = f"the body is not GeoJSON of polygons: {error}"
        raise ArgumentError(msg) from None
    if len(features) > LARGEST_BATCH:
        msg = f"at most {LARGEST_BATCH:,} features fit in one request, got {len(features):,}; ask in several."
        raise RefusalError(BODY_TOO_LARGE, msg)
    vertices = _checked_vertices(features)
    geometry = np.full(len(features), None, dtype=object)
    for number, feature in enumerate(features):
        geometry[number] = _polygon(feature["geometry"], number)
    return PolygonQuestion(
        features=features, geometry=geometry, vertices=vertices, confidence=confidence, slices=slices
    )


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body.decode("utf-8-sig"), parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        msg = f"the body must be a GeoJSON object in UTF-8, with finite numbers, such as {POLYGONS_EXAMPLE}."
        raise ArgumentError(msg)
    return document


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _no_number(text)
    return number


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def _checked_vertices(features: list[dict[str, Any]]) -> int:
    """How many vertices there are.

    What is not nested as polygons are, and too many vertices, are refused before any geometry is made.
    """
    vertices = 0
    for number, feature in enumerate(features):
        geometry = feature["geometry"]
        if geometry is None:
            continue
        if not isinstance(geometry, Mapping) or geometry.get("type") not in ("Polygon", "MultiPolygon"):
            msg = f"feature {number} is not a Polygon or a MultiPolygon; only these hold points."
            raise ArgumentError(msg)
        parts = [geometry.get("coordinates")]
        for _ in range(DEPTHS[geometry["type"]]):
            parts = [part for each in parts if isinstance(each, list) for part in each]
        vertices += len(parts)
        if len(parts) > MOST_OF_ONE:
            msg = f"a feature may have {MOST_OF_ONE:,} vertices, and feature {number} has {len(parts):,}; simplify it."
            raise RefusalError(BODY_TOO_LARGE, msg)
        if not all(map(_is_position, parts)):
            msg = f"feature {number} has a position that is not two numbers, longitude and latitude."
            raise ArgumentError(msg)
    if vertices > MOST_VERTICES:
        msg = f"at most {MOST_VERTICES:,} vertices fit in one request, got {vertices:,}; simplify, or ask in several."
        raise RefusalError(BODY_TOO_LARGE, msg)
    return vertices


def _is_position(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(type(part) in (int, float) for part in value[:2])


def _polygon(geometry: Mapping[str, Any] | None, number: int) -> Any:
    """A geometry as shapely has it, None for none."""
    shapely = import_shapely()
    if geometry is None or not geometry.get("coordinates"):
        return None
    parts = [geometry["coordinates"]] if geometry["type"] == "Polygon" else geometry["coordinates"]
    try:
        rings = [[_ring(ring) for ring in part] for part in parts]
        return shapely.MultiPolygon([(part[0], part[1:]) for part in rings])
    except (ValueError, TypeError, IndexError, OverflowError, shapely.errors.ShapelyError):
        msg = f"feature {number} has no geometry that can be read; a ring has at least four positions, and ends where "
        msg += "it begins."
        raise ArgumentError(msg) from None


def _ring(positions: list[list[float]]) -> NDArray[np.float64]:
    ring = np.array([position[:2] for position in positions], np.float64)
    if len(ring) < SMALLEST_RING or (ring[0] != ring[-1]).any():
        msg = "not a closed ring"
        raise ValueError(msg)
    return ring
