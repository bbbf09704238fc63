"""Outlines of the world's land.

From Natural Earth, by way of world-atlas (``tools/make_atlas.py``).
"""

import gzip
import json
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.domain import Domain

LARGEST_FINE = 15.0  # degrees: wider domains are served by the coarser outlines


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """Arcs in whole numbers, and the rings they make.

    Parameters
    ----------
    scale, translate : list of float
        Degrees are whole numbers times `scale` plus `translate`.
    arcs : list of array, shape (points, 2)
        Each stands once, however many rings it is part of.
    rings : list of lists of int
        Numbers of arcs, one after the other; one that runs against its direction is -1 - arc.
    borders : frozenset of int
        Arcs between two countries; the others are shores.
    """

    scale: list[float]
    translate: list[float]
    arcs: list[Indices]
    rings: list[list[int]]
    borders: frozenset[int]

    def degrees(self, arc: Indices) -> Floats:
        """Longitude and latitude of an arc, shape (points, 2)."""
        return np.asarray(np.array(self.scale) * arc + self.translate)

    @cached_property
    def extents(self) -> Floats:
        """Bounds of every arc, shape (arcs, 4)."""
        return np.array(
            [np.hstack([self.degrees(arc).min(axis=0), self.degrees(arc).max(axis=0)]) for arc in self.arcs]
        )


def in_sight(line: Floats, around: tuple[float, float, float, float]) -> NDArray[np.bool_]:
    """Which points of a line matter within bounds.

    Those that lie beyond a side, like both their neighbours, cannot be seen; what is inside stays as it is.

    Examples
    --------
    >>> in_sight(np.array([[-9.0, 0], [-8, 0], [-7, 1], [0, 1], [1, 1]]), (0, 0, 2, 2))
    array([ True, False,  True,  True,  True])
    """
    x, y = line.T
    west, south, east, north = around
    kept = np.ones(len(line), bool)
    for beyond in (x < west, y < south, x > east, y > north):
        kept[1:-1] &= ~(beyond[:-2] & beyond[1:-1] & beyond[2:])
    return kept


def world_for(domain: Domain) -> World:
    """The world, as fine as the domain needs."""
    return _read("10m" if max(domain.width, domain.height) < LARGEST_FINE else "50m")


@cache
def _read(scale: str) -> World:
    packed = (resources.files("hushgrid") / "data" / "atlas" / f"world-{scale}.json.gz").read_bytes()
    world = json.loads(gzip.decompress(packed))
    return World(
        scale=world["scale"],
        translate=world["translate"],
        arcs=[np.array(arc).cumsum(axis=0) for arc in world["arcs"]],
        rings=world["rings"],
        borders=frozenset(world["borders"]),
    )
