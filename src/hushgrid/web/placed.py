"""Places of a release as the page knows them: in convex pieces."""

from itertools import pairwise
from typing import Any

import numpy as np

from hushgrid.answering.areas import AreaShapes
from hushgrid.answering.outlines import import_shapely
from hushgrid.arrays import Floats
from hushgrid.inference.noise_law import fourth_cumulant
from hushgrid.synopsis.answer import ONE_LAPLACE, TWO_LAPLACES, reach_of_noise
from hushgrid.synopsis.places import CountedPlaces

NEARLY_CONVEX = 1e-12  # of an area: what its hull may have more


def place_figures(places: CountedPlaces, *, confidence: float) -> dict[str, Any]:
    """Counts of places, the law of their noise, and their pieces.

    A piece comes after the number of its place.
    """
    shapely = import_shapely()
    polygons, place = shapely.get_parts(AreaShapes(places.areas).shapes, return_index=True)
    pieces = [
        [number, *piece.ravel().tolist()]
        for polygon, number in zip(polygons, place.tolist(), strict=True)
        for piece in convex_pieces(polygon)
    ]
    return {
        "values": places.values.values.tolist(),
        "variance": float(places.values.variances[0]),
        "fourthCumulant": fourth_cumulant(places.rate),
        "reaches": reach_of_noise(confidence, np.array([0.0, TWO_LAPLACES, ONE_LAPLACE])).tolist(),
        "pieces": pieces,
    }


def convex_pieces(polygon: Any) -> list[Floats]:
    """A polygon in convex pieces, vertices counterclockwise, shape (vertices, 2) each.

    One that is not convex is cut at the height of every vertex.

    Examples
    --------
    >>> from shapely import Polygon
    >>> [len(piece) for piece in convex_pieces(Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]))]
    [4, 4]
    """
    shapely = import_shapely()
    is_whole = shapely.get_num_interior_rings(polygon) == 0
    if is_whole and shapely.area(shapely.convex_hull(polygon)) <= (1 + NEARLY_CONVEX) * shapely.area(polygon):
        ring = shapely.get_exterior_ring(polygon)
        places = shapely.get_coordinates(ring)[:-1]
        return [places if shapely.is_ccw(ring) else places[::-1]]
    segments = np.concatenate([_segments(shapely.get_coordinates(ring)) for ring in shapely.get_rings(polygon)])
    heights = np.unique(segments[:, 1::2])
    return [piece for low, high in pairwise(heights.tolist()) for piece in _between(segments, low, high)]


def _segments(places: Floats) -> Floats:
    """The edges of a ring, each from its lower end, shape (edges, 4)."""
    edges = np.hstack([places[:-1], places[1:]])
    return np.where((edges[:, 1] <= edges[:, 3])[:, None], edges, edges[:, [2, 3, 0, 1]])


def _between(segments: Floats, low: float, high: float) -> list[Floats]:
    """The parts of a polygon between two heights, no vertex of it between them."""
    x0, y0, x1, y1 = segments[(segments[:, 1] <= low) & (segments[:, 3] >= high)].T
    at_low, at_high = (x0 + (x1 - x0) * ((line - y0) / (y1 - y0)) for line in (low, high))
    order = np.argsort(at_low + at_high)
    pairs = zip(order[::2].tolist(), order[1::2].tolist(), strict=True)
    corners = ([(at_low[a], low), (at_low[b], low), (at_high[b], high), (at_high[a], high)] for a, b in pairs)
    return [np.array(piece) for piece in corners]
