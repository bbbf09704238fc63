"""Points into cells, one block at a time: first the cell numbers, in a loop the compiler vectorises, then the scatter.

Private side. Cell numbers are those of `hushgrid.geometry.cells`, bit for bit. The last entry of `true_counts` is not
a cell of the partition: it takes the points outside the domain, so that the inner loop has no branch.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled

BLOCK = 2048  # points; their cell numbers and coordinates stay in the first-level cache

Coordinates = NDArray[np.float32] | NDArray[np.float64]


@compiled
def cell_of(coordinate: float, low: float, scale: float, count: np.int32) -> np.int32:
    """Cell of a coordinate that lies inside, or an ulp beside it."""
    # Truncation differs from floor below zero only, where both are clamped to the first cell.
    return max(min(np.int32((coordinate - low) * scale), np.int32(count - np.int32(1))), np.int32(0))


@compiled
def _scatter(cells: NDArray[np.int32], true_counts: NDArray[np.int64]) -> None:
    for cell in cells:
        true_counts[cell] += 1


@compiled
def count_in_grid(
    longitudes: Coordinates,
    latitudes: Coordinates,
    bounds: tuple[float, float, float, float],
    scales: tuple[float, float],
    shape: tuple[int, int],
    true_counts: NDArray[np.int64],
) -> None:
    """Add points to the cells of a `Grid`, numbered row by row.

    Parameters
    ----------
    longitudes, latitudes : array of float32 or float64, shape (n,), any stride
    bounds : west, south, east, north of the domain
    scales : columns and rows per unit of length
    shape : rows, columns
    true_counts : array of int64, shape (rows * columns + 1,)
    """
    west, south, east, north = bounds
    column_scale, row_scale = scales
    rows, columns = np.int32(shape[0]), np.int32(shape[1])
    outside = np.int32(rows * columns)
    cells = np.empty(BLOCK, np.int32)
    for first in range(0, longitudes.size, BLOCK):
        block_longitudes, block_latitudes = longitudes[first : first + BLOCK], latitudes[first : first + BLOCK]
        for i in range(block_longitudes.size):
            x, y = np.float64(block_longitudes[i]), np.float64(block_latitudes[i])
            inside = (x >= west) & (x <= east) & (y >= south) & (y <= north)
            # NaN and far coordinates have no integer: they borrow the corner until the last line.
            column = cell_of(x if inside else west, west, column_scale, columns)
            row = cell_of(y if inside else south, south, row_scale, rows)
            cells[i] = np.int32(row * columns + column) if inside else outside
        _scatter(cells[: block_longitudes.size], true_counts)


@compiled
def count_in_nested_grid(
    longitudes: Coordinates,
    latitudes: Coordinates,
    bounds: tuple[float, float, float, float],
    scales: tuple[float, float],
    shape: tuple[int, int],
    edges: tuple[NDArray[np.float64], NDArray[np.float64]],
    leaf_scales: tuple[NDArray[np.float64], NDArray[np.float64]],
    sides: NDArray[np.int32],
    offsets: NDArray[np.int32],
    true_counts: NDArray[np.int64],
) -> None:
    """Add points to the leaves of a `NestedGrid`, numbered by first-level cell and row by row inside it.

    Parameters
    ----------
    longitudes, latitudes, bounds, scales, shape
        As for `count_in_grid`, of the first level.
    edges : edges of the first level's columns, and of its rows
    leaf_scales : leaf columns, and leaf rows, per unit of length inside each first-level cell
    sides, offsets : arrays of int32
        Leaves per side of each first-level cell, and the number of its first leaf.
    true_counts : array of int64, shape (leaves + 1,)
    """
    west, south, east, north = bounds
    column_scale, row_scale = scales
    rows, columns = np.int32(shape[0]), np.int32(shape[1])
    column_edges, row_edges = edges
    column_scales, row_scales = leaf_scales
    outside = np.int32(true_counts.size - 1)
    block_columns, block_rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    cells = np.empty(BLOCK, np.int32)
    for first in range(0, longitudes.size, BLOCK):
        block_longitudes, block_latitudes = longitudes[first : first + BLOCK], latitudes[first : first + BLOCK]
        for i in range(block_longitudes.size):
            x, y = np.float64(block_longitudes[i]), np.float64(block_latitudes[i])
            inside = (x >= west) & (x <= east) & (y >= south) & (y <= north)
            block_columns[i] = cell_of(x if inside else west, west, column_scale, columns)
            row = cell_of(y if inside else south, south, row_scale, rows)
            block_rows[i] = row if inside else np.int32(-1)
        # Apart from the first loop, which the compiler can vectorise without these look-ups.
        for i in range(block_longitudes.size):
            column, row = block_columns[i], block_rows[i]
            if row < 0:
                cells[i] = outside
                continue
            parent = np.int32(row * columns + column)
            side = sides[parent]
            x, y = np.float64(block_longitudes[i]), np.float64(block_latitudes[i])
            leaf_column = cell_of(x, column_edges[column], column_scales[parent], side)
            leaf_row = cell_of(y, row_edges[row], row_scales[parent], side)
            cells[i] = np.int32(offsets[parent] + leaf_row * side + leaf_column)
        _scatter(cells[: block_longitudes.size], true_counts)
