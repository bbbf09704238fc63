"""Coastlines and borders around a domain, as the page draws them."""

from typing import Any

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.export.world import World, world_for
from hushgrid.geometry.domain import Domain
from hushgrid.web.payload import Payload

Bounds = tuple[float, float, float, float]

MARGIN = 1.5  # of the longer side, all around: a screen may be far wider or taller than the domain


def add_atlas(domain: Domain, payload: Payload) -> dict[str, Any]:
    """Put the outlines of all land near a domain in the payload, and say how to read them."""
    world = world_for(domain)
    margin = MARGIN * max(domain.width, domain.height)
    around = (domain.west - margin, domain.south - margin, domain.east + margin, domain.north + margin)
    rings = [ring for ring in world.rings if _meet(world.extents[[_forward(arc) for arc in ring]], around)]
    kept = sorted({_forward(arc) for ring in rings for arc in ring})
    number = {arc: index for index, arc in enumerate(kept)}
    arcs = [np.diff(_thinned(world.arcs[arc], world, around), axis=0, prepend=0) for arc in kept]
    payload.add("arcLengths", [len(arc) for arc in arcs])
    for axis, name in enumerate(("arcX", "arcY")):
        payload.add(name, np.concatenate([[], *(arc[:, axis] for arc in arcs)]))
    payload.add("arcBorders", [arc in world.borders for arc in kept])
    payload.add("ringLengths", [len(ring) for ring in rings])
    payload.add("ringArcs", [number[arc] if arc >= 0 else -1 - number[-1 - arc] for ring in rings for arc in ring])
    return {"scale": world.scale, "translate": world.translate}


def _forward(arc: int) -> int:
    """The number of an arc, whichever way a ring runs along it."""
    return arc if arc >= 0 else -1 - arc


def _meet(extents: Floats, around: Bounds) -> bool:
    west, south, east, north = around
    across = extents[:, 0].min() < east and west < extents[:, 2].max()
    return bool(across and extents[:, 1].min() < north and south < extents[:, 3].max())


def _thinned(arc: Indices, world: World, around: Bounds) -> Indices:
    """An arc without points that lie beyond a side, like both their neighbours: what is inside stays as it is."""
    x, y = world.degrees(arc).T
    west, south, east, north = around
    kept = np.ones(len(arc), bool)
    for beyond in (x < west, y < south, x > east, y > north):
        kept[1:-1] &= ~(beyond[:-2] & beyond[1:-1] & beyond[2:])
    return arc[kept]
