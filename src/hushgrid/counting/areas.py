"""Finds the area that a point lies in.

Reference: Shewchuk: "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997.

Private side. The answer is exact: a point on a border lies in the first area that has it; no rounding decides.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.counting.cell_loops import cell_of
from hushgrid.counting.source import Coordinates
from hushgrid.geometry import cells
from hushgrid.geometry.areas import AreaPartition

FILTER = (3 + 16 * 2.0**-53) * 2.0**-53  # Shewchuk 1997, the bound A of ORIENT2D
SPLITTER = 2.0**27 + 1  # halves the 53 bits of a double
TERMS = 16  # eight products, each a rounded value and its error


@compiled
def two_sum(one: float, other: float) -> tuple[float, float]:
    """Rounded sum and its rounding error (Knuth)."""
    total = one + other
    virtual = total - one
    return total, (one - (total - virtual)) + (other - virtual)


@compiled
def two_product(one: float, other: float) -> tuple[float, float]:
    """Rounded product and its rounding error (Dekker)."""
    product = one * other
    wide = SPLITTER * one
    one_high = wide - (wide - one)
    one_low = one - one_high
    wide = SPLITTER * other
    other_high = wide - (wide - other)
    other_low = other - other_high
    error = product - one_high * other_high - one_low * other_high - one_high * other_low
    return product, one_low * other_low - error


@compiled
def grow_expansion(terms: Floats, count: int, value: float) -> int:
    """Add a value to an exact sum of terms.

    The terms do not overlap, and the largest comes last. Returns how many there are now.
    """
    for place in range(count):
        value, terms[place] = two_sum(value, terms[place])
    terms[count] = value
    return count + 1


@compiled
def exact_side(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """Answer of `side_of`, computed without rounding."""
    factors = (
        (two_sum(ax, -px), two_sum(by, -py), 1.0),
        (two_sum(ay, -py), two_sum(bx, -px), -1.0),
    )
    terms, count = np.zeros(TERMS), 0
    for left, right, sign in factors:
        for one in left:
            for other in right:
                high, low = two_product(sign * one, other)
                count = grow_expansion(terms, count, low)
                count = grow_expansion(terms, count, high)
    for place in range(count - 1, -1, -1):
        if terms[place] != 0:
            return 1 if terms[place] > 0 else -1
    return 0


@compiled
def side_of(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """On which side of a line a point lies.

    1 to the left of the line from a to b, -1 to the right, 0 on it.
    """
    left = (ax - px) * (by - py)
    right = (ay - py) * (bx - px)
    difference = left - right
    if abs(difference) > FILTER * (abs(left) + abs(right)):
        return 1 if difference > 0 else -1
    return exact_side(ax, ay, bx, by, px, py)


NONE, SEVERAL = -1, -2  # in place of the one area that a cell of the index lies in
Index = tuple[
    tuple[float, float, float, float], tuple[float, float], int, Indices, Indices, Indices, Indices, Indices, Floats
]


@compiled
def holds(edges: Floats, first: int, stop: int, x: float, y: float) -> bool:
    """Whether a point lies inside rings or on them.

    The edges from `first` to `stop` are all of those that reach its latitude.

    Parameters
    ----------
    edges : array, shape (edges, 4)
        From x, y up to x, y.
    """
    inside = False
    for place in range(first, stop):
        ax, ay, bx, by = edges[place, 0], edges[place, 1], edges[place, 2], edges[place, 3]
        if y < ay or y > by or (x > ax and x > bx):
            continue
        if ay == by:
            if x >= min(ax, bx):
                return True
            continue
        side = 1 if x < ax and x < bx else side_of(ax, ay, bx, by, x, y)
        if side == 0:
            return True
        if side > 0 and y < by:  # the upper end belongs to the next edge
            inside = not inside
    return inside


@compiled
def first_holder(
    areas: Indices, row: int, first_buckets: Indices, bucket_starts: Indices, edges: Floats, x: float, y: float
) -> int:
    """First of some areas that holds a point, or `NONE`.

    The point lies in this row of the index.
    """
    for area in areas:
        bucket = first_buckets[area] + row
        if holds(edges, bucket_starts[bucket], bucket_starts[bucket + 1], x, y):
            return int(area)
    return NONE


@compiled
def number_areas(longitudes: Coordinates, latitudes: Coordinates, index: Index, numbers: Indices) -> None:
    """Write the first area that holds each point.

    `NONE` where no area does.

    Parameters
    ----------
    index : bounds, scales, side, owners, starts, candidates, first_buckets, bucket_starts, edges
        A grid of `side` by `side` cells over all areas. The areas of a cell that several come near are `candidates`
        from ``starts[cell]`` to ``starts[cell + 1]``; the edges of an area that reach a row are `edges` from
        ``bucket_starts[bucket]`` to the next, with ``bucket = first_buckets[area] + row``.
    """
    (west, south, east, north), (column_scale, row_scale), side = index[0], index[1], np.int32(index[2])
    owners, starts, candidates, first_buckets, bucket_starts, edges = index[3:]
    for place in range(longitudes.size):
        x, y = np.float64(longitudes[place]), np.float64(latitudes[place])
        if not (x >= west and x <= east and y >= south and y <= north):  # true for NaN too
            numbers[place] = NONE
            continue
        row = cell_of(y, south, row_scale, side)
        cell = row * side + cell_of(x, west, column_scale, side)
        numbers[place] = owners[cell]
        if owners[cell] == SEVERAL:
            near = candidates[starts[cell] : starts[cell + 1]]
            numbers[place] = first_holder(near, int(row), first_buckets, bucket_starts, edges, x, y)


FEWEST, MOST = 64, 1024  # columns and rows
BAND_MARGIN = 1 / 64  # of a row: far more than rounding moves an edge of it
ROUNDINGS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaIndex:
    """Finds the first area that holds each point.

    Borders belong to their area, and nothing is rounded. A cell that no border enters lies in one area or in none. In
    the others, the edges of each area near it are at hand, row by row, for a ray to count.

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
        reach = _Reach.of(raster, areas)
        entered = raster.entered_cells(reach)
        by_cell = _by_cell(raster.side, entered, _filled(raster, reach, entered))
        buckets = reach.first_buckets, reach.bucket_starts, reach.edges_by_bucket
        return cls(tables=(raster.bounds, raster.scales, raster.side, *by_cell, *buckets))

    def numbers(self, longitudes: Coordinates, latitudes: Coordinates) -> Indices:
        """Area of every point, or `NONE`, shape (n,)."""
        numbers = np.empty(len(longitudes), np.int64)
        number_areas(longitudes, latitudes, self.tables, numbers)
        return numbers


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

    def centres(self, cell: Indices) -> Floats:
        """Centres of cells, shape (n, 2)."""
        west, south, east, north = self.bounds
        row, column = np.divmod(cell, self.side)
        return np.stack(
            [west + (column + 0.5) * ((east - west) / self.side), south + (row + 0.5) * ((north - south) / self.side)],
            axis=1,
        )

    def entered_cells(self, reach: "_Reach") -> Indices:
        """Cells that borders enter, and a few beside them.

        Sorted numbers ``area * side**2 + cell``.
        """
        left, bottom, right, top = self.edges[reach.edge].T
        south, north = self.bounds[1], self.bounds[3]
        height = (north - south) / self.side
        margin = BAND_MARGIN * height + ROUNDINGS * np.spacing(max(abs(south), abs(north)))
        floor, ceiling = south + reach.row * height - margin, south + (reach.row + 1) * height + margin
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
        pair, column = _runs(first, last)
        return np.unique((reach.area[pair] * self.side + reach.row[pair]) * self.side + column)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Reach:
    """Edges with the rows of the raster they reach.

    Pairs of an edge and a row, in buckets of one area and one row.

    Parameters
    ----------
    edge, row, area : arrays of int, shape (pairs,)
        The edge, the row, and the area that the edge is of.
    first_buckets : array of int, shape (areas,)
        What a row is added to for the number of its bucket.
    bucket_starts : array of int, shape (buckets + 1,)
        Where the edges of a bucket start in `edges_by_bucket`.
    edges_by_bucket : array, shape (pairs, 4)
    """

    edge: Indices
    row: Indices
    area: Indices
    first_buckets: Indices
    bucket_starts: Indices
    edges_by_bucket: Floats

    @classmethod
    def of(cls, raster: _Raster, areas: AreaPartition) -> Self:
        edge, row = _runs(raster.rows(raster.edges[:, 1]), raster.rows(raster.edges[:, 3]))
        area = np.repeat(np.arange(areas.cells), np.diff(areas.segment_starts))[edge]
        lowest, highest = raster.rows(areas.bounds()[:, 1]), raster.rows(areas.bounds()[:, 3])
        ends = np.cumsum(highest - lowest + 1)
        first_buckets = ends - highest - 1
        bucket = first_buckets[area] + row
        return cls(
            edge=edge,
            row=row,
            area=area,
            first_buckets=first_buckets,
            bucket_starts=np.concatenate([[0], np.cumsum(np.bincount(bucket, minlength=ends[-1]))]),
            edges_by_bucket=raster.edges[edge[np.argsort(bucket, kind="stable")]],
        )


