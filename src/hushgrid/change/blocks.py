"""Blocks of a grid to compare two releases on."""

import math

import numpy as np

from hushgrid.errors import ArgumentError, quoted
from hushgrid.geometry.domain import Domain, number_of
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.synopsis import Synopsis

FINENESSES = (128, 96, 64, 48, 32, 24, 16, 12)  # blocks along the longer side, tried in this order
COARSEST = 8
KNOWN_POINTS = 0.9  # share of all points that lie in blocks of known counts
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
    width, height = domain.width, domain.height
    if domain.is_geographic:
        width *= max(0.1, math.cos(math.radians((domain.south + domain.north) / 2)))
    share = longest / max(width, height)
    return Grid(domain=domain, rows=max(1, round(height * share)), columns=max(1, round(width * share)))


def usual_blocks(before: Synopsis, after: Synopsis) -> int:
    """The finest grid on which nearly all points lie in blocks that both releases know.

    The count of a block is known if its interval is no wider than the estimate.
    """
    for longest in FINENESSES:
        one, other = (each.answer(block_grid(each.domain, longest).bounds()) for each in (before, after))
        masses = np.maximum(one.estimate, 0) + np.maximum(other.estimate, 0)
        usable = np.asarray(one.usable) & np.asarray(other.usable)
        if masses[usable].sum() >= KNOWN_POINTS * masses.sum():
            return longest
    return COARSEST
