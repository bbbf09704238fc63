"""Cells per side of a grid, by the guideline that UG and several other methods begin with."""

import math
from fractions import Fraction

from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT

LARGEST_SIDE = math.isqrt(GUIDELINE_CELL_LIMIT)  # of a grid sized from released values


def guideline_side(size: int, epsilon: Fraction, *, c: float = 10.0) -> int:
    """Cells per side, sqrt(N ε / c) rounded, at least 1 (Qardaji et al. 2013, Guideline 1).

    Examples
    --------
    >>> guideline_side(1_000_000, Fraction(1)), guideline_side(1_000_000, Fraction(1, 10))
    (316, 100)
    """
    return max(1, math.floor(math.sqrt(max(size, 0) * float(epsilon) / c) + 0.5))


def clamp_side(wanted: int, *, multiple_of: int = 1) -> tuple[int, tuple[str, ...]]:
    """A side as wanted, but not over the limit of sides from released values, and a note where that changed it.

    Parameters
    ----------
    multiple_of : int
        The largest side is the largest multiple of this within the limit.

    Examples
    --------
    >>> clamp_side(316)
    (316, ())
    >>> clamp_side(9000, multiple_of=100)
    (4000, ("the guideline's side of 9,000 was clamped to 4,000",))
    """
    side = min(wanted, LARGEST_SIDE // multiple_of * multiple_of)
    return side, () if side == wanted else (f"the guideline's side of {wanted:,} was clamped to {side:,}",)