def _filled(raster: _Raster, reach: _Reach, entered: Indices) -> Indices:
    """Cells inside areas that no border of theirs enters.

    Numbered as the entered cells are. Between two cells of a row that an area's border enters, the others lie all
    inside it or all outside.
    """
    same_row = entered[1:] // raster.side == entered[:-1] // raster.side
    gaps = np.flatnonzero(same_row & (np.diff(entered) > 1))
    area, cell = np.divmod(entered[gaps] + 1, raster.side**2)
    bucket = reach.first_buckets[area] + cell // raster.side
    runs = zip(reach.bucket_starts[bucket].tolist(), reach.bucket_starts[bucket + 1].tolist(), strict=True)
    inside = [
        holds(reach.edges_by_bucket, first, stop, x, y)
        for (first, stop), (x, y) in zip(runs, raster.centres(cell).tolist(), strict=True)
    ]
    chosen = gaps[np.array(inside, bool)]
    return _runs(entered[chosen] + 1, entered[chosen + 1] - 1)[1]


def _by_cell(side: int, entered: Indices, inside: Indices) -> tuple[Indices, Indices, Indices]:
    """Owner of each cell, and the areas of shared ones.

    The owner is an area, `NONE` or `SEVERAL`. Where it is several, the areas of a cell are a run: where each run
    starts, and all areas.
    """
    owners = np.full(side**2, NONE, dtype=np.int64)
    owners[inside % side**2] = inside // side**2
    owners[entered % side**2] = SEVERAL
    area, cell = np.divmod(np.concatenate([entered, inside]), side**2)
    asked = owners[cell] == SEVERAL
    area, cell = area[asked], cell[asked]
    starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=side**2))])
    return owners, starts, area[np.lexsort((area, cell))]


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
