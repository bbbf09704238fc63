"""A count with its interval."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError
from hushgrid.synopsis.surface import Floats, Surface

# Variance of a count that no leaf is cut for: whole points, and what two decimals of an edge can hold.
FLOOR_VARIANCE = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """Estimated counts of rectangles; every field has shape (n,), or is one float for one rectangle.

    Parameters
    ----------
    estimate : float or array
        Estimated count, never clipped, so that disjoint rectangles add up.
    low, high : float or array
        Interval that holds the true count with the confidence asked for; never below zero.
    noise_std : float or array
        Standard deviation by noise: exact, given the released structure.
    spread_std : float or array
        Standard deviation by the points not lying evenly inside the leaves the rectangle cuts: a model.
    """

    estimate: float | Floats
    low: float | Floats
    high: float | Floats
    noise_std: float | Floats
    spread_std: float | Floats


def answer(surface: Surface, rects: NDArray[np.float64], *, confidence: float) -> Answer:
    """Estimates and intervals of rectangles, shape (n,) each."""
    if not 0 < confidence < 1:
        msg = f"confidence must lie between 0 and 1, such as 0.95; got confidence={confidence!r}."
        raise ArgumentError(msg)
    estimate = surface.counts(rects)
    noise, spread = surface.variances(rects)
    spread += FLOOR_VARIANCE
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(noise + spread)
    return Answer(
        estimate=estimate,
        low=np.maximum(estimate - reach, 0),
        high=np.maximum(estimate + reach, 0),
        noise_std=np.sqrt(noise),
        spread_std=np.sqrt(spread),
    )


def only(answers: Answer) -> Answer:
    """The answer to the one rectangle that was asked, as floats."""
    return Answer(**{name: float(values[0]) for name, values in vars(answers).items()})
