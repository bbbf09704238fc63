"""Points into the cells of trees. Private side.

The column and row of a point on the lattice are those of `hushgrid.geometry.cells`, bit for bit; everything below
compares integers. As in `bins`, the last entry of `true_counts` takes the points outside the domain.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.kernels.bins import Coordinates, cell_of
from hushgrid.kernels.compile import compiled

Indices = NDArray[np.int64]


@compiled
def first_above(ends: NDArray[np.int32], first: int, stride: int, count: int, line: int) -> int:
    """First of `count` ends that lies above a line."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if ends[first + middle * stride] > line:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def count_in_tree(
    longitudes: Coordinates,
    latitudes: Coordinates,
    bounds: tuple[float, float, float, float],
    scales: tuple[float, float],
    shape: tuple[int, int],
    rights: NDArray[np.int32],
    tops: NDArray[np.int32],
    splits: NDArray[np.int32],
    first_children: NDArray[np.int32],
    leaf_numbers: NDArray[np.int32],
    true_counts: NDArray[np.int64],
) -> None:
    """Add points to the leaves of a `Tree`, each found by going down from the root.

    Parameters
    ----------
    longitudes, latitudes, bounds, scales, shape
        As for `count_in_grid`, of the tree's lattice.
    rights, tops : arrays of int32, shape (nodes,)
        Right and top line of every node.
    leaf_numbers : array of int32, shape (nodes,)
        Number of every node that is a leaf.
    """
    west, south, east, north = bounds
    rows, columns = np.int32(shape[0]), np.int32(shape[1])
    for i in range(longitudes.size):
        x, y = np.float64(longitudes[i]), np.float64(latitudes[i])
        if not ((x >= west) & (x <= east) & (y >= south) & (y <= north)):
            true_counts[-1] += 1
            continue
        column, row = int(cell_of(x, west, scales[0], columns)), int(cell_of(y, south, scales[1], rows))
        node = 0
        while splits[node, 0] > 0:
            first, wide = first_children[node], splits[node, 0]
            across = first_above(rights, first, 1, wide, column)
            node = first + first_above(tops, first, wide, splits[node, 1], row) * wide + across
        true_counts[leaf_numbers[node]] += 1


@compiled
def spread_bits(number: int) -> int:
    """Every second bit of a code, from a number of up to 16 bits."""
    number = (number | number << 8) & 0x00FF00FF
    number = (number | number << 4) & 0x0F0F0F0F
    number = (number | number << 2) & 0x33333333
    return (number | number << 1) & 0x55555555


@compiled
def morton_codes(
    longitudes: Coordinates,
    latitudes: Coordinates,
    bounds: tuple[float, float, float, float],
    scales: tuple[float, float],
    side: int,
    out: Indices,
) -> None:
    """Code of every point on the Morton curve through ``side * side`` cells, or -1 outside the domain."""
    west, south, east, north = bounds
    count = np.int32(side)
    for i in range(longitudes.size):
        x, y = np.float64(longitudes[i]), np.float64(latitudes[i])
        inside = (x >= west) & (x <= east) & (y >= south) & (y <= north)
        column = int(cell_of(x if inside else west, west, scales[0], count))
        row = int(cell_of(y if inside else south, south, scales[1], count))
        out[i] = spread_bits(column) | spread_bits(row) << 1 if inside else -1


@compiled
def count_in_runs(codes: Indices, first: Indices, stop: Indices, true_counts: NDArray[np.int64]) -> None:
    """Add points, given by their codes, to the runs of the curve that hold them; the last entry takes the others."""
    for code in codes:
        low, high = 0, len(first)
        while low < high:
            middle = (low + high) // 2
            if first[middle] > code:
                high = middle
            else:
                low = middle + 1
        if low > 0 and code < stop[low - 1]:
            true_counts[low - 1] += 1
        else:
            true_counts[-1] += 1
