"""Blocks of a grid to compare two releases on."""

import math
from collections.abc import Callable

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.change.evidence import TwoCounts
from hushgrid.errors import ArgumentError, quoted
from hushgrid.geometry.domain import Domain, number_of
from hushgrid.geometry.grid import Grid

# Blocks along the longer side, tried in this order. Trees halve their cells, so that halved blocks cut few of these.
FINENESSES = (128, 64, 32, 16)
COARSEST = 8
FOUND_POINTS = 0.85  # share of all points that lie in blocks where a doubling would be found
MOST_BLOCKS = 400  # along the longer side, so that a page of all blocks stays light


def block_grid(domain: Domain, longest: int) -> Grid:
    """A grid of blocks that look about square on the ground.

    Examples
    --------
    >>> grid = block_grid(Domain(west=0, south=0, east=4, north=2, crs="EPSG:32618"), 10)
    >>> grid.columns, grid.rows
    (10, 5)
    """
    if not 1 <= number_of(longest) <= MOST_BLOCKS or int(longest) != longest:
        msg = f"grid is the number of blocks along the longer side, from 1 to {MOST_BLOCKS}; got {quoted(longest)}."
        raise ArgumentError(msg, instead={"grid": 50})
    longest, width, height = int(longest), domain.width, domain.height
    if domain.is_geographic:
        width *= max(0.1, math.cos(math.radians((domain.south + domain.north) / 2)))
    shortest = max(1, round(longest / round(max(width, height) / min(width, height))))
    columns, rows = (longest, shortest) if width >= height else (shortest, longest)
    return Grid(domain=domain, rows=rows, columns=columns)


def usual_blocks(domain: Domain, counts_in: Callable[[Floats], TwoCounts], *, rate: float) -> Grid:
    """The finest grid on which a doubling would be found.

    It would be found in the blocks where nearly all points lie.

    Parameters
    ----------
    domain : Domain
    counts_in : callable
        What two releases say about rectangles, shape (n, 4).
    rate : float
        Of false alarms. A doubling is found if its interval leaves out zero at this rate, divided by the number of
        blocks. Only the size of counts is looked at, not their difference.
    """
    for longest in FINENESSES:
        grid = block_grid(domain, longest)
        counts = counts_in(grid.bounds())
        masses = np.maximum(counts.before.estimate, 0) + np.maximum(counts.after.estimate, 0)
        found = counts.half_widths(rate / grid.cells) <= masses / 2
        if masses[found].sum() >= FOUND_POINTS * masses.sum():
            return grid
    return block_grid(domain, COARSEST)
