"""Sizes of grids, by the guidelines of Qardaji, Yang and Li (ICDE 2013)."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT


def leaf_sides(counts: NDArray[np.int64], epsilon: Fraction, *, c2: float = 5.0) -> NDArray[np.float64]:
    """Leaf cells per side of each first-level cell, ceil(sqrt(N' ε / c2)), at least 1 (Guideline 2).

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
    """Sides scaled down in proportion, so that there are at most `limit` leaves.

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
