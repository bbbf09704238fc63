"""What areas of any shape cover of a partition.

An outline is a list of directed line segments, from x, y to x, y, that make up closed rings: counterclockwise around
what is inside, clockwise around holes. A half-plane keeps the parts on its side and lays the others onto its line, so
that an outline stays closed and keeps its signed area on that side (Sutherland, Hodgman: "Reentrant Polygon Clipping",
1974, one segment at a time). No test can go wrong by rounding: whatever touches, runs along or folds back on a line
adds nothing.

The boxes of a node's children form rows and columns. A block of them that no outline enters lies all inside or all
outside, and is done with; any other is halved, down to single leaves. Coordinates are in units of the hierarchy.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from hushgrid.answering.boxes import BoxTree
from hushgrid.answering.outlines import Outlines
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices

Box = tuple[float, float, float, float]  # west, south, east, north

GAUSS_LOW, GAUSS_HIGH = 0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5  # two points integrate cubics exactly


@compiled
def with_room(chain: Floats, size: int) -> Floats:
    """The same list, with room for `size` segments."""
    if size <= len(chain):
        return chain
    larger = np.empty((2 * size, 4))
    larger[: len(chain)] = chain
    return larger


@compiled
def put(chain: Floats, end: int, axis: int, here: float, along: float, there: float, beyond: float) -> int:
    """Append a segment and return the new end.

    Its ends are `here` and `there` on the axis, `along` and `beyond` on the other one.
    """
    chain[end, axis], chain[end, 1 - axis] = here, along
    chain[end, 2 + axis], chain[end, 3 - axis] = there, beyond
    return end + 1


@compiled
def lay(chain: Floats, first: int, end: int, axis: int, line: float, along: float, beyond: float) -> int:
    """Append a segment that lies on a line.

    If it continues the last segment on that line, that one is made longer.
    """
    last = end - 1
    if last >= first and chain[last, axis] == line and chain[last, 2 + axis] == line and chain[last, 3 - axis] == along:
        chain[last, 3 - axis] = beyond
        return last if chain[last, 1 - axis] == beyond else end
    return end if along == beyond else put(chain, end, axis, line, along, line, beyond)


@compiled
def keep(chain: Floats, first: int, stop: int, axis: int, line: float, sign: int, start: int) -> int:
    """Clip the segments `first` to `stop` to a half-plane.

    The result is written from `start` on, and its end is returned.

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
    """Cut the segments `first` to `stop` at a line.

    Both sides are written right after them.

    Returns the list, the end of the side of smaller coordinates, where that of larger ones starts, and its end.
    """
    chain = with_room(chain, stop + 4 * (stop - first))
    middle = keep(chain, first, stop, axis, line, -1, stop)
    return chain, middle, keep(chain, first, stop, axis, line, 1, middle)


@compiled
def enters(chain: Floats, first: int, stop: int, box: Box) -> bool:
    """Whether any segment leaves a box's sides.

    If none does, the box lies all inside or all outside.
    """
    west, south, east, north = box
    for place in range(first, stop):
        left, bottom, right, top = chain[place, 0], chain[place, 1], chain[place, 2], chain[place, 3]
        upright = left == right and (left in (west, east))
        if not upright and not (bottom == top and (bottom in (south, north))):
            return True
    return False


@compiled
def in_box(chain: Floats, place: int, box: Box) -> Box:
    """A segment's ends in units of a box."""
    west, south, east, north = box
    return (
        (chain[place, 0] - west) / (east - west),
        (chain[place, 1] - south) / (north - south),
        (chain[place, 2] - west) / (east - west),
        (chain[place, 3] - south) / (north - south),
    )


@compiled
def polygon_share(chain: Floats, first: int, stop: int, box: Box) -> float:
    """Share of a box that an outline surrounds.

    It is the outline's signed area over the box's.
    """
    total = 0.0
    for place in range(first, stop):
        left, bottom, right, top = in_box(chain, place, box)
        total += (left + right) * (top - bottom)
    return total / 2


@compiled
def sloped_share(chain: Floats, first: int, stop: int, box: Box, slope_x: float, slope_y: float) -> float:
    """Share of a sloped mass that an outline surrounds.

    The density is ``(1 + gx (2 U - 1)) (1 + gy (2 V - 1))``.

    By Green's theorem it is the integral of ``(U + gx (U**2 - U)) (1 + gy (2 V - 1)) dV`` around the outline.
    """
    total = 0.0
    for place in range(first, stop):
        left, bottom, right, top = in_box(chain, place, box)
        for step in (GAUSS_LOW, GAUSS_HIGH):
            u, v = left + step * (right - left), bottom + step * (top - bottom)
            total += (u + slope_x * (u * u - u)) * (1 + slope_y * (2 * v - 1)) * (top - bottom)
    return total / 2


