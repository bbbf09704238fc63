"""Finds the area that a point lies in.

Private side. The loops are in `hushgrid.counting.area_loops`; what they look up is made here, of public areas.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.counting.area_loops import (
    AREA_AT,
    EDGES_AT,
    ENTERED,
    INSIDE_AT,
    LENGTH_AT,
    NONE,
    Index,
    count_in_areas,
    number_areas,
    write_edges,
)
from hushgrid.counting.by_user.ids import unwritable
from hushgrid.counting.source import Coordinates
from hushgrid.geometry import cells
from hushgrid.geometry.areas import AreaPartition

FEWEST, MOST = 64, 1024  # columns and rows
BAND_MARGIN = 1 / 64  # of a row: far more than rounding moves an edge of it
ROUNDINGS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaIndex:
    """Finds the first area that holds each point.

    Borders belong to their area, and nothing is rounded. A cell that no border enters lies in one area or in none. In
    the others, the edges of each area near it are at hand for a ray to count.

    Privacy
    -------
    Made of the areas, which are public. What it says of points is exact, hence private.
    """

    tables: Index

    def __repr__(self) -> str:
        return "AreaIndex(...)"

    @classmethod
    def of(cls, areas: AreaPartition) -> Self:
        """Make the index of areas."""
        raster = _Raster.of(areas)
        strips = _Strips.of(raster, areas)
        return cls(tables=(raster.bounds, raster.scales, raster.side, *strips.owners_and_records()))

    def numbers(self, longitudes: Coordinates, latitudes: Coordinates) -> Indices:
        """Area of every point, or `NONE`, shape (n,)."""
        numbers = np.empty(len(longitudes), np.int32)
        number_areas(unwritable(longitudes), unwritable(latitudes), self.tables, numbers)
        return numbers.astype(np.int64)

    def count(self, longitudes: Coordinates, latitudes: Coordinates, true_counts: NDArray[np.int64]) -> None:
        """Add points to their areas; those in none to the last entry."""
        count_in_areas(unwritable(longitudes), unwritable(latitudes), self.tables, true_counts)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Raster:
    """A square grid over all areas, with their edges.

    Every edge goes from its lower end up.
    """

    bounds: tuple[float, float, float, float]
    side: int
    edges: Floats

    @classmethod
    def of(cls, areas: AreaPartition) -> Self:
        boxes = areas.bounds()
        west, south = map(float, boxes[:, :2].min(axis=0))
        east, north = map(float, boxes[:, 2:].max(axis=0))
        segments = areas.segments
        upward = segments[:, 1] <= segments[:, 3]
        edges = np.where(upward[:, None], segments, segments[:, [2, 3, 0, 1]])
        side = min(max(FEWEST, 4 * math.isqrt(len(edges))), MOST)
        return cls(bounds=(west, south, east, north), side=side, edges=edges)

    @property
    def scales(self) -> tuple[float, float]:
        west, south, east, north = self.bounds
        return float(cells.scale(west, east, self.side)), float(cells.scale(south, north, self.side))

    def columns(self, longitudes: Floats) -> Indices:
        return cells.cell(longitudes, self.bounds[0], self.scales[0], self.side)

    def rows(self, latitudes: Floats) -> Indices:
        return cells.cell(latitudes, self.bounds[1], self.scales[1], self.side)

    def columns_in_rows(self, edge: Indices, row: Indices) -> tuple[Indices, Indices]:
        """First and last column that an edge may enter in a row.

        They may be one column too far.
        """
        left, bottom, right, top = self.edges[edge].T
        south, north = self.bounds[1], self.bounds[3]
        height = (north - south) / self.side
        margin = BAND_MARGIN * height + ROUNDINGS * np.spacing(max(abs(south), abs(north)))
        floor, ceiling = south + row * height - margin, south + (row + 1) * height + margin
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (right - left) / (top - bottom)
            low = left + slope * np.maximum(floor - bottom, 0)
            high = left + slope * np.minimum(ceiling - bottom, top - bottom)
        level = top == bottom
        low, high = np.where(level, left, low), np.where(level, right, high)
        # Rounding moves places by far less than a cell; no edge reaches beyond the cells of its ends.
        columns = self.columns(np.stack([low, high, left, right]))
        first = np.maximum(columns[:2].min(axis=0) - 1, columns[2:].min(axis=0))
        last = np.minimum(columns[:2].max(axis=0) + 1, columns[2:].max(axis=0))
        return first, last


@dataclass(frozen=True, kw_only=True, eq=False)
class _Strips:
    """Edges by the rows of the raster that they reach.

    Places are numbers ``(area * side + row) * side + column``.

    Parameters
    ----------
    edge, row : arrays of int, shape (strips,)
    first, last : arrays of int, shape (strips,)
        Places that the edge may enter in the row.
    """

    raster: _Raster
    areas: int
    edge: Indices
    row: Indices
    first: Indices
    last: Indices

    @classmethod
    def of(cls, raster: _Raster, areas: AreaPartition) -> Self:
        edge, row = _runs(raster.rows(raster.edges[:, 1]), raster.rows(raster.edges[:, 3]))
        area = np.repeat(np.arange(areas.cells), np.diff(areas.segment_starts))[edge]
        first, last = ((area * raster.side + row) * raster.side + ends for ends in raster.columns_in_rows(edge, row))
        return cls(raster=raster, areas=areas.cells, edge=edge, row=row, first=first, last=last)

    def owners_and_records(self) -> tuple[NDArray[np.int32], Floats]:
        """What `number_areas` looks up."""
        side = self.raster.side
        strip, place = _runs(self.first, self.last)
        entered, number = np.unique(place, return_inverse=True)
        filled = self._filled(entered)
        owners = np.full(side**2 + 1, NONE, dtype=np.int32)
        owners[filled % side**2] = filled // side**2
        owners[entered % side**2] = ENTERED
        # Areas that hold the whole of a cell which the border of another enters are in its record, too.
        places = np.concatenate([entered, filled[owners[filled % side**2] == ENTERED]])
        edges, of_place = self._edges_right_of(strip, place, number)
        area, cell = np.divmod(places, side**2)
        lengths = 4 * np.bincount(of_place, minlength=len(places))
        order = np.lexsort((area, cell))
        is_last = np.append(np.diff(cell[order]) > 0, True)
        stops = np.cumsum(EDGES_AT + lengths[order] + is_last)
        begins = np.empty(len(places), np.int64)
        begins[order] = stops - is_last - lengths[order] - EDGES_AT
        records = np.full(stops[-1], NONE, np.float64)
        records[begins + AREA_AT], records[begins + LENGTH_AT] = area, lengths
        records[begins + INSIDE_AT] = self._is_inside(places)
        write_edges(edges, of_place, begins + EDGES_AT, records)
        is_first = np.insert(is_last[:-1], 0, True)
        owners[cell[order][is_first]] = ENTERED - begins[order][is_first]
        return owners, records

    def _is_inside(self, places: Indices) -> NDArray[np.bool_]:
        """Whether a place begins inside its area.

        That is said of points low in its row, by the edges that are all to their right: so many of them come from the
        rows below.
        """
        side = self.raster.side
        from_below = self.raster.rows(self.raster.edges[:, 1])[self.edge] < self.row
        firsts = np.sort(self.first[from_below])
        row_ends = np.searchsorted(firsts, (places // side + 1) * side)
        return np.asarray((row_ends - np.searchsorted(firsts, places, side="right")) % 2 == 1)

    def _filled(self, entered: Indices) -> Indices:
        """Places inside areas that no border of theirs enters.

        Between two places of a row that an area's border enters, the others lie all inside it or all outside.
        """
        side = self.raster.side
        same_row = entered[1:] // side == entered[:-1] // side
        gaps = np.flatnonzero(same_row & (np.diff(entered) > 1))
        chosen = gaps[self._is_inside(entered[gaps] + 1)]
        return _runs(entered[chosen] + 1, entered[chosen + 1] - 1)[1]

    def _edges_right_of(self, strip: Indices, place: Indices, number: Indices) -> tuple[Floats, Indices]:
        """Edges for rays from places that edges enter, and the numbers of these places.

        They are the edges that enter it. Where such an edge ends in the row, and to the right of the place, others go
        on that are not at hand. Whatever these do, a ray above that end meets one more or one less: a line from there
        straight up, beyond all areas, stands for them.
        """
        raster, edge = self.raster, self.edge[strip]
        west, south, east, north = raster.bounds
        beyond, above = east + (east - west), north + (north - south)
        edges, numbers = [raster.edges[edge]], [number]
        for end in (raster.edges[:, :2], raster.edges[:, 2:]):
            column, row = raster.columns(end[:, 0])[edge], raster.rows(end[:, 1])[edge]
            goes_on = (row == self.row[strip]) & (column > place % raster.side)
            lines = np.full((np.count_nonzero(goes_on), 4), [beyond, 0, beyond, above])
            lines[:, 1] = end[edge[goes_on], 1]
            edges.append(lines)
            numbers.append(number[goes_on])
        return np.concatenate(edges), np.concatenate(numbers)


def _runs(first: Indices, last: Indices) -> tuple[Indices, Indices]:
    """All numbers from `first` to `last` of each pair.

    Ends are included. Gives the pair of each number, and the numbers.

    Examples
    --------
    >>> _runs(np.array([4, 7]), np.array([5, 7]))
    (array([0, 0, 1]), array([4, 5, 7]))
    """
    lengths = last - first + 1
    pair = np.repeat(np.arange(len(first)), lengths)
    return pair, np.arange(len(pair)) - (np.cumsum(lengths) - lengths)[pair] + first[pair]
