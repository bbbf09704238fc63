"""Reference systems for GDAL, and places in degrees."""

import numpy as np
from numpy.typing import NDArray

from hushgrid.answering.areas import AreaShapes
from hushgrid.answering.outlines import import_shapely, transformer
from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.geometry.nesting import AreaLevel

WIDEST = 180.0  # degrees; what reaches further goes around the back of the world


def gdal_name(domain: Domain) -> str:
    """The name of a domain's system for GDAL.

    Its files put longitude first in any case.

    Examples
    --------
    >>> gdal_name(Domain(west=0, south=0, east=1, north=1))
    'EPSG:4326'
    """
    return "EPSG:4326" if domain.is_geographic else domain.crs


def in_degrees(places: Floats, domain: Domain) -> Floats:
    """Places of a domain in degrees, shape (..., 2)."""
    if domain.is_geographic:
        return places
    move = transformer(domain.crs, LONGITUDE_LATITUDE)
    return places if move is None else np.stack(move.transform(places[..., 0], places[..., 1]), axis=-1)


def rings_in_degrees(rings: Floats, domain: Domain) -> Floats:
    """Rings in degrees, counterclockwise, shape (n, points, 2).

    Edges stay straight.
    """
    moved = in_degrees(rings, domain)
    _check_degrees(moved[..., 0].min(axis=1), moved[..., 0].max(axis=1), moved, domain)
    x, y = moved[..., 0], moved[..., 1]
    twice_area = np.sum(x[:, :-1] * y[:, 1:] - x[:, 1:] * y[:, :-1], axis=1)
    clockwise = twice_area < 0
    moved[clockwise] = moved[clockwise, ::-1]
    return moved


def areas_in_degrees(areas: AreaPartition, level: AreaLevel | None = None) -> NDArray[np.object_]:
    """Areas as shapely geometries in degrees, by default the finest.

    Outer rings are counterclockwise; edges stay straight.
    """
    shapely, shapes = import_shapely(), AreaShapes(areas)
    wanted = shapes.shapes if level is None else shapes.of_level(level)
    moved = shapely.transform(wanted, lambda places: in_degrees(places, areas.domain))
    west, _, east, _ = shapely.bounds(moved).T
    _check_degrees(west, east, shapely.get_coordinates(moved), areas.domain)
    # GEOS puts outer rings clockwise where it brings a geometry in order.
    turned: NDArray[np.object_] = shapely.reverse(shapely.normalize(moved))
    return turned


def _check_degrees(west: Floats, east: Floats, places: Floats, domain: Domain) -> None:
    if domain.is_geographic:  # nothing was moved, and what lies on both sides of the 180th meridian is in two parts
        return
    if not np.isfinite(places).all() or np.any(east - west > WIDEST):
        msg = f"cells in {domain.crs} reach around the 180th meridian or a pole, or to where there are no degrees: "
        msg += "GeoJSON cannot hold them. Export a GeoPackage, which keeps the system."
        raise ArgumentError(msg)
