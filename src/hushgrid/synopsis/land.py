"""Areas that made-up points must lie in."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.kernels.halving import inherit
from hushgrid.synopsis.cover import Cover
from hushgrid.synopsis.hierarchy import Hierarchy
from hushgrid.synopsis.outlines import POLYGON, outlines, valid_polygons

SMALLEST_SHARE = 2.0**-10  # of a leaf's mass: below it, points would be sought in vain for too long


@dataclass(frozen=True, kw_only=True, eq=False)
class Land:
    """What polygons cover together, and how much of every leaf it is.

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
    def of(cls, polygons: Any, hierarchy: Hierarchy, slopes: Floats) -> Self:
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
            msg = "within must cover a part of the domain for points to lie in; its polygons cover none."
            raise ArgumentError(msg)
        return cls(geometry=geometry, shares=shares)

    def holds(self, points: Floats) -> NDArray[np.bool_]:
        """Whether points, shape (..., 2), lie in it."""
        import shapely

        shapely.prepare(self.geometry)
        return np.asarray(shapely.intersects_xy(self.geometry, points[..., 0], points[..., 1]), bool)


def union(polygons: Any, domain: Domain) -> Any:
    """What polygons cover together, as one geometry in the reference system of a domain."""
    valid = valid_polygons(polygons, domain)  # says so if shapely is missing
    import shapely

    parts = shapely.get_parts(shapely.get_parts(valid))
    return shapely.union_all(parts[shapely.get_type_id(parts) == POLYGON])
