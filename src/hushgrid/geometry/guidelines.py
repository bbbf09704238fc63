"""Sizes of grids (Qardaji, Yang, Li, ICDE 2013), and of trees.

The rules for trees are ours: docs/privacy/adaptive-trees.md has the figures behind them.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT

LARGEST_SIDE = math.isqrt(GUIDELINE_CELL_LIMIT)  # of a grid sized from released values
SMALLEST_FIRST_SIDE = 10  # section IV-B, choice of m1
HIGHEST = 20  # halvings; a complete tree of this height has two million nodes
PAPER_STOP = 32  # Cormode et al. 2012 prune below it
NOISE_STOP = 25  # times 1/ε; about four standard deviations of the noise of the finest counts


def guideline_side(size: int, epsilon: Fraction, *, c: float = 10.0) -> int:
    """Cells per side by Guideline 1.

    sqrt(N ε / c) rounded, at least 1 (Qardaji et al. 2013).

    Examples
    --------
    >>> guideline_side(1_000_000, Fraction(1)), guideline_side(1_000_000, Fraction(1, 10))
    (316, 100)
    """
    return max(1, math.floor(math.sqrt(max(size, 0) * float(epsilon) / c) + 0.5))


def clamp_side(
    wanted: int, *, multiple_of: int = 1, most_cells: int = GUIDELINE_CELL_LIMIT
) -> tuple[int, tuple[str, ...]]:
    """The side wanted, or the largest allowed and a note.

    Sizes from released values are clamped, because no record may cause an error.

    Parameters
    ----------
    multiple_of : int
        The largest side is the largest multiple of this within the limit, at least this.
    most_cells : int
        The limit.

    Examples
    --------
    >>> clamp_side(316)
    (316, ())
    >>> clamp_side(9000, multiple_of=100)
    (4000, ("the guideline's side of 9,000 was clamped to 4,000",))
    """
    side = min(wanted, max(multiple_of, math.isqrt(most_cells) // multiple_of * multiple_of))
    return side, () if side == wanted else (f"the guideline's side of {wanted:,} was clamped to {side:,}",)


def clamp_first_side(wanted: int, *, most_cells: int = GUIDELINE_CELL_LIMIT) -> tuple[int, tuple[str, ...]]:
    """The first-level side wanted, or the largest allowed and a note.

    The largest leaves sixteen leaf cells for each first-level one.

    Examples
    --------
    >>> clamp_first_side(79)
    (79, ())
    >>> clamp_first_side(79, most_cells=10_000)
    (25, ("the guideline's first-level side of 79 was clamped to 25",))
    """
    side = min(wanted, max(SMALLEST_FIRST_SIDE, math.isqrt(most_cells) // 4))
    return side, () if side == wanted else (f"the guideline's first-level side of {wanted:,} was clamped to {side:,}",)


def leaf_sides(counts: NDArray[np.int64], epsilon: Fraction, *, c2: float = 5.0) -> NDArray[np.float64]:
    """Leaf cells per side by Guideline 2.

    ceil(sqrt(N' ε / c2)) for each first-level cell, at least 1.

    Parameters
    ----------
    counts : array of int, shape (cells,)
        Noisy first-level counts N'.
    epsilon : Fraction
        Budget of the leaves, (1 - α) ε.

    Examples
    --------
    >>> leaf_sides(np.array([-3, 0, 40, 1000]), Fraction(1, 2))
    array([ 1.,  1.,  2., 10.])
    """
    return np.maximum(1, np.ceil(np.sqrt(np.maximum(counts, 0) * float(epsilon) / c2)))


def clamp_sides(sides: NDArray[np.float64], *, limit: int = GUIDELINE_CELL_LIMIT) -> NDArray[np.int64]:
    """Sides scaled down to give at most `limit` leaves.

    Examples
    --------
    >>> clamp_sides(np.array([1.0, 30.0, 40.0]), limit=100)
    array([1, 5, 7])
    """
    leaves = float(np.sum(sides**2))
    if leaves > limit:
        # One leaf a cell is kept aside, because a side never falls below one.
        sides = np.maximum(1, np.floor(sides * math.sqrt(max(limit - len(sides), 0) / leaves)))
    return sides.astype(np.int64)


def guideline_height(size: int, epsilon: Fraction, *, highest: int = HIGHEST) -> int:
    """Halvings of a tree for a number of points; even.

    log4(N ε) rounded, and one more, times two: where points are sparse the tree stops before.

    Examples
    --------
    >>> guideline_height(1_000_000, Fraction(1, 10)), guideline_height(9_000, Fraction(1))
    (18, 16)
    """
    quarterings = round(math.log(max(size * float(epsilon), 1), 4)) + 1
    return min(2 * quarterings, highest)


def fit_height(wanted: int, *, most_cells: int, step: int = 1, fan_out: int = 2) -> tuple[int, tuple[str, ...]]:
    """The height wanted, or the largest allowed and a note.

    Parameters
    ----------
    most_cells : int
        Leaves of a complete tree of the largest height allowed, at most.
    step : int
        The largest height is a multiple of this.
    fan_out : int
        Children of a node, a power of two.

    Examples
    --------
    >>> fit_height(16, most_cells=2**24)
    (16, ())
    >>> fit_height(16, most_cells=40_000, step=2)
    (14, ('the height of 16 was clamped to 14, to fit 40,000 cells',))
    >>> fit_height(12, most_cells=2**10, fan_out=4)
    (5, ('the height of 12 was clamped to 5, to fit 1,024 cells',))
    """
    halvings = fan_out.bit_length() - 1
    height = min(wanted, (most_cells.bit_length() - 1) // halvings // step * step)
    note = f"the height of {wanted} was clamped to {height}, to fit {most_cells:,} cells"
    return height, () if height == wanted else (note,)


def stop_count(stop_below: int | None, epsilon: Fraction) -> int:
    """Noisy count below which a node is not divided.

    25/ε, rounded up, where none is given.

    Examples
    --------
    >>> stop_count(None, Fraction(1, 10)), stop_count(32, Fraction(1, 10))
    (250, 32)
    """
    return math.ceil(NOISE_STOP / epsilon) if stop_below is None else stop_below
