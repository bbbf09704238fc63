"""Loops that find the area of a point.

Reference: Shewchuk: "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997.

Private side. The answer is exact: a point on a border lies in the first area that has it; no rounding decides.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.counting.cell_loops import BLOCK, cell_of
from hushgrid.counting.source import Coordinates

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


NONE = -1  # in place of an area
ENTERED = -2  # in place of the one area that a cell lies in: the record of the cell is at ENTERED minus this
AREA_AT, INSIDE_AT, LENGTH_AT, EDGES_AT = 0, 1, 2, 3  # where a record has what it says of an area
Index = tuple[tuple[float, float, float, float], tuple[float, float], int, NDArray[np.int32], Floats]


@compiled
def holds(edges: Floats, first: int, stop: int, inside: bool, x: float, y: float) -> bool:
    """Whether a point lies inside rings or on them.

    A ray to the right counts the edges it meets.

    Parameters
    ----------
    edges : array
        From ``edges[first]`` to `stop`, four numbers for each: from x, y up to x, y.
    inside : bool
        The answer for a point that no edge is to the right of.
    """
    for edge in range(first, stop, 4):
        ax, ay, bx, by = edges[edge], edges[edge + 1], edges[edge + 2], edges[edge + 3]
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
def first_holder(records: Floats, place: int, x: float, y: float) -> int:
    """First area of a record that holds a point, or `NONE`.

    All edges are counted without a branch, and again by `holds` if rounding could decide on one of them.
    """
    while records[place + AREA_AT] != NONE:
        first = place + EDGES_AT
        stop = first + int(records[place + LENGTH_AT])
        inside, doubtful = records[place + INSIDE_AT] != 0, False
        for edge in range(first, stop, 4):
            ax, ay, bx, by = records[edge], records[edge + 1], records[edge + 2], records[edge + 3]
            left, right = (ax - x) * (by - y), (ay - y) * (bx - x)
            difference = left - right
            reached = (ay <= y) & (y <= by)
            doubtful |= reached & (not abs(difference) > FILTER * (abs(left) + abs(right)))
            inside ^= reached & (y < by) & (difference > 0)
        if doubtful:
            inside = holds(records, first, stop, records[place + INSIDE_AT] != 0, x, y)
        if inside:
            return int(records[place + AREA_AT])
        place = stop
    return NONE


@compiled
def number_areas(longitudes: Coordinates, latitudes: Coordinates, index: Index, numbers: NDArray[np.int32]) -> None:
    """Write the first area that holds each point.

    `NONE` where no area does.

    Parameters
    ----------
    index : bounds, scales, side, owners, records
        A grid of `side` by `side` cells over all areas. A cell that no border enters has an owner: an area, or `NONE`.
        The others have a record of their areas in turn, `NONE` at the end. It says of an area whether a point that no
        edge is to the right of lies inside, and which edges there are.
    """
    (west, south, east, north), (column_scale, row_scale), side = index[0], index[1], np.int32(index[2])
    owners, records = index[3:]
    outside = np.int32(side * side)  # a cell of no area
    cut = np.empty(BLOCK, np.int32)
    for start in range(0, longitudes.size, BLOCK):
        xs, ys = longitudes[start : start + BLOCK], latitudes[start : start + BLOCK]
        found = numbers[start : start + BLOCK]
        for i in range(xs.size):
            x, y = np.float64(xs[i]), np.float64(ys[i])
            inside = (x >= west) & (x <= east) & (y >= south) & (y <= north)
            # NaN and far coordinates have no integer: they borrow the corner until the last line.
            column = cell_of(x if inside else west, west, column_scale, side)
            row = cell_of(y if inside else south, south, row_scale, side)
            found[i] = np.int32(row * side + column) if inside else outside
        cuts = 0
        for i in range(xs.size):
            found[i] = owners[found[i]]
            cut[cuts] = i
            cuts += found[i] <= ENTERED
        for i in cut[:cuts]:
            found[i] = first_holder(records, ENTERED - found[i], np.float64(xs[i]), np.float64(ys[i]))


@compiled
def count_in_areas(
    longitudes: Coordinates, latitudes: Coordinates, index: Index, true_counts: NDArray[np.int64]
) -> None:
    """Add points to their areas; those in none to the last entry."""
    numbers = np.empty(BLOCK, np.int32)
    for first in range(0, longitudes.size, BLOCK):
        xs, ys = longitudes[first : first + BLOCK], latitudes[first : first + BLOCK]
        number_areas(xs, ys, index, numbers[: xs.size])
        for number in numbers[: xs.size]:
            true_counts[number] += 1  # NONE is -1, and so the last


@compiled
def write_edges(edges: Floats, numbers: Indices, begins: Indices, records: Floats) -> None:
    """Write edges where those of their number begin, one after the other."""
    for i in range(numbers.size):
        place = begins[numbers[i]]
        records[place : place + 4] = edges[i]
        begins[numbers[i]] += 4
