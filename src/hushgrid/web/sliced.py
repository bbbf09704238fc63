"""What a page needs to show and answer every slice of a release."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hushgrid.arrays import Floats
from hushgrid.change.comparable import check_same_areas
from hushgrid.export.picture import Drawable
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.partition import Partition
from hushgrid.slices.axes import Axis, ByTime
from hushgrid.slices.slices import Slices
from hushgrid.slices.sums import ALIKE, FOLLOWS_NOTHING
from hushgrid.synopsis.answer import Answer, normal_reach
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.areas import area_counts, area_shapes
from hushgrid.web.figures import CONFIDENCE, PRECISION_BITS, Payload, cell_figures, common_figures, picture_figures

# Sloped leaves take three numbers each. On a page of many, sums stay within 1e-6 of the total.
MANY_CELLS, FEWER_BITS = 200_000, 27


def slice_figures(slices: Slices, payload: Payload) -> dict[str, Any]:
    """What the slices are, and the figures of each.

    The names of arrays begin with the number of their slice.
    """
    axes = [{"label": label_of(axis), "time": isinstance(axis, ByTime), "names": axis.names} for axis in slices.by.axes]
    if slices.on_areas:
        known = _on_areas(slices, payload)
        return known | {"slices": {"axes": axes, "parts": _parts(slices.values(), area_counts, payload)}}
    cells = sum(each.partition.cells for _, each in slices.all_parts())
    bits = FEWER_BITS if cells > MANY_CELLS else PRECISION_BITS
    parts = _parts(slices.values(), partial(_cells, bits=bits), payload)
    total = None
    if slices.total is not None:
        figures = partial(_cells, bits=bits, drawn=AllTogether(slices))
        total = _parts([slices.total], figures, payload, first=len(parts))[0]
    free = FOLLOWS_NOTHING * normal_reach(CONFIDENCE)
    sums = {"common": vars(slices.common), "alike": ALIKE, "free": free}
    return {"kind": "slices", "slices": {"axes": axes, "parts": parts, "total": total, **sums}}


Figures = Callable[[Synopsis, Payload], dict[str, Any]]


def _parts(releases: Iterable[Synopsis], figures: Figures, payload: Payload, first: int = 0) -> list[dict[str, Any]]:
    parts = []
    for number, each in enumerate(releases, start=first):
        own = Payload()
        parts.append(figures(each, own))
        payload.include(own, f"{number}.")
    return parts


def _on_areas(slices: Slices, payload: Payload) -> dict[str, Any]:
    """The areas of all slices, which are the same."""
    first, *others = slices.values()
    for other in others:
        check_same_areas(first, other)
    assert isinstance(first.partition, AreaPartition)
    return area_shapes(first.partition, payload)


@dataclass(frozen=True)
class AllTogether:
    """All slices as one thing to draw: the total by itself tells less than they do."""

    slices: Slices

    @property
    def domain(self) -> Domain:
        """Where they have counts."""
        return self.slices.domain

    @property
    def partition(self) -> Partition:
        """The cells of all slices: each is fine where its own points are."""
        return AllCells(self.domain, tuple(part.partition for part in self.slices.values()))

    @property
    def total(self) -> float:
        """Estimated number of points of all."""
        return float(self.slices.total_of_all().estimate)

    def answer(self, rects: ArrayLike) -> Answer:
        """Estimated number of points of all slices in rectangles."""
        return self.slices.answer(rects, slices=self.slices.names)


@dataclass(frozen=True)
class AllCells:
    """The cells of several partitions, one after the other."""

    domain: Domain
    partitions: tuple[Partition, ...]

    @property
    def cells(self) -> int:
        """How many they are together."""
        return sum(each.cells for each in self.partitions)

    def bounds(self, first: int = 0, stop: int | None = None) -> Floats:
        """Bounds of cells `first` to `stop`, shape (cells, 4)."""
        parts, start = [np.empty((0, 4))], 0
        for each in self.partitions:
            low, high = max(first - start, 0), each.cells if stop is None else min(stop - start, each.cells)
            if low < high:
                parts.append(each.bounds(low, high))
            start += each.cells
        return np.concatenate(parts)


def _cells(synopsis: Synopsis, payload: Payload, *, bits: int, drawn: Drawable | None = None) -> dict[str, Any]:
    figures = cell_figures(synopsis, payload, bits=bits) | {"picture": picture_figures(drawn or synopsis, payload)}
    common = common_figures(synopsis)
    return figures | {name: common[name] for name in ("reaches", "factor", "allRecords")}


def label_of(axis: Axis) -> str:
    """What the slices along an axis are."""
    if not isinstance(axis, ByTime):
        return axis.column
    return {"hour": "hour of day", "weekday": "day of the week"}.get(axis.kind, axis.kind)
