"""A count with its interval."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats

# Variance of a count that no leaf is cut for: whole points, and what two decimals of an edge can hold.
FLOOR_VARIANCE = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """Estimated counts of areas; every field has shape (n,), or is one value for one area.

    Parameters
    ----------
    estimate : float or array
        Estimated count, never clipped, so that disjoint areas add up.
    low, high : float or array
        Interval that holds the true count with the confidence asked for; never below zero.
    noise_std : float or array
        Standard deviation by noise: exact, given the released structure.
    spread_std : float or array
        Standard deviation by the points not lying evenly inside the leaves the area cuts: a model.
    usable : bool or array
        Whether the interval is at most as wide as the estimate; else the count says little but that it is small.
    """

    estimate: float | Floats
    low: float | Floats
    high: float | Floats
    noise_std: float | Floats
    spread_std: float | Floats
    usable: bool | NDArray[np.bool_]

    def only(self) -> "Answer":
        """The answer to the one area that was asked, as plain values."""
        return Answer(**{field.name: getattr(self, field.name)[0].item() for field in fields(self)})


def with_interval(estimate: Floats, noise: Floats, spread: Floats, *, reach: Floats) -> Answer:
    """Answers from estimates and their variances by noise and by spread, shape (n,) each.

    Parameters
    ----------
    reach : array, shape (n,)
        Standard deviations that each interval extends to either side.
    """
    spread = spread + FLOOR_VARIANCE
    half = reach * np.sqrt(noise + spread)
    low, high = np.maximum(estimate - half, 0), np.maximum(estimate + half, 0)
    return Answer(
        estimate=estimate,
        low=low,
        high=high,
        noise_std=np.sqrt(noise),
        spread_std=np.sqrt(spread),
        usable=high - low <= estimate,
    )
