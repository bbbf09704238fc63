"""Areas to count on: shapes that meet along borders, with holes, islands and a neighbour inside another."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import shapely

from hushgrid.answering.areas import area_partition
from tests.plain import UNIT_SQUARE

LAKE = shapely.box(0.6, 0.1, 0.7, 0.2)
SHAPES = {
    "west": shapely.box(0, 0, 0.5, 0.5),
    "east, with a hole": shapely.box(0.5, 0, 1, 0.5).difference(LAKE),
    "in the hole": LAKE,
    "islands": shapely.MultiPolygon([shapely.box(0.0, 0.6, 0.2, 0.8), shapely.box(0.3, 0.6, 0.4, 0.8)]),
    "slanted": shapely.Polygon([(0.5, 0.5), (1, 0.55), (0.9, 1), (0.55, 0.9)]),
}


def districts(domain=UNIT_SQUARE):
    """Those areas, as a partition of the unit square."""
    return area_partition(list(SHAPES.values()), list(SHAPES), domain)


def mosaic(size=40, seed=1, *, step=0.02):
    """Areas that tile the unit square with slanted borders, each of many short edges."""
    seeds = shapely.multipoints(np.random.default_rng(seed).random((size, 2)))
    square = shapely.box(0, 0, 1, 1)
    tiles = shapely.get_parts(shapely.voronoi_polygons(seeds, extend_to=square))
    return shapely.segmentize(shapely.intersection(tiles, square), step)


def first_holders(shapes, points):
    """The first of the shapes that holds each point, borders included, or -1: as shapely has it."""
    point, shape = shapely.STRtree(shapes).query(shapely.points(points), predicate="intersects")
    found = np.full(len(points), len(shapes))
    np.minimum.at(found, point, shape)
    return np.where(found == len(shapes), -1, found)


def exactly_holds(shape, point):
    """Whether a shape holds a point, borders included, in fractions: GEOS rounds to some hundred bits."""
    x, y = map(Fraction, point)
    inside = False
    for ring in shapely.get_rings(shapely.get_parts(shape)):
        corners = [tuple(map(Fraction, corner)) for corner in shapely.get_coordinates(ring).tolist()]
        for (ax, ay), (bx, by) in (sorted(edge, key=lambda end: end[1]) for edge in pairwise(corners)):
            side = (ax - x) * (by - y) - (ay - y) * (bx - x)
            if side == 0 and min(ax, bx) <= x <= max(ax, bx) and ay <= y <= by:
                return True
            inside ^= ay <= y < by and side > 0
    return inside