@compiled
def clip_to_domain(
    segments: Floats, first: int, stop: int, columns: float, rows: float, chain: Floats
) -> tuple[Floats, int, int]:
    """Copy an outline, clipped to the domain.

    The domain goes from zero to `columns` and `rows`. Returns the list, and where the outline begins and ends in it.
    """
    chain = with_room(chain, stop - first)
    chain[: stop - first] = segments[first:stop]
    begin, end = 0, stop - first
    for axis, line, sign in ((0, 0.0, 1), (1, 0.0, 1), (0, columns, -1), (1, rows, -1)):
        chain = with_room(chain, end + 2 * (end - begin))
        begin, end = end, keep(chain, begin, end, axis, line, sign, end)
    return chain, begin, end


@compiled
def push(
    stack: Indices, height: int, node: int, left: int, bottom: int, right: int, top: int, first: int, stop: int
) -> tuple[Indices, int]:
    """Push a block of children and its outline."""
    if height == len(stack):
        stack = np.concatenate((stack, np.empty_like(stack)))
    stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = node, left, bottom, right
    stack[height, 4], stack[height, 5], stack[height, 6] = top, first, stop
    return stack, height + 1


@compiled
def note_box(
    runs: Indices, shares: Floats, found: int, first: int, stop: int, area: float, mass: float
) -> tuple[Indices, Floats, int]:
    """Add a run of nodes to the result."""
    if found == len(runs):
        runs = np.concatenate((runs, np.empty_like(runs)))
        shares = np.concatenate((shares, np.empty_like(shares)))
    runs[found, 0], runs[found, 1] = first, stop
    shares[found, 0], shares[found, 1] = min(max(area, 0.0), 1.0), min(max(mass, 0.0), 1.0)
    return runs, shares, found + 1


@compiled
def note_leaf(
    chain: Floats,
    first: int,
    stop: int,
    box: Box,
    leaf: int,
    slopes: Floats,
    runs: Indices,
    shares: Floats,
    found: int,
) -> tuple[Indices, Floats, int]:
    """Add a cut leaf to the result."""
    area = polygon_share(chain, first, stop, box)
    mass = area if len(slopes) == 0 else sloped_share(chain, first, stop, box, slopes[leaf, 0], slopes[leaf, 1])
    return note_box(runs, shares, found, leaf, leaf + 1, area, mass)


@compiled
def cover(
    segments: Floats,
    starts: Indices,
    first_area: int,
    stop_area: int,
    domain_columns: float,
    domain_rows: float,
    splits: Indices,
    first_children: Indices,
    edge_starts: Indices,
    edges: Floats,
    slopes: Floats,
) -> tuple[Indices, Indices, Floats]:
    """Runs of siblings that areas cover.

    The areas are those from `first_area` to `stop_area`.

    Parameters
    ----------
    segments : array, shape (segments, 4)
        Outlines of all areas; those of an area lie from ``starts[area]`` to ``starts[area + 1]``.
    splits, first_children : arrays of int, shape (nodes, 2) and (nodes,)
        Columns and rows of a node's children, zero for a leaf, and the first of them.
    edge_starts, edges : arrays
        From ``edge_starts[node]`` on, the edges between the columns of a node's children, then between their rows.
    slopes : array, shape (nodes, 2)
        Of the density inside leaves; empty where it is flat.

    Returns
    -------
    ends : array, shape (areas,)
        End of the runs of each area.
    runs : array, shape (runs, 2)
        First node of each, and the end; single ones are cut, or not.
    shares : array, shape (runs, 2)
        Covered share of each node's area and of its mass; one in runs of several.
    """
    ends = np.empty(stop_area - first_area, np.int64)
    chain, stack = np.empty((1024, 4)), np.empty((64, 7), np.int64)
    runs, shares, found = np.empty((1024, 2), np.int64), np.empty((1024, 2)), 0
    for area in range(first_area, stop_area):
        chain, first, stop = clip_to_domain(
            segments, starts[area], starts[area + 1], domain_columns, domain_rows, chain
        )
        height = 0
        if splits[0, 0] > 0:
            stack, height = push(stack, height, 0, 0, 0, splits[0, 0], splits[0, 1], first, stop)
        else:
            box = (0.0, 0.0, domain_columns, domain_rows)
            runs, shares, found = note_leaf(chain, first, stop, box, 0, slopes, runs, shares, found)
        while height > 0:
            height -= 1
            node, left, bottom, right = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
            top, first, stop = stack[height, 4], stack[height, 5], stack[height, 6]
            columns, across = splits[node, 0], edge_starts[node]
            along = across + columns + 1
            box = (edges[across + left], edges[along + bottom], edges[across + right], edges[along + top])
            child = first_children[node] + bottom * columns + left
            if not enters(chain, first, stop, box):
                if polygon_share(chain, first, stop, box) > 0.5:
                    for row in range(top - bottom):
                        begin = child + row * columns
                        runs, shares, found = note_box(runs, shares, found, begin, begin + right - left, 1.0, 1.0)
            elif right - left > 1 and right - left >= top - bottom:
                half = (left + right) // 2
                chain, middle, end = cut(chain, first, stop, 0, edges[across + half])
                stack, height = push(stack, height, node, left, bottom, half, top, stop, middle)
                stack, height = push(stack, height, node, half, bottom, right, top, middle, end)
            elif top - bottom > 1:
                half = (bottom + top) // 2
                chain, middle, end = cut(chain, first, stop, 1, edges[along + half])
                stack, height = push(stack, height, node, left, bottom, right, half, stop, middle)
                stack, height = push(stack, height, node, left, half, right, top, middle, end)
            elif splits[child, 0] > 0:
                stack, height = push(stack, height, child, 0, 0, splits[child, 0], splits[child, 1], first, stop)
            else:
                runs, shares, found = note_leaf(chain, first, stop, box, child, slopes, runs, shares, found)
        ends[area - first_area] = found
    return ends, runs[:found].copy(), shares[:found].copy()


