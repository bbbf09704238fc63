"""Loops that count points in cells.

Private side. Columns and rows are those of `hushgrid.geometry.cells`, bit for bit; everything below compares integers.
The last entry of `true_counts` is not a cell of the partition: it takes the points outside the domain, so that the
inner loops of grids have no branch. They number the cells of a block first, in a loop that the compiler vectorises.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.compiled import compiled, thread_count
from hushgrid.counting.quadtree import Refinement
from hushgrid.counting.source import Block, Coordinates, PointSource
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import DEEPEST, Quadrants
from hushgrid.geometry.tree import RIGHT, TOP, Tree
from hushgrid.work import Work

BLOCK = 2048  # points; their cell numbers and coordinates stay in the first-level cache


@compiled
def cell_of(coordinate: float, low: float, scale: float, count: np.int32) -> np.int32:
    """Cell of a coordinate, clamped to the grid.

    The coordinate lies inside, or an ulp beside.
    """
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
    """Add points to the cells of a `Grid`.

    Cells are numbered row by row.

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
    """Add points to the leaves of a `NestedGrid`.

    Leaves are numbered by first-level cell, and row by row inside it.

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
        # A second loop, because the compiler can vectorise the first without these look-ups.
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


@compiled
def first_above(ends: NDArray[np.int32], first: int, stride: int, count: int, line: int) -> int:
    """First of `count` ends above a line."""
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
    """Add points to the leaves of a `Tree`.

    A leaf is found by going down from the root.

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
    """Spread 16 bits over every second of 32."""
    # All numbers have 32 bits, so that the compiler handles eight at a time.
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
    """Write the Morton code of every point.

    The curve runs through ``side * side`` cells. `inside` says whether a point lies in the domain; one that does not
    has the code of some point inside.
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
    """Add points to the runs of their codes.

    A run is a stretch of the Morton curve; the last entry takes the points in none.
    """
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
    """Add points to the parts of quadtree cells.

    The cells are of one level, and their parts are numbered along the Morton curve.

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
        # Each loop has one look-up, so that the processor waits for many at once.
        for i in range(block_longitudes.size):
            places[i] = table[codes[i] >> above]
        for i in range(block_longitudes.size):
            entry = places[i]
            part = (codes[i] & below) >> (np.uint32(entry & np.int32(31)) << np.uint32(1))
            place = np.int32((entry >> np.int32(5)) + np.int32(part))
            places[i] = place if (entry >= 0) & inside[i] else outside
        for i in range(block_longitudes.size):
            true_counts[places[i]] += 1


LATTICE_SIDE = 1 << DEEPEST

Tally = Callable[[Block, NDArray[np.int64]], None]  # adds the points of a block to true counts


def tree_tally(tree: Tree) -> Tally:
    """A tally of a tree's leaves."""
    lattice = tree.lattice
    leaf_numbers = np.full(tree.nodes, -1, np.int32)
    leaf_numbers[tree.leaves] = np.arange(tree.cells)
    place = (tree.domain.bounds, _scales(tree.domain, lattice.columns, lattice.rows), (lattice.rows, lattice.columns))
    rights, tops = np.ascontiguousarray(tree.boxes[:, [RIGHT, TOP]].T, np.int32)
    splits, first_children = tree.splits.astype(np.int32), tree.first_children.astype(np.int32)

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_in_tree(
            block.longitudes, block.latitudes, *place, rights, tops, splits, first_children, leaf_numbers, true_counts
        )

    return add


def quadrants_tally(quadrants: Quadrants) -> Tally:
    """A tally of quadtree cells.

    By bisection along the Morton curve.
    """
    first, stop = quadrants.runs

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_in_runs(curve_codes(quadrants.domain, block), first, stop, true_counts)

    return add


def refinement_tally(refinement: Refinement) -> Tally:
    """A tally of the parts of quadtree cells.

    By a table of all cells of their level.
    """
    domain, levels_below = refinement.domain, DEEPEST - refinement.level
    table = np.full(4**refinement.level, -1, np.int32)
    table[refinement.codes] = 32 * refinement.starts + levels_below - refinement.steps
    place = (domain.bounds, _scales(domain, LATTICE_SIDE, LATTICE_SIDE), LATTICE_SIDE, 2 * levels_below)

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_below(block.longitudes, block.latitudes, *place, table, true_counts)

    return add


def curve_codes(domain: Domain, block: Block) -> NDArray[np.int64]:
    """Morton code of every point, -1 outside the domain."""
    codes, inside = np.empty(len(block.longitudes), np.uint32), np.empty(len(block.longitudes), np.bool_)
    scales = _scales(domain, LATTICE_SIDE, LATTICE_SIDE)
    morton_codes(block.longitudes, block.latitudes, domain.bounds, scales, LATTICE_SIDE, codes, inside)
    return np.where(inside, codes.astype(np.int64), -1)


def _scales(domain: Domain, columns: int, rows: int) -> tuple[float, float]:
    return float(cells.scale(domain.west, domain.east, columns)), float(cells.scale(domain.south, domain.north, rows))


MOST_POINTS = 2**23  # their codes take 64 MiB


class Curve:
    """The points of a domain as sorted codes.

    Privacy
    -------
    Holds the position of every point to one part in 65,536 of the domain's width and height. It never leaves the
    counter that made it.
    """

    def __init__(self, true_codes: NDArray[np.int64]) -> None:
        self._true_codes = np.sort(true_codes)

    @classmethod
    def of(cls, source: PointSource, domain: Domain, work: Work) -> Self:
        """Read all points of a source, in one pass."""

        def read(part: Iterable[Block]) -> list[NDArray[np.int64]]:
            codes = []
            for block in part:
                codes.append(curve_codes(domain, block))
                work.add("counting", block.share)
            return codes

        parts = source.parts()
        threads = min(thread_count(), len(parts))
        if threads > 1:
            with ThreadPoolExecutor(threads) as pool:
                read_parts = list(pool.map(read, parts))
        else:
            read_parts = [read(part) for part in parts]
        codes = list(chain.from_iterable(read_parts))
        return cls(np.concatenate(codes) if codes else np.empty(0, np.int64))

    def count(self, quadrants: Quadrants) -> NDArray[np.int64]:
        """Points in every cell."""
        # Points outside the domain have the code -1, which no cell begins with.
        first, stop = (np.searchsorted(self._true_codes, edge) for edge in quadrants.runs)
        return np.asarray(stop - first, np.int64)
