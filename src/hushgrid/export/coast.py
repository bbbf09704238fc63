"""Coastlines and borders for pictures: the atlas of the web map (Natural Earth, by way of world-atlas)."""

import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain

Floats = NDArray[np.float64]

LARGEST_FINE = 15.0  # degrees: wider domains are served by the coarser outlines


@dataclass(frozen=True, eq=False)
class Coast:
    """Lines in longitude and latitude, shape (points, 2) each.

    Parameters
    ----------
    land : list of array
        Closed rings around countries.
    shores, borders : list of array
        Lines between land and sea, and between countries.
    """

    land: list[Floats]
    shores: list[Floats]
    borders: list[Floats]


def coast(domain: Domain) -> Coast | None:
    """Coastlines and borders that come near a domain, or None where the package was installed without them."""
    world = _world("10m" if max(domain.width, domain.height) < LARGEST_FINE else "50m")
    if world is None:
        return None
    return Coast(
        *([line for line in lines if _near(line, domain)] for lines in (world.land, world.shores, world.borders))
    )


@cache
def _world(scale: str) -> Coast | None:
    file = resources.files("hushgrid") / "web" / "assets" / "atlas" / f"world-{scale}.json.gz"
    if not file.is_file():
        return None
    world = json.loads(gzip.decompress(file.read_bytes()))
    arcs = [np.cumsum(arc, axis=0) * world["scale"] + world["translate"] for arc in world["arcs"]]
    borders = set(world["borders"])
    return Coast(
        # Arcs of a ring that run against their direction are numbered -1 - arc.
        land=[np.concatenate([arcs[n] if n >= 0 else arcs[-1 - n][::-1] for n in ring]) for ring in world["rings"]],
        shores=[arc for number, arc in enumerate(arcs) if number not in borders],
        borders=[arc for number, arc in enumerate(arcs) if number in borders],
    )


def _near(line: Floats, domain: Domain) -> bool:
    (west, south), (east, north) = line.min(axis=0), line.max(axis=0)
    return bool(west <= domain.east and domain.west <= east and south <= domain.north and domain.south <= north)
