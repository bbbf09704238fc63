"""What slopes inside leaves add to sums over rectangles on nested grids: only leaves on the border have a say."""

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.kernels.answers import covered, position
from hushgrid.kernels.nested_answers import next_on_rim
from hushgrid.kernels.sloped_answers import share_below


@compiled
def shares_of_leaf(low: float, high: float, leaf: int, slope: float) -> tuple[float, float]:
    """Share of a leaf between two positions, in units of leaves, by extent and by mass."""
    start, end = max(low - leaf, 0.0), min(high - leaf, 1.0)
    return end - start, share_below(end, slope) - share_below(start, slope)


@compiled
def tilt_on_nested(
    rects: Floats,
    first: int,
    stop: int,
    west: float,
    south: float,
    columns: int,
    rows: int,
    column_scale: float,
    row_scale: float,
    column_edges: Floats,
    row_edges: Floats,
    sides: Indices,
    column_scales: Floats,
    row_scales: Floats,
    offsets: Indices,
    counts: Floats,
    slopes: Floats,
    out: Floats,
) -> None:
    """Add to the counts of flat leaves, for each rectangle `first` to `stop`, what the slopes of cut leaves change."""
    for number in range(first, stop):
        low_x, low_y, high_x, high_y = rects[number, 0], rects[number, 1], rects[number, 2], rects[number, 3]
        across = covered(low_x, high_x, west, column_scale, columns)
        along = covered(low_y, high_y, south, row_scale, rows)
        left, right = across[0], min(across[1], columns - 1)
        bottom, top = along[0], min(along[1], rows - 1)
        for row in range(bottom, top + 1):
            column = left
            while column <= right:
                cell = row * columns + column
                side = sides[cell]
                begin = position(low_x, column_edges[column], column_scales[cell], side)
                end = position(high_x, column_edges[column], column_scales[cell], side)
                below = position(low_y, row_edges[row], row_scales[cell], side)
                above = position(high_y, row_edges[row], row_scales[cell], side)
                out[number] += tilt_of_cell(begin, end, below, above, side, offsets[cell], counts, slopes)
                column = next_on_rim(column, row, right, bottom, top)


@compiled
def tilt_of_cell(
    begin: float, end: float, below: float, above: float, side: int, start: int, counts: Floats, slopes: Floats
) -> float:
    """What slopes change in the part of a first-level cell, in units of leaves; its leaves begin at `start`."""
    left, right = min(int(begin), side - 1), min(int(end), side - 1)
    bottom, top = min(int(below), side - 1), min(int(above), side - 1)
    total = 0.0
    for row in range(bottom, top + 1):
        column = left
        while column <= right:
            leaf = start + row * side + column
            width, mass_across = shares_of_leaf(begin, end, column, slopes[leaf, 0])
            height, mass_along = shares_of_leaf(below, above, row, slopes[leaf, 1])
            total += counts[leaf] * (mass_across * mass_along - width * height)
            column = next_on_rim(column, row, right, bottom, top)
    return total
