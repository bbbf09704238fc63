"""Points moved to the reference system of the domain before they are counted."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushgrid.counting.source import Block, PointSource
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.domain import GEOGRAPHIC, LONGITUDE_LATITUDE, Domain


def projected(source: PointSource, *, crs: str = LONGITUDE_LATITUDE, domain: Domain) -> PointSource:
    """A source of points in the reference system of a domain; the same one where there is nothing to do.

    Parameters
    ----------
    crs : str
        Reference system of the points as they come. East comes before north whatever the authority says.

    Privacy
    -------
    Rows are transformed one by one, by one operation that is chosen from the two systems alone. One that cannot be
    transformed becomes no point; it is no error, and touches no other row.
    """
    return source if _is_same(crs, domain) else ProjectedPoints(source, _transformer(crs, domain))


def check_reachable(crs: str, domain: Domain) -> None:
    """Refuse a reference system from which points cannot be moved to that of a domain, before any are opened."""
    if not _is_same(crs, domain):
        _transformer(crs, domain)


def anywhere(crs: str) -> Domain:
    """A domain that stands for a reference system, where a reader of points is told of no more than that."""
    return Domain(west=-180, south=-90, east=180, north=90, crs=crs)


class ProjectedPoints:
    """Points of another source, transformed block by block as they are read."""

    def __init__(self, source: PointSource, transformer: Any) -> None:
        self._source = source
        self._transformer = transformer

    def rows(self) -> int:
        """Number of rows."""
        return self._source.rows()

    def parts(self) -> Sequence["ProjectedPart"]:
        """The parts of the other source."""
        return [ProjectedPart(part, self._transformer) for part in self._source.parts()]

    def check_unchanged(self) -> None:
        """Refuse to go on if the data is no longer what was opened."""
        self._source.check_unchanged()

    def state(self) -> bytes:
        """What tells the rows from others, before they are transformed."""
        return self._source.state()


@dataclass(frozen=True, repr=False, eq=False)
class ProjectedPart:
    """One part of another source."""

    part: Iterable[Block]
    transformer: Any

    def __iter__(self) -> Iterator[Block]:
        for block in self.part:
            # PROJ gives infinity where it fails, which lies in no domain.
            longitudes, latitudes = self.transformer.transform(
                block.longitudes.astype(np.float64), block.latitudes.astype(np.float64), errcheck=False
            )
            yield Block.of(longitudes, latitudes, block.share, block.users)


def _is_same(crs: str, domain: Domain) -> bool:
    return crs == domain.crs or {crs, domain.crs} <= GEOGRAPHIC


def _transformer(crs: str, domain: Domain) -> Any:
    """The one operation that serves all rows: the best for the area of the domain among those that are installed."""
    try:
        import pyproj
        from pyproj.transformer import AreaOfInterest, TransformerGroup
    except ImportError as error:
        msg = f"points in {crs} for a domain in {domain.crs} need pyproj: pip install 'hushgrid[gis]'."
        raise MissingExtraError(msg) from error
    try:
        to_degrees = pyproj.Transformer.from_crs(domain.crs, LONGITUDE_LATITUDE, always_xy=True)
        bounds = to_degrees.transform_bounds(*domain.bounds)
        area = AreaOfInterest(*bounds) if np.isfinite(bounds).all() else None
        with warnings.catch_warnings(action="ignore"):  # that a more accurate one is not installed
            operations = TransformerGroup(crs, domain.crs, always_xy=True, area_of_interest=area).transformers
    except pyproj.exceptions.ProjError:
        operations = []
    if not operations:
        msg = f"PROJ knows no way from crs={crs!r} to the domain's {domain.crs!r}; give both as in 'EPSG:32618'."
        raise ArgumentError(msg)
    return operations[0]