SMALLEST_SLICE = 64  # areas a thread is worth starting for


@dataclass(frozen=True, kw_only=True, eq=False)
class Cover:
    """Runs of neighbouring nodes that areas cover.

    Nodes lie inside the area, or are single leaves that it cuts.

    Parameters
    ----------
    starts : array of int, shape (areas + 1,)
        The runs of an area lie from ``starts[area]`` to ``starts[area + 1]``.
    runs : array of int, shape (runs, 2)
        First node and end of each.
    area_shares, mass_shares : arrays, shape (runs,)
        Covered share of each node, by area and by estimated points; they differ where leaves slope.
    """

    starts: Indices
    runs: Indices
    area_shares: Floats
    mass_shares: Floats

    @classmethod
    def of(cls, hierarchy: BoxTree, outlines: Outlines, slopes: Floats) -> Self:
        """What areas cover of a hierarchy.

        Parameters
        ----------
        slopes : array, shape (nodes, 2)
            Of the density inside leaves; empty where it is flat.
        """
        segments = np.ascontiguousarray(hierarchy.in_units(outlines.segments.reshape(-1, 2)).reshape(-1, 4))
        extent = float(hierarchy.columns), float(hierarchy.rows)
        splits, children = hierarchy.splits, hierarchy.first_children
        starts, edges = hierarchy.edge_starts, hierarchy.edges
        parts: dict[int, tuple[Indices, Indices, Floats]] = {}

        def work(first: int, stop: int) -> None:
            parts[first] = cover(
                segments, outlines.starts, first, stop, *extent, splits, children, starts, edges, slopes
            )

        run_in_slices(work, outlines.areas, smallest=SMALLEST_SLICE)
        slices = [parts[first] for first in sorted(parts)]
        shares = np.concatenate([part[2] for part in slices])
        lengths = np.concatenate([np.diff(part[0], prepend=0) for part in slices])
        return cls(
            starts=np.concatenate([[0], np.cumsum(lengths)]),
            runs=np.concatenate([part[1] for part in slices]),
            area_shares=np.ascontiguousarray(shares[:, 0]),
            mass_shares=np.ascontiguousarray(shares[:, 1]),
        )

    @property
    def areas(self) -> int:
        """Number of areas."""
        return len(self.starts) - 1

    @cached_property
    def _area_of_run(self) -> Indices:
        """Area of every run, shape (runs,)."""
        return np.repeat(np.arange(self.areas), np.diff(self.starts))

    def total(self, run_values: Floats) -> Floats:
        """Sum over the runs of every area, shape (areas,)."""
        return np.asarray(np.bincount(self._area_of_run, run_values, minlength=self.areas), np.float64)

    def node_by_node(self) -> "Cover":
        """The same with one run for each node."""
        lengths = self.runs[:, 1] - self.runs[:, 0]
        before = np.concatenate([[0], np.cumsum(lengths)])
        nodes = np.arange(before[-1]) + np.repeat(self.runs[:, 0] - before[:-1], lengths)
        return Cover(
            starts=before[self.starts],
            runs=np.stack([nodes, nodes + 1], axis=1),
            area_shares=np.repeat(self.area_shares, lengths),
            mass_shares=np.repeat(self.mass_shares, lengths),
        )
