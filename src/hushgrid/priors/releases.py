"""An earlier release as a prior."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hushgrid.answering.areas import AreaShapes
from hushgrid.answering.outlines import Geometries, import_shapely, transformer
from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import GEOGRAPHIC, Domain
from hushgrid.geometry.quadrants import DEEPEST, gather_bits
from hushgrid.priors.masses import PSEUDO_COUNT, CellMasses, Source
from hushgrid.priors.vectors import Vectors
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedDensity(Source):
    """The counts of an earlier release, as a prior.

    Parameters
    ----------
    synopsis : Synopsis
        The release, in the system of the domain.
    domain : Domain
        The domain that the prior is opened for.
    """

    synopsis: Synopsis
    domain: Domain

    @cached_property
    def _unsigned(self) -> Synopsis:
        # A prior has no negative mass, and adds up.
        return replace(self.synopsis, counts=np.maximum(self.synopsis.counts, 0.0))

    def evidence(self, levels: Indices, codes: Indices) -> Floats:
        """Evidence in quadtree cells of the domain, shape (n,)."""
        size, side = 1 << (DEEPEST - levels), 1 << DEEPEST
        left, bottom = gather_bits(codes) * size, gather_bits(codes >> 1) * size
        across = (cells.edge(self.domain.west, self.domain.east, side, edge) for edge in (left, left + size))
        along = (cells.edge(self.domain.south, self.domain.north, side, edge) for edge in (bottom, bottom + size))
        (west, east), (south, north) = across, along
        counts = np.asarray(self._unsigned.count(np.stack([west, south, east, north], axis=1)), np.float64)
        return np.asarray(np.maximum(counts, 0.0) * units_per_count(self.synopsis))


def units_per_count(synopsis: Synopsis) -> float:
    """Evidence in one count of a release.

    It is 1 / k, and k is half of 1 / ε. At user level the records of a user share ε, and a count that is scaled stands
    for fewer that were measured.
    """
    rate = float(synopsis.claim.epsilon) / synopsis.claim.max_per_unit
    return rate / PSEUDO_COUNT / synopsis.factor


def release_prior(source: Source, synopsis: Synopsis, domain: Domain) -> "ReleasedDensity | CellMasses":
    """An earlier release as a prior for a domain.

    Areas, and cells in another reference system, become polygons with their counts spread evenly.
    """
    if synopsis.simulation:
        msg = "it is a simulation and not a release, so nothing says that it may be public."
        raise ArgumentError(msg)
    source = replace(source, kind="release", name=source.name + _charged_to(synopsis))
    own = synopsis.domain.crs
    is_same = own == domain.crs or {own, domain.crs} <= GEOGRAPHIC or transformer(own, domain.crs) is None
    if synopsis.partition.tiles and is_same:
        prior = ReleasedDensity(**vars(source), synopsis=synopsis, domain=domain)
        if not prior.evidence(np.array([0]), np.array([0]))[0] > 0:
            msg = "it has nothing inside the domain."
            raise ArgumentError(msg)
        return prior
    # In units of half a point, as other polygons are.
    weights = np.maximum(synopsis.counts, 0.0) * units_per_count(synopsis) * PSEUDO_COUNT
    geometries = _shapes(synopsis)
    return replace(Vectors(geometries=geometries, crs=own, weights=weights).prior(source, domain), kind="release")


def _shapes(synopsis: Synopsis) -> Geometries:
    if isinstance(synopsis.partition, AreaPartition):
        return AreaShapes(synopsis.partition).shapes
    bounds = synopsis.partition.bounds()
    boxes: Geometries = import_shapely().box(*bounds.T)
    return boxes


def _charged_to(synopsis: Synopsis) -> str:
    """The ledger entry that a release was charged to, in brackets."""
    mark = synopsis.ledger
    return "" if mark is None else f" (entry {mark.entry} of the data set {mark.dataset!r})"
