"""What a page needs to show and answer every slice of a release."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from hushgrid.change.comparable import check_same_areas
from hushgrid.geometry.areas import AreaPartition
from hushgrid.slices.axes import Axis, ByTime
from hushgrid.slices.slices import Slices
from hushgrid.slices.sums import ALIKE
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.areas import area_counts, area_shapes
from hushgrid.web.figures import PRECISION_BITS, Payload, cell_figures, common_figures, picture_figures

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
    figures = partial(_cells, bits=FEWER_BITS if cells > MANY_CELLS else PRECISION_BITS)
    parts = _parts((each for _, each in slices.all_parts()), figures, payload)
    total = parts.pop() if slices.total is not None else None
    sums = {"common": vars(slices.common), "alike": ALIKE}
    return {"kind": "slices", "slices": {"axes": axes, "parts": parts, "total": total, **sums}}


Figures = Callable[[Synopsis, Payload], dict[str, Any]]


def _parts(releases: Iterable[Synopsis], figures: Figures, payload: Payload) -> list[dict[str, Any]]:
    parts = []
    for number, each in enumerate(releases):
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


def _cells(synopsis: Synopsis, payload: Payload, *, bits: int) -> dict[str, Any]:
    figures = cell_figures(synopsis, payload, bits=bits) | {"picture": picture_figures(synopsis, payload)}
    common = common_figures(synopsis)
    return figures | {name: common[name] for name in ("reaches", "factor", "allRecords")}


def label_of(axis: Axis) -> str:
    """What the slices along an axis are."""
    if not isinstance(axis, ByTime):
        return axis.column
    return {"hour": "hour of day", "weekday": "day of the week"}.get(axis.kind, axis.kind)
