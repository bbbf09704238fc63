"""Errors of estimates against the truth, and how they are summed up."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RELATIVE_FLOOR = 0.001  # rho, as a share of the number of points (Qardaji et al. 2013, section V-A)


def absolute_errors(estimates: Floats, true_counts: NDArray[np.int64] | Floats) -> Floats:
    """Absolute error of each estimate."""
    return np.abs(estimates - true_counts)


def relative_errors(estimates: Floats, true_counts: NDArray[np.int64] | Floats, *, true_total: float) -> Floats:
    """Error of each estimate relative to the true count, or to 0.1 % of all points where the count is below that.

    Examples
    --------
    >>> relative_errors(np.array([110.0, 3.0]), np.array([100, 0]), true_total=10_000)
    array([0.1, 0.3])
    """
    return absolute_errors(estimates, true_counts) / np.maximum(true_counts, RELATIVE_FLOOR * true_total)


@dataclass(frozen=True, kw_only=True)
class Candlestick:
    """The profile of many errors that the paper draws: four quantiles and the mean."""

    p25: float
    median: float
    p75: float
    p95: float
    mean: float

    @classmethod
    def of(cls, errors: Floats) -> Self:
        """Profile of an array of errors.

        Examples
        --------
        >>> Candlestick.of(np.arange(101.0))
        Candlestick(p25=25.0, median=50.0, p75=75.0, p95=95.0, mean=50.0)
        """
        p25, median, p75, p95 = np.quantile(errors, [0.25, 0.5, 0.75, 0.95]).tolist()
        return cls(p25=p25, median=median, p75=p75, p95=p95, mean=float(errors.mean()))
