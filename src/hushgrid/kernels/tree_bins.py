"""Points into the cells of trees. Private side.

The column and row of a point on the lattice are those of `hushgrid.geometry.cells`, bit for bit; everything below
compares integers. As in `bins`, the last entry of `true_counts` takes the points outside the domain.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.compiled import compiled
from hushgrid.kernels.bins import BLOCK, Coordinates, cell_of


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
def spread_bits(number: np.uint32) -> np.uint32:
    """Every second bit of a code, from a number of up to 16 bits."""
    # Of 32 bits throughout, so that the compiler handles eight at a time.
    number = (number | number << np.uint32(8)) & np.uint32(0x00FF00FF)
    number = (number | number << np.uint32(4)) & np.uint32(0x0F0F0F0F)
    number = (number | number << np.uint32(2)) & np.uint32(0x33333333)
    return np.uint32((number | number << np.uint32(1)) & np.uint32(0x55555555))


@compiled
def morton_codes(
    longitudes: Coordinates,
    latitudes: Coordinates,
    bounds: tuple[float, float, float, float],
    scales: tuple[float, float],
    side: int,
    codes: NDArray[np.uint32],
    inside: NDArray[np.bool_],
) -> None:
    """Code of every point on the Morton curve through ``side * side`` cells, and whether it lies in the domain.

    What lies outside has the code of some point inside.
    """
    west, south, east, north = bounds
    count = np.int32(side)
    for i in range(longitudes.size):
        x, y = np.float64(longitudes[i]), np.float64(latitudes[i])
        within = (x >= west) & (x <= east) & (y >= south) & (y <= north)
        column = np.uint32(cell_of(x if within else west, west, scales[0], count))
        row = np.uint32(cell_of(y if within else south, south, scales[1], count))
        codes[i] = np.uint32(spread_bits(column) | spread_bits(row) << np.uint32(1))
        inside[i] = within


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


@compiled
def count_below(
    longitudes: Coordinates,
    latitudes: Coordinates,
    bounds: tuple[float, float, float, float],
    scales: tuple[float, float],
    side: int,
    shift: int,
    table: NDArray[np.int32],
    true_counts: NDArray[np.int64],
) -> None:
    """Add points to the parts of cells of one level, numbered along the Morton curve through ``side * side`` cells.

    Parameters
    ----------
    longitudes, latitudes, bounds, scales, side
        As for `morton_codes`.
    shift : int
        Bits of a code that are below a cell of the level.
    table : array of int32, shape (cells of the level,)
        For each cell ``32 * start + levels``: its first part, and how many levels of the curve are below its parts;
        -1 where it is not in parts.
    """
    outside = np.int32(len(true_counts) - 1)
    above, below = np.uint32(shift), np.uint32((1 << shift) - 1)
    codes, inside = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.bool_)
    places = np.empty(BLOCK, np.int32)
    for first in range(0, longitudes.size, BLOCK):
        block_longitudes, block_latitudes = longitudes[first : first + BLOCK], latitudes[first : first + BLOCK]
        morton_codes(block_longitudes, block_latitudes, bounds, scales, side, codes, inside)
        # One look-up a loop: the processor then waits for many at once.
        for i in range(block_longitudes.size):
            places[i] = table[codes[i] >> above]
        for i in range(block_longitudes.size):
            entry = places[i]
            part = (codes[i] & below) >> (np.uint32(entry & np.int32(31)) << np.uint32(1))
            place = np.int32((entry >> np.int32(5)) + np.int32(part))
            places[i] = place if (entry >= 0) & inside[i] else outside
        for i in range(block_longitudes.size):
            true_counts[places[i]] += 1
