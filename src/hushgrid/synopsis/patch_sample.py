"""Synthetic points in areas."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import Patchwork
from hushgrid.synopsis.land import union
from hushgrid.synopsis.outlines import Geometries, import_shapely
from hushgrid.synopsis.patches import Patches

MOST_TRIES = 10_000  # for one point, in the box around its area


def shapes_within(areas: Patchwork, within: Any = None) -> Geometries:
    """The areas, or what polygons cover of them."""
    shapes = Patches(areas).shapes
    if within is None:
        return shapes
    covered: Geometries = import_shapely().intersection(shapes, union(within, areas.domain))
    if not import_shapely().area(covered).any():
        msg = "within must cover a part of the areas for points to lie in; its polygons cover none."
        raise ArgumentError(msg)
    return covered


def area_masses(shapes: Geometries, counts: Floats) -> Floats:
    """Share of the points that go to each area, summing to one: in proportion to counts, none where these are negative.

    Where no count is positive, extents share instead.
    """
    sizes = import_shapely().area(shapes)
    masses = np.where(sizes > 0, np.maximum(counts, 0), 0.0)
    if not masses.any():
        masses = sizes
    return np.asarray(masses / masses.sum())


def scatter_in(shapes: Geometries, numbers: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """So many points in each area, evenly, shape (n, 2)."""
    shapely = import_shapely()
    shapely.prepare(shapes)
    bounds = shapely.bounds(shapes)
    area = np.repeat(np.arange(len(shapes)), numbers)
    points, waiting = np.empty((len(area), 2)), np.arange(len(area))
    for _ in range(MOST_TRIES):
        low, high = bounds[area[waiting], :2], bounds[area[waiting], 2:]
        tries = low + (high - low) * rng.random((len(waiting), 2))
        inside = shapely.intersects_xy(shapes[area[waiting]], *tries.T)
        points[waiting[inside]] = tries[inside]
        waiting = waiting[~inside]
        if len(waiting) == 0:
            return points
    msg = "an area, or what within leaves of it, is too thin for points to be found in it; widen or leave it out."
    raise ArgumentError(msg)
