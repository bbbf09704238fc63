"""Which nodes of a hierarchy of boxes a polygon covers, and how much of them.

The boxes of a node's children form rows and columns. A block of them that no outline enters lies all inside or all
outside, and is done with; any other is halved, down to single leaves. Coordinates are in units of the hierarchy.
"""

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.kernels.polygon_chains import Box, cut, enters, keep, share, sloped_share, with_room


@compiled
def clip_to_domain(
    segments: Floats, first: int, stop: int, columns: float, rows: float, chain: Floats
) -> tuple[Floats, int, int]:
    """Copy an outline, clipped to the box from zero to `columns` and `rows`; returns the list and where it is there."""
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
    """Put a block of a node's children, and the outline inside it, on the stack."""
    if height == len(stack):
        stack = np.concatenate((stack, np.empty_like(stack)))
    stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = node, left, bottom, right
    stack[height, 4], stack[height, 5], stack[height, 6] = top, first, stop
    return stack, height + 1


@compiled
def note(
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
    """Add a leaf that is cut to the result."""
    area = share(chain, first, stop, box)
    mass = area if len(slopes) == 0 else sloped_share(chain, first, stop, box, slopes[leaf, 0], slopes[leaf, 1])
    return note(runs, shares, found, leaf, leaf + 1, area, mass)


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
    """Runs of siblings that the areas `first_area` to `stop_area` cover.

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
                if share(chain, first, stop, box) > 0.5:
                    for row in range(top - bottom):
                        begin = child + row * columns
                        runs, shares, found = note(runs, shares, found, begin, begin + right - left, 1.0, 1.0)
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
