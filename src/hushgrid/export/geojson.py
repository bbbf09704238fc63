"""Cells and points as GeoJSON (RFC 7946)."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from hushgrid.answering.outlines import import_shapely
from hushgrid.export.facts import facts
from hushgrid.export.systems import areas_in_degrees, in_degrees, rings_in_degrees
from hushgrid.geometry.areas import Patchwork
from hushgrid.synopsis.cells import RING
from hushgrid.synopsis.synopsis import Synopsis

CELLS_AT_ONCE = 2**14
COORDINATES = "longitude, latitude (RFC 7946)"


def write_geojson(synopsis: Synopsis, out: BinaryIO) -> None:
    """Every leaf as a polygon with its count and standard error, and an area with its name, in longitude and latitude.

    A member ``hushgrid`` of the collection says what the file is.
    """
    cells = synopsis.partition.cells
    if isinstance(synopsis.partition, Patchwork):
        _write(facts(synopsis), _areas(synopsis, synopsis.partition), out)
        return
    parts = (_cells(synopsis, first, min(first + CELLS_AT_ONCE, cells)) for first in range(0, cells, CELLS_AT_ONCE))
    _write(facts(synopsis), (feature for part in parts for feature in part), out)


def write_points_geojson(synopsis: Synopsis, points: NDArray[np.float64], about: dict[str, str], out: BinaryIO) -> None:
    """Points as features without properties, in longitude and latitude."""
    parts = (points[first : first + CELLS_AT_ONCE] for first in range(0, len(points), CELLS_AT_ONCE))
    places = (place for part in parts for place in in_degrees(part, synopsis.domain).tolist())
    _write(about, (_feature(_geometry("Point", place), "") for place in places), out)


def _cells(synopsis: Synopsis, first: int, stop: int) -> Iterator[str]:
    rings = rings_in_degrees(synopsis.partition.bounds(first, stop)[:, RING], synopsis.domain)
    counts, errors = synopsis.counts[first:stop], np.sqrt(synopsis.variances[first:stop])
    for ring, count, error in zip(rings.tolist(), counts.tolist(), errors.tolist(), strict=True):
        yield _feature(_geometry("Polygon", [ring]), f'"count":{count},"std_error":{error}')


def _areas(synopsis: Synopsis, areas: Patchwork) -> Iterator[str]:
    shapes = import_shapely().to_geojson(areas_in_degrees(areas)).tolist()
    counts, errors = synopsis.counts.tolist(), np.sqrt(synopsis.variances).tolist()
    for shape, name, count, error in zip(shapes, areas.names, counts, errors, strict=True):
        called = json.dumps(name, ensure_ascii=False)
        yield _feature(shape, f'"name":{called},"count":{count},"std_error":{error}')


def _geometry(kind: str, coordinates: list[Any]) -> str:
    # Lists of finite floats are written alike in Python and in JSON, and in Python much faster.
    return f'{{"type":"{kind}","coordinates":{coordinates}}}'


def _feature(geometry: str, properties: str) -> str:
    return f'{{"type":"Feature","properties":{{{properties}}},"geometry":{geometry}}}'


def _write(about: dict[str, str], features: Iterable[str], out: BinaryIO) -> None:
    member = json.dumps({**about, "coordinates": COORDINATES}, ensure_ascii=False)
    out.write(f'{{"type": "FeatureCollection", "hushgrid": {member}, "features": ['.encode())
    for number, feature in enumerate(features):
        out.write((",\n" if number else "\n").encode())
        out.write(feature.encode())
    out.write(b"\n]}\n")
