"""Named areas of a page: their outlines, counts and noise."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hushgrid.answering.areas import AreaShapes, has_outline, multipolygons
from hushgrid.answering.outlines import import_shapely, valid_polygons
from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.inference.noise_law import own_noise
from hushgrid.synopsis.answer import ONE_LAPLACE, TWO_LAPLACES, reach_of_noise
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.figures import CONFIDENCE, Payload, fixed_point

DIGITS = 10  # of coordinates, from the extent of all areas down: 0.1 mm on a city
MOST_DIGITS = 15  # of any coordinate, so that it is a whole number in a double

Starts = Sequence[int] | Indices


def area_figures(synopsis: Synopsis, payload: Payload) -> dict[str, Any]:
    """What the page needs to know of a release on areas."""
    return area_shapes(_partition(synopsis), payload) | area_counts(synopsis, payload)


def area_shapes(partition: AreaPartition, payload: Payload) -> dict[str, Any]:
    """Areas of every level, the coarsest first; outlines go to the payload."""
    payload.add("places", partition.places)
    payload.add("children", partition.branches.child_counts)
    shapes, levels = AreaShapes(partition), []
    for number, level in enumerate(partition.all_levels):
        is_finest = level.name == partition.level
        vertices, *starts = partition.arrays if is_finest else shapes.joined(level.starts)
        payload.add(f"parts{number}", np.diff(level.starts))
        decimals = add_outlines(number, vertices, starts, payload)
        levels.append({"name": level.name, "names": level.names, "decimals": decimals})
    reaches = reach_of_noise(CONFIDENCE, np.array([0, TWO_LAPLACES, ONE_LAPLACE])).tolist()
    return {"kind": "areas", "kurtosisReaches": reaches, "levels": levels}


def area_counts(synopsis: Synopsis, payload: Payload) -> dict[str, Any]:
    """How counts of areas are read: they and their noise go to the payload.

    The noise of a sum follows from that of the tree of areas, as in `NoiseLaw`.
    """
    units, step = fixed_point(synopsis.counts / synopsis.factor)
    payload.add("counts", units)
    variances, fourths = own_noise(synopsis.evidence.nodes, synopsis.measurements)
    noise = [
        _add_pairs(f"noise{number}", np.stack(synopsis.districts.noise(level), axis=1), payload)
        for number, level in enumerate(_partition(synopsis).all_levels)
    ]
    nodes = _add_pairs("nodeNoise", np.stack([1 / variances, fourths], axis=1), payload)
    return {"factor": synopsis.factor, "step": step, "nodeNoise": nodes, "noise": noise}


def _partition(synopsis: Synopsis) -> AreaPartition:
    assert isinstance(synopsis.partition, AreaPartition)
    return synopsis.partition


Overlay = Mapping[str, list[dict[str, Any]]]  # areas and lines, as `areas_and_lines` has them


def overlay_figures(overlay: Overlay, payload: Payload) -> dict[str, Any]:
    """Names of the areas of an overlay, and its lines.

    Outlines go to the payload.
    """
    areas = overlay["areas"]
    known: dict[str, Any] = {"lines": overlay["lines"], "names": [area["name"] for area in areas]}
    if areas:
        polygons = [polygon for area in areas for polygon in area["polygons"]]
        rings = [[*ring, ring[0]] for polygon in polygons for ring in polygon]
        parts = rings, polygons, [area["polygons"] for area in areas]
        starts = [np.cumsum([0, *(len(each) for each in part)]) for part in parts]
        known["decimals"] = add_outlines(0, np.concatenate(rings), starts, payload)
    return known


def overlay_lines(overlay: Overlay) -> dict[str, Any]:
    """An overlay as lines alone, for a release that has areas of its own."""
    rings = [ring for area in overlay["areas"] for polygon in area["polygons"] for ring in polygon]
    return {"lines": [*overlay["lines"], *({"line": [*ring, ring[0]]} for ring in rings)], "names": []}


def add_outlines(number: int, vertices: Floats, starts: Sequence[Starts], payload: Payload) -> int:
    """Add the outlines of areas, and say how many decimals they have.

    They are nested as in `AreaPartition`, and closed. The page leaves the last vertex of a ring out.
    """
    ring_starts, polygon_starts, area_starts = starts
    decimals = decimals_of(vertices)
    kept = np.ones(len(vertices), bool)
    kept[np.asarray(ring_starts)[1:] - 1] = False
    whole = np.rint(_shifted(vertices[kept], decimals)).astype(np.int64)
    for axis, name in enumerate("xy"):
        payload.add(f"{name}{number}", np.diff(whole[:, axis], prepend=0))
    payload.add(f"rings{number}", np.diff(ring_starts) - 1)
    payload.add(f"polygons{number}", np.diff(polygon_starts))
    payload.add(f"areas{number}", np.diff(area_starts))
    return decimals


Arrays = tuple[Floats, Indices, Indices, Indices]  # vertices, and the starts of rings, polygons and areas


def polygon_outlines(polygons: Any, domain: Domain) -> tuple[Indices, Arrays]:
    """Which of some polygons have an outline, and the outlines of these."""
    shapes = multipolygons(valid_polygons(polygons, domain))
    kept = np.flatnonzero(has_outline(shapes))
    _, vertices, starts = import_shapely().to_ragged_array(shapes[kept])
    return kept, (vertices, *starts)


def block_outlines(grid: Grid) -> Arrays:
    """Every block of a grid as one ring."""
    west, south, east, north = grid.bounds().T
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    vertices = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1).reshape(-1, 2)
    each = np.arange(grid.cells + 1)
    return vertices, len(corners) * each, each, each


def level_outlines(partition: AreaPartition) -> Iterator[tuple[str, Indices, Arrays]]:
    """Every level, the coarsest first: name, places in its file, outlines."""
    shapes = AreaShapes(partition)
    for name in partition.level_names:
        level = partition.level_called(name)
        order = np.argsort(partition.file_order(level))  # outlines come in the order of the partition
        yield name, order, partition.arrays if name == partition.level else shapes.joined(level.starts)


def decimals_of(vertices: Floats) -> int:
    """As many decimals as the coordinates have, up to some digits.

    It is negative where the last digits before the point are left out, too.

    Examples
    --------
    >>> decimals_of(np.array([[-74.25, 40.5], [-73.125, 40.75]])), decimals_of(np.array([[0, 1 / 3], [2, 0]]))
    (3, 9)
    """
    extent = float(np.ptp(vertices, axis=0).max()) or 1.0
    farthest = float(np.abs(vertices).max()) or 1.0
    most = min(DIGITS - math.ceil(math.log10(extent)), MOST_DIGITS - math.ceil(math.log10(farthest)))
    exact = (
        decimals
        for decimals in range(most)
        if np.array_equal(_shifted(np.rint(_shifted(vertices, decimals)), -decimals), vertices)
    )
    return next(exact, most)


def _shifted(values: Floats, decimals: int) -> Floats:
    """Values times a power of ten.

    For a negative power they are divided, so that decimals come out exact.
    """
    return np.asarray(values * 10.0**decimals if decimals >= 0 else values / 10.0**-decimals)


def _add_pairs(name: str, pairs: Floats, payload: Payload) -> list[list[float]]:
    """The distinct pairs; which of them each is goes to the payload."""
    distinct, index = np.unique(pairs, axis=0, return_inverse=True)
    payload.add(name, index.reshape(-1))
    return [[float(value) for value in pair] for pair in distinct]
