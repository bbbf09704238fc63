"""Coastlines and borders for pictures: the outlines that the web map has, too."""

from dataclasses import dataclass

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.export.world import world_for
from hushgrid.geometry.domain import Domain


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


def coast(domain: Domain) -> Coast:
    """Coastlines and borders that come near a domain."""
    world = world_for(domain)
    arcs = [world.degrees(arc) for arc in world.arcs]
    land = [np.concatenate([arcs[n] if n >= 0 else arcs[-1 - n][::-1] for n in ring]) for ring in world.rings]
    shores = [arc for number, arc in enumerate(arcs) if number not in world.borders]
    borders = [arcs[number] for number in sorted(world.borders)]
    return Coast(*([line for line in lines if _near(line, domain)] for lines in (land, shores, borders)))


def _near(line: Floats, domain: Domain) -> bool:
    (west, south), (east, north) = line.min(axis=0), line.max(axis=0)
    return bool(west <= domain.east and domain.west <= east and south <= domain.north and domain.south <= north)
