"""Areas: counts on given areas, such as districts.

Reference: a histogram on a public partition (Dwork, McSherry, Nissim, Smith: "Calibrating Noise to Sensitivity in
Private Data Analysis", TCC 2006).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hushgrid.answering.areas import area_partition
from hushgrid.answering.outlines import geometry_array, import_shapely, transformed
from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.inference.measurements import Measurements
from hushgrid.methods.method import record
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.answer import ONE_NOISE
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, eq=False)
class Areas:
    """One noisy count for each public area.

    Areas do not overlap. A point on a border that areas share is counted in the first of them; what lies in no area is
    not counted.

    Parameters
    ----------
    polygons : sequence or array of shapely geometries, GeoSeries or GeoDataFrame
        Polygons and multipolygons in the reference system of the domain, unless the frame carries another. They are
        public: they must not come from the data.
    names : str or sequence of str, optional
        What the areas are called, or the column of the frame that says so; their numbers if not given.

    Privacy
    -------
    The areas are disjoint, so that their counts together have sensitivity 1 and get all of ε: one record changes at
    most one of them, by one. Which areas there are, and in which order, is a function of public arguments.

    Examples
    --------
    >>> from shapely import box
    >>> Areas([box(0, 0, 1, 1), box(1, 0, 2, 1)], names=["left", "right"]).names
    ('left', 'right')
    """

    name: ClassVar[str] = "areas"
    polygons: Any = field(repr=False)
    names: str | Sequence[str] | None = field(default=None, kw_only=True, repr=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        shapes = geometry_array(self.polygons)
        if len(shapes) == 0:
            msg = "Areas needs at least one polygon, got none."
            raise ArgumentError(msg)
        object.__setattr__(self, "names", _names(self.polygons, self.names, len(shapes)))
        digest = hashlib.sha256(json.dumps([self.names, str(getattr(self.polygons, "crs", None))]).encode())
        for wkb in import_shapely().to_wkb(shapes, byte_order=1):
            digest.update(b"none" if wkb is None else wkb)
        object.__setattr__(self, "sha256", digest.hexdigest())

    def domain(self, crs: str = LONGITUDE_LATITUDE) -> Domain:
        """Smallest domain that holds all areas."""
        shapes = geometry_array(self.polygons)
        given = getattr(self.polygons, "crs", None)
        west, south, east, north = import_shapely().total_bounds(
            shapes if given is None else transformed(shapes, given, crs)
        )
        return Domain(west=west, south=south, east=east, north=north, crs=crs)

    def public_partition(self, domain: Domain) -> AreaPartition:
        """The areas in the reference system of a domain; bad ones are an error."""
        assert isinstance(self.names, tuple)
        return area_partition(self.polygons, self.names, domain)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a count for each area."""
        areas = self.public_partition(counter.domain)
        measured = budget.measure(counter.count(areas), Fraction(1))
        synopsis = Synopsis.infer(
            areas,
            Measurements.of_leaves(measured),
            inference="direct",
            claim=budget.claim(),
            method=record(self),
        )
        return replace(synopsis, calibration=ONE_NOISE)


def _names(polygons: Any, names: str | Sequence[str] | None, size: int) -> tuple[str, ...]:
    """A text for each area."""
    if names is None:
        return tuple(map(str, range(size)))
    if isinstance(names, str):
        if names not in getattr(polygons, "columns", ()):
            msg = f"names must be a column of a GeoDataFrame, or a sequence of texts; got names={names!r}."
            raise ArgumentError(msg)
        names = polygons[names]
    texts = tuple(map(str, np.asarray(names, dtype=object).tolist()))
    if len(texts) != size:
        msg = f"every area needs a name: got {len(texts):,} names for {size:,} areas."
        raise ArgumentError(msg)
    return texts
