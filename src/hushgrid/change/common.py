"""Errors that counts have in common.

Those of two releases in one place, which cancel in a difference, and those of one release in all places.
"""

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.geometry.grid import Grid
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.synopsis.scale import FEWEST_KEPT
from hushgrid.synopsis.synopsis import Synopsis

SIDES = (8, 16, 32, 64, 128, 256)  # blocks a side whose halves are compared
BLOCKS_PER_CELL = 4  # at most: cells are smaller where the points are, and finer blocks only show how cells were drawn


def common_spread(before: Synopsis, after: Synopsis) -> float:
    """Share of the spread inside cut cells that is common to both.

    In each release the halves of blocks differ by some points. The share is the correlation of these differences,
    where it is least from coarse blocks to ones about as fine as cells; it lies between 0 and 1. Noise of either
    release lowers it, so that it errs towards 0, which stands for independent errors. Releases on areas have no blocks,
    and what is unknown of records that were not kept may have nothing in common: for these it is 0.
    """
    if not (before.partition.tiles and after.partition.tiles) or _estimates_missed(before) or _estimates_missed(after):
        return 0.0
    most = BLOCKS_PER_CELL * min(before.partition.cells, after.partition.cells)
    sides = [side for side in SIDES if side**2 <= most]
    if not sides:
        return 0.0
    finest = 2 * sides[-1]
    quarters = Grid(domain=before.domain, rows=finest, columns=finest).bounds()
    one, other = (np.asarray(each.count(quarters)).reshape(finest, finest) for each in (before, after))
    return max(0.0, min(_correlation(one, other, side) for side in sides))


def scale_variance(synopsis: Synopsis) -> float:
    """Relative variance of the factor that counts are scaled by.

    It is relative to the square of the factor, and 0 where counts are not scaled.

    All places share its error, so that noise in a total alone may make all of them rise. It comes from the noise in the
    sum of the counts, and from that in a private total; a public one is taken as right.
    """
    scale, rate = synopsis.scale, synopsis.claim.total_rate
    if scale is None or scale.total <= 0 or synopsis.measured_total.value < FEWEST_KEPT:
        return 0.0
    kept = synopsis.measured_total
    of_total = 0.0 if scale.source == "public" or rate is None else discrete_laplace_variance(rate)
    return kept.variance / kept.value**2 + of_total / scale.total**2


def _estimates_missed(synopsis: Synopsis) -> bool:
    return synopsis.scale is not None and synopsis.scale.all_records is not None


def _correlation(one: Floats, other: Floats, side: int) -> float:
    """Correlation of the differences between halves of blocks.

    Each is divided by the root of its points, so that chance makes all of one size.
    """
    (points, unlike), (other_points, other_unlike) = unlike_halves(one, side), unlike_halves(other, side)
    weights = 1 / np.sqrt(np.maximum(points, 1) * np.maximum(other_points, 1))
    by_chance = np.sum(weights * unlike**2) * np.sum(weights * other_unlike**2)
    return float(np.sum(weights * unlike * other_unlike) / np.sqrt(by_chance)) if by_chance > 0 else 0.0


def unlike_halves(counts: Floats, side: int) -> tuple[Floats, Floats]:
    """Points of each block, and how many more one half has.

    The halves lie across and along, so that the second has shape (2, n, n).
    """
    quarters = counts.reshape(2 * side, len(counts) // (2 * side), 2 * side, -1).sum(axis=(1, 3))
    blocks = quarters.reshape(side, 2, side, 2)
    rows, columns = blocks.sum(axis=3), blocks.sum(axis=1)
    return blocks.sum(axis=(1, 3)), np.stack([rows[:, 1] - rows[:, 0], columns[..., 1] - columns[..., 0]])
