"""Points into areas of any shape, by an index that knows which areas come near each cell of a grid.

Private side. A point on a border lies in the first area that has it; no rounding decides.
"""

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.kernels.bins import Coordinates, cell_of
from hushgrid.kernels.orientation import side_of

NONE, SEVERAL = -1, -2  # in place of the one area that a cell of the index lies in
Index = tuple[
    tuple[float, float, float, float], tuple[float, float], int, Indices, Indices, Indices, Indices, Indices, Floats
]


@compiled
def holds(edges: Floats, first: int, stop: int, x: float, y: float) -> bool:
    """Whether a point lies inside the rings, or on them, of which these are all edges that reach its latitude.

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
    """The first of a few areas that holds a point in a row of the index, or `NONE`."""
    for area in areas:
        bucket = first_buckets[area] + row
        if holds(edges, bucket_starts[bucket], bucket_starts[bucket + 1], x, y):
            return int(area)
    return NONE


@compiled
def number_areas(longitudes: Coordinates, latitudes: Coordinates, index: Index, numbers: Indices) -> None:
    """The first area that holds each point, or `NONE`.

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
