"""The surface of each release, and regions over it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hushgrid.answering.around import PlacedAreaSurface, PlacedSurface
from hushgrid.answering.grids import GridSurface
from hushgrid.answering.grouped_grids import GroupedSurface
from hushgrid.answering.nested_grids import NestedSurface, SlopedNestedSurface
from hushgrid.answering.outlines import is_one
from hushgrid.answering.polygons import AreaPartitionSurface, AreaSurface
from hushgrid.answering.sloped_trees import SlopedSurface
from hushgrid.answering.surface import FLAT, Surface
from hushgrid.answering.trees import TreeSurface
from hushgrid.arrays import Floats
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.rects import area_shares, check_rects
from hushgrid.geometry.tree import Tree
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES

SURFACES: Mapping[type, Callable[..., Surface]] = MappingProxyType(
    {
        Grid: GridSurface,
        NestedGrid: NestedSurface.of,
        GroupedGrid: GroupedSurface,
        Tree: TreeSurface,
        AreaPartition: AreaPartitionSurface,
    }
)
SLOPED_SURFACES: Mapping[type, Callable[..., Surface]] = MappingProxyType(
    {NestedGrid: SlopedNestedSurface.of, Tree: SlopedSurface.of}
)


def surface_of(evidence: Evidence, counts: Floats, *, inference: str) -> Surface:
    """The density of a release.

    Its inference decides whether the density is flat or sloped inside leaves.
    """
    make = (SLOPED_SURFACES if INFERENCES[inference].sloped else SURFACES)[type(evidence.partition)]
    return make(evidence, counts)


def slopes_of(surface: Surface) -> Floats:
    """Slopes of the density, shape (leaves, 2).

    There is one along x and one along y inside each leaf. The array is empty where the density is flat.
    """
    return surface.slopes if isinstance(surface, SlopedNestedSurface | SlopedSurface) else FLAT


class Rectangles:
    """Rectangles over a density."""

    def __init__(self, surface: Surface, rects: ArrayLike, domain: Domain) -> None:
        self._surface = surface
        self._rects = check_rects(rects)
        self._domain = domain
        self.is_one = np.ndim(rects) != 2 and np.size(rects) > 0  # an empty list is none

    def area_shares(self) -> Floats:
        """Each one's share of the domain, shape (n,)."""
        return area_shares(self._rects, self._domain)

    def counts(self) -> Floats:
        """Estimated points in each, shape (n,)."""
        return self._surface.counts(self._rects)

    def variances(self) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each."""
        return self._surface.variances(self._rects)

    def cumulants(self) -> tuple[Floats, Floats] | None:
        """Variance and fourth cumulant of noise whose law is known.

        They have shape (n,) each; None where there are no places.
        """
        return self._surface.cumulants(self._rects) if isinstance(self._surface, PlacedSurface) else None


class Polygons:
    """Polygons over a density."""

    def __init__(self, surface: AreaSurface | PlacedAreaSurface, geometries: Any) -> None:
        self._surface = surface
        self._cover: Any = surface.cover(geometries)  # of the kind that the surface sums over
        self.is_one = is_one(geometries)

    def area_shares(self) -> Floats:
        """Each one's share of the domain, shape (n,)."""
        return self._surface.area_shares(self._cover)

    def counts(self) -> Floats:
        """Estimated points in each, shape (n,)."""
        return self._surface.counts(self._cover)

    def variances(self) -> tuple[Floats, Floats]:
        """Variances by noise and by spread, shape (n,) each."""
        return self._surface.variances(self._cover)

    def cumulants(self) -> tuple[Floats, Floats] | None:
        """Variance and fourth cumulant of noise whose law is known.

        They have shape (n,) each; None where there are no places.
        """
        return self._surface.cumulants(self._cover) if isinstance(self._surface, PlacedAreaSurface) else None


Region = Rectangles | Polygons
