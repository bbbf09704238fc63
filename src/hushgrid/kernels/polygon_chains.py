"""Outlines of polygons, cut along lines.

An outline is a list of directed line segments, from x, y to x, y, that make up closed rings: counterclockwise around
what is inside, clockwise around holes. A half-plane keeps the parts on its side and lays the others onto its line, so
that an outline stays closed and keeps its signed area on that side (Sutherland, Hodgman: "Reentrant Polygon Clipping",
1974, one segment at a time). No test can go wrong by rounding: whatever touches, runs along or folds back on a line
adds nothing.
"""

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.compiled import compiled

Box = tuple[float, float, float, float]  # west, south, east, north

GAUSS_LOW, GAUSS_HIGH = 0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5  # two points integrate cubics exactly


@compiled
def with_room(chain: Floats, size: int) -> Floats:
    """The same list, with room for so many segments."""
    if size <= len(chain):
        return chain
    larger = np.empty((2 * size, 4))
    larger[: len(chain)] = chain
    return larger


@compiled
def put(chain: Floats, end: int, axis: int, here: float, along: float, there: float, beyond: float) -> int:
    """Append a segment; `here` and `there` are its places on the axis, `along` and `beyond` on the other one."""
    chain[end, axis], chain[end, 1 - axis] = here, along
    chain[end, 2 + axis], chain[end, 3 - axis] = there, beyond
    return end + 1


@compiled
def lay(chain: Floats, first: int, end: int, axis: int, line: float, along: float, beyond: float) -> int:
    """Append a segment on a line; one that goes on where the last one on the line ends makes it longer."""
    last = end - 1
    if last >= first and chain[last, axis] == line and chain[last, 2 + axis] == line and chain[last, 3 - axis] == along:
        chain[last, 3 - axis] = beyond
        return last if chain[last, 1 - axis] == beyond else end
    return end if along == beyond else put(chain, end, axis, line, along, line, beyond)


@compiled
def keep(chain: Floats, first: int, stop: int, axis: int, line: float, sign: int, start: int) -> int:
    """Write what a half-plane keeps of the segments `first` to `stop` from `start` on; returns the end.

    It is the side of larger coordinates along the axis for sign 1, and of smaller ones for sign -1. There must be room
    for twice as many segments.
    """
    end = start
    for place in range(first, stop):
        here, there = chain[place, axis], chain[place, 2 + axis]
        along, beyond = chain[place, 1 - axis], chain[place, 3 - axis]
        before, after = sign * (here - line), sign * (there - line)
        if before <= 0 and after <= 0:
            end = lay(chain, start, end, axis, line, along, beyond)
        elif before >= 0 and after >= 0:
            end = put(chain, end, axis, here, along, there, beyond)
        else:
            crossing = along + (beyond - along) * (before / (before - after))
            if before > 0:
                end = put(chain, end, axis, here, along, line, crossing)
                end = lay(chain, start, end, axis, line, crossing, beyond)
            else:
                end = lay(chain, start, end, axis, line, along, crossing)
                end = put(chain, end, axis, line, crossing, there, beyond)
    return end


@compiled
def cut(chain: Floats, first: int, stop: int, axis: int, line: float) -> tuple[Floats, int, int]:
    """Write what lies on either side of a line right after the segments `first` to `stop`.

    Returns the list, the end of the side of smaller coordinates, where that of larger ones starts, and its end.
    """
    chain = with_room(chain, stop + 4 * (stop - first))
    middle = keep(chain, first, stop, axis, line, -1, stop)
    return chain, middle, keep(chain, first, stop, axis, line, 1, middle)


@compiled
def enters(chain: Floats, first: int, stop: int, box: Box) -> bool:
    """Whether any segment leaves the sides of a box; else the box lies all inside or all outside."""
    west, south, east, north = box
    for place in range(first, stop):
        left, bottom, right, top = chain[place, 0], chain[place, 1], chain[place, 2], chain[place, 3]
        upright = left == right and (left in (west, east))
        if not upright and not (bottom == top and (bottom in (south, north))):
            return True
    return False


@compiled
def in_box(chain: Floats, place: int, box: Box) -> Box:
    """Both ends of a segment in units of a box, from 0 to 1."""
    west, south, east, north = box
    return (
        (chain[place, 0] - west) / (east - west),
        (chain[place, 1] - south) / (north - south),
        (chain[place, 2] - west) / (east - west),
        (chain[place, 3] - south) / (north - south),
    )


@compiled
def share(chain: Floats, first: int, stop: int, box: Box) -> float:
    """Share of a box that the outline inside it surrounds: its signed area over the box's."""
    total = 0.0
    for place in range(first, stop):
        left, bottom, right, top = in_box(chain, place, box)
        total += (left + right) * (top - bottom)
    return total / 2


@compiled
def sloped_share(chain: Floats, first: int, stop: int, box: Box, slope_x: float, slope_y: float) -> float:
    """Share of a mass that the outline surrounds, whose density is ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``.

    By Green's theorem it is the integral of ``(U + gx (U**2 - U)) (1 + gy (2 V - 1)) dV`` around the outline.
    """
    total = 0.0
    for place in range(first, stop):
        left, bottom, right, top = in_box(chain, place, box)
        for step in (GAUSS_LOW, GAUSS_HIGH):
            u, v = left + step * (right - left), bottom + step * (top - bottom)
            total += (u + slope_x * (u * u - u)) * (1 + slope_y * (2 * v - 1)) * (top - bottom)
    return total / 2
