"""The places whose counts a series tells, period by period."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.change.blocks import COARSEST, block_grid
from hushgrid.change.series import OverTime, Series
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.grid import Grid
from hushgrid.web.areas import Arrays, block_outlines, level_outlines, polygon_outlines

WHOLE = "The whole domain"


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacesOverTime:
    """Places of one kind, and their counts over time.

    Parameters
    ----------
    noun : str
        What one of them is.
    names : sequence of str, optional
        What they are called; blocks of a grid are called by where they lie.
    outlines : tuple of arrays
        As `AreaPartition.arrays`.
    counts : OverTime
    """

    noun: str
    names: Sequence[str] | None
    outlines: Arrays
    counts: OverTime

    @property
    def bounds(self) -> Floats:
        """West, south, east and north of each, shape (n, 4)."""
        vertices, rings, polygons, areas = self.outlines
        starts = np.asarray(rings)[np.asarray(polygons)[np.asarray(areas)[:-1]]]
        lowest, highest = (reach.reduceat(vertices, starts, axis=0) for reach in (np.minimum, np.maximum))
        return np.concatenate([lowest, highest], axis=1)


def counted_places(series: Series, *, polygons: Any = None, names: Sequence[str] = ()) -> list[PlacesOverTime]:
    """What a page of a series shows, the coarsest first.

    Parameters
    ----------
    series : Series
    polygons : geometries, optional
        Areas that were given, called by `names`; else all levels of areas that the releases were counted on, or the
        whole domain and blocks of it.
    """
    if polygons is not None:
        return [_whole(series), _given(series, polygons, names)]
    if series.on_same_areas:
        return list(_levels(series))
    return [_whole(series), _on_grid(series, "block", None, block_grid(series.domain, COARSEST))]


def _given(series: Series, polygons: Any, names: Sequence[str]) -> PlacesOverTime:
    """The polygons that have an outline."""
    found = series.answer_polygons(polygons)
    kept, outlines = polygon_outlines(polygons, series.domain)
    return PlacesOverTime(
        noun="area",
        names=[names[number] for number in kept.tolist()],
        outlines=outlines,
        counts=_of_places(found, kept),
    )


def _levels(series: Series) -> Iterator[PlacesOverTime]:
    partition = next(iter(series.values())).partition
    assert isinstance(partition, AreaPartition)
    for noun, order, outlines in level_outlines(partition):
        names, found = series.areas(noun)
        called = [names[number] for number in order.tolist()]
        yield PlacesOverTime(noun=noun, names=called, outlines=outlines, counts=_of_places(found, order))


def _whole(series: Series) -> PlacesOverTime:
    return _on_grid(series, "domain", [WHOLE], Grid(domain=series.domain, rows=1, columns=1))


def _on_grid(series: Series, noun: str, names: Sequence[str] | None, grid: Grid) -> PlacesOverTime:
    counts = series.answer(grid.bounds())
    return PlacesOverTime(noun=noun, names=names, outlines=block_outlines(grid), counts=counts)


def _of_places(counts: OverTime, places: Indices) -> OverTime:
    """Counts of some of the places, in that order."""
    chosen = {name: getattr(counts, name)[:, places] for name in ("estimate", "low", "high", "usable")}
    return replace(counts, **chosen)
