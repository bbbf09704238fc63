"""Named areas of a page: their outlines, counts and noise."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hushgrid.answering.areas import AreaShapes
from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.areas import AreaPartition
from hushgrid.inference.noise_law import own_noise
from hushgrid.synopsis.answer import ONE_LAPLACE, TWO_LAPLACES, reach_of_noise
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.figures import CONFIDENCE, Payload, fixed_point

DIGITS = 10  # of coordinates, from the extent of all areas down: 0.1 mm on a city
MOST_DIGITS = 15  # of any coordinate, so that it is a whole number in a double

Starts = Sequence[int] | Indices


def area_figures(synopsis: Synopsis, payload: Payload) -> dict[str, Any]:
    """What the page needs to know of a release on areas.

    Counts and outlines go to the payload. The noise of a sum follows from that of the tree of areas, as in `NoiseLaw`.
    """
    partition = synopsis.partition
    assert isinstance(partition, AreaPartition)
    units, step = fixed_point(synopsis.counts / synopsis.factor)
    payload.add("counts", units)
    payload.add("places", partition.places)
    payload.add("children", partition.branches.child_counts)
    variances, fourths = own_noise(synopsis.evidence.nodes, synopsis.measurements)
    precisions = 1 / variances
    return {
        "kind": "areas",
        "step": step,
        "kurtosisReaches": reach_of_noise(CONFIDENCE, np.array([0, TWO_LAPLACES, ONE_LAPLACE])).tolist(),
        "nodeNoise": _add_pairs("nodeNoise", np.stack([precisions, fourths], axis=1), payload),
        "levels": _add_levels(synopsis, partition, payload),
    }


def _add_levels(synopsis: Synopsis, partition: AreaPartition, payload: Payload) -> list[dict[str, Any]]:
    """Names of every level, the coarsest first; the rest goes to the payload."""
    shapes, levels = AreaShapes(partition), []
    for number, level in enumerate(partition.all_levels):
        is_finest = level.name == partition.level
        vertices, *starts = partition.arrays if is_finest else shapes.joined(level.starts)
        payload.add(f"parts{number}", np.diff(level.starts))
        noise = np.stack(synopsis.districts.noise(level), axis=1)
        levels.append(
            {
                "name": level.name,
                "names": level.names,
                "noise": _add_pairs(f"noise{number}", noise, payload),
                "decimals": add_outlines(number, vertices, starts, payload),
            }
        )
    return levels


Overlay = Mapping[str, list[dict[str, Any]]]  # areas and lines, as `areas_and_lines` has them


def overlay_figures(overlay: Overlay, payload: Payload) -> dict[str, Any]:
    """Names of the areas of an overlay, and its lines; outlines go to the payload."""
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
    """Values times a power of ten; divided by one, so that decimals come out exact."""
    return np.asarray(values * 10.0**decimals if decimals >= 0 else values / 10.0**-decimals)


def _add_pairs(name: str, pairs: Floats, payload: Payload) -> list[list[float]]:
    """The distinct pairs; which of them each is goes to the payload."""
    distinct, index = np.unique(pairs, axis=0, return_inverse=True)
    payload.add(name, index.reshape(-1))
    return [[float(value) for value in pair] for pair in distinct]
