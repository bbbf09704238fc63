"""Variances of sums over rectangles where cells of a grid are tied together in groups."""

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.kernels.answers import covered


@compiled
def fraction(index: int, cells: tuple[int, int, float, float]) -> float:
    """Fraction of a column or row of a span that is covered."""
    first, last, begin, end = cells
    if index == first:
        return begin
    return end if index == last else 1.0


@compiled
def vary_on_groups(
    rects: Floats,
    first: int,
    stop: int,
    west: float,
    south: float,
    columns: int,
    rows: int,
    column_scale: float,
    row_scale: float,
    groups: Indices,
    sizes: Floats,
    member_variances: Floats,
    group_variances: Floats,
    noise: Floats,
) -> None:
    """Add the variance by noise of the grouped cells in each rectangle.

    As for the leaves of a cell in `vary_on_nested`: with weights w on the k members of a group, W their sum, it is
    ``V_member (sum w**2 - W**2/k) + (W/k)**2 V_group``.

    Parameters
    ----------
    groups : array of int, shape (cells,)
        Group of each cell, negative where it has none.
    sizes, member_variances, group_variances : array, shape (groups,)
    """
    sums, squares = np.zeros(len(sizes)), np.zeros(len(sizes))
    met = np.empty(len(sizes), np.int64)
    for number in range(first, stop):
        across = covered(rects[number, 0], rects[number, 2], west, column_scale, columns)
        along = covered(rects[number, 1], rects[number, 3], south, row_scale, rows)
        meetings = 0
        for row in range(along[0], min(along[1], rows - 1) + 1):
            for column in range(across[0], min(across[1], columns - 1) + 1):
                group = groups[row * columns + column]
                weight = fraction(column, across) * fraction(row, along)
                if group < 0 or weight == 0.0:
                    continue
                if sums[group] == 0.0:
                    met[meetings] = group
                    meetings += 1
                sums[group] += weight
                squares[group] += weight * weight
        for meeting in range(meetings):
            group = met[meeting]
            share = sums[group] / sizes[group]
            noise[number] += member_variances[group] * max(squares[group] - share * sums[group], 0.0)
            noise[number] += share * share * group_variances[group]
            sums[group] = squares[group] = 0.0
