"""Keeps synthetic points on land, or inside areas."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.answering.areas import AreaShapes
from hushgrid.answering.boxes import BoxTree
from hushgrid.answering.cover import Cover
from hushgrid.answering.outlines import POLYGON, Geometries, import_shapely, outlines, valid_polygons
from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.sampling.scatter import inherit

SMALLEST_SHARE = 2.0**-10  # of a leaf's mass: below it, points would be sought in vain for too long


@dataclass(frozen=True, kw_only=True, eq=False)
class Land:
    """A union of polygons, and its share of every leaf.

    Parameters
    ----------
    geometry : shapely geometry
        The union of the polygons, in the reference system of the domain.
    shares : array, shape (leaves,)
        Of each leaf's area; zero where next to nothing of the leaf is covered.
    """

    geometry: Any
    shares: Floats

    @classmethod
    def of(cls, polygons: Any, hierarchy: BoxTree, slopes: Floats) -> Self:
        """Land of polygons, given as for `Synopsis.count_polygons`.

        Parameters
        ----------
        slopes : array, shape (leaves, 2)
            Of the density inside leaves; empty where it is flat.
        """
        geometry = union(polygons, hierarchy.domain)
        of_nodes = np.zeros((hierarchy.nodes if len(slopes) else 0, 2))
        if len(slopes):
            of_nodes[hierarchy.leaves] = slopes
        cover = Cover.of(hierarchy, outlines(geometry, hierarchy.domain), of_nodes).node_by_node()
        area, mass = np.zeros((2, hierarchy.nodes))
        for values, shares in ((area, cover.area_shares), (mass, cover.mass_shares)):
            np.add.at(values, cover.runs[:, 0], shares)
            inherit(hierarchy.parents, values)
        shares = np.where(mass >= SMALLEST_SHARE, area, 0.0)[hierarchy.leaves]
        if not shares.any():
            msg = "within must cover a part of the domain, but its polygons cover none."
            raise ArgumentError(msg)
        return cls(geometry=geometry, shares=shares)

    def holds(self, points: Floats) -> NDArray[np.bool_]:
        """Whether points, shape (..., 2), lie on land."""
        import shapely

        shapely.prepare(self.geometry)
        return np.asarray(shapely.intersects_xy(self.geometry, points[..., 0], points[..., 1]), bool)


def union(polygons: Any, domain: Domain) -> Any:
    """Union of polygons, in the domain's reference system."""
    valid = valid_polygons(polygons, domain)  # says so if shapely is missing
    import shapely

    parts = shapely.get_parts(shapely.get_parts(valid))
    return shapely.union_all(parts[shapely.get_type_id(parts) == POLYGON])


MOST_TRIES = 10_000  # for one point, in the box around its area


def shapes_within(areas: AreaPartition, within: Any = None) -> Geometries:
    """The areas, or what polygons cover of them."""
    shapes = AreaShapes(areas).shapes
    if within is None:
        return shapes
    covered: Geometries = import_shapely().intersection(shapes, union(within, areas.domain))
    if not import_shapely().area(covered).any():
        msg = "within must cover a part of the areas, but its polygons cover none."
        raise ArgumentError(msg)
    return covered


def area_masses(shapes: Geometries, counts: Floats) -> Floats:
    """Share of the points that each area gets.

    In proportion to counts, nothing where these are negative; shares sum to one. Where no count is positive, in
    proportion to extents.
    """
    sizes = import_shapely().area(shapes)
    masses = np.where(sizes > 0, np.maximum(counts, 0), 0.0)
    if not masses.any():
        masses = sizes
    return np.asarray(masses / masses.sum())


def scatter_in(shapes: Geometries, numbers: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Points placed evenly in areas, shape (n, 2).

    `numbers` says how many in each.
    """
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
    msg = "an area, or what within leaves of it, is too thin to place points in. Widen it, or leave it out."
    raise ArgumentError(msg)
