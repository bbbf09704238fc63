"""Numbers with their standard errors: means over runs, and ratios of runs that were asked the same."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.figures.exhibit import number

Runs = Mapping[int, float]  # a measured value by the number of its run


@dataclass(frozen=True, kw_only=True)
class Uncertain:
    """A number and its standard error, which is nan of a single run, and then not shown.

    Examples
    --------
    >>> str(Uncertain(value=0.7312, error=0.0123)), str(Uncertain(value=0.01234, error=0.00008))
    ('0.731 ± 0.012', '0.01234 ± 0.00008')
    """

    value: float
    error: float = math.nan

    def __str__(self) -> str:
        if math.isnan(self.error) or self.error == 0:
            return number(self.value)
        # Two digits of the error, or one where the number has three already.
        first = _place(self.error)
        digits = max(0, -first, min(1 - first, 2 - _place(self.value or self.error)))
        return f"{self.value:,.{digits}f} ± {self.error:,.{digits}f}"

    def root(self) -> "Uncertain":
        """Square root of a mean square; one estimated below zero has the root 0.

        Examples
        --------
        >>> Uncertain(value=4.0, error=1.0).root(), Uncertain(value=-1.0, error=4.0).root()
        (Uncertain(value=2.0, error=0.25), Uncertain(value=0.0, error=2.0))
        """
        if self.value <= self.error:  # where a tangent says little of a root
            return Uncertain(value=math.sqrt(max(0.0, self.value)), error=math.sqrt(self.error))
        return Uncertain(value=math.sqrt(self.value), error=self.error / 2 / math.sqrt(self.value))


def mean_over_runs(runs: Runs) -> Uncertain:
    """Mean and its standard error.

    Examples
    --------
    >>> mean_over_runs({0: 1.0, 1: 3.0})
    Uncertain(value=2.0, error=1.0)
    """
    if not runs:
        return Uncertain(value=math.nan)
    mean = math.fsum(runs.values()) / len(runs)
    return Uncertain(value=mean, error=_error([value - mean for value in runs.values()]))


def paired_ratio(runs: Runs, to: Runs) -> Uncertain:
    """Ratio of two means over the runs they have in common.

    The error is that of the differences run by run, so that what both runs share, such as hard questions, cancels.

    Examples
    --------
    >>> str(paired_ratio({0: 1.0, 1: 2.2, 2: 2.8}, to={0: 2.0, 1: 4.0, 2: 6.0}))
    '0.500 ± 0.029'
    """
    common = sorted(set(runs) & set(to))
    base = math.fsum(to[run] for run in common)
    if not base:
        return Uncertain(value=math.nan)
    ratio = math.fsum(runs[run] for run in common) / base
    unit = base / len(common)
    return Uncertain(value=ratio, error=_error([(runs[run] - ratio * to[run]) / unit for run in common]))


def geometric_ratio(ratios: Sequence[Uncertain]) -> Uncertain:
    """Geometric mean of ratios that were measured independently of each other.

    If one was not measured it is nan, because a mean over fewer cases cannot be compared.

    Examples
    --------
    >>> geometric_ratio([Uncertain(value=0.5, error=0.05), Uncertain(value=2.0, error=0.2)]).value
    1.0
    """
    if not ratios or not all(ratio.value > 0 for ratio in ratios):
        return Uncertain(value=math.nan)
    value = math.exp(math.fsum(math.log(ratio.value) for ratio in ratios) / len(ratios))
    error = math.sqrt(math.fsum((ratio.error / ratio.value) ** 2 for ratio in ratios)) / len(ratios)
    return Uncertain(value=value, error=value * error)


def _place(value: float) -> int:
    """Decimal place of the first digit, 0 for the units."""
    return math.floor(math.log10(abs(value)))


def _error(deviations: Sequence[float]) -> float:
    """Standard error of a mean, from the deviations of runs from it."""
    runs = len(deviations)
    return math.sqrt(math.fsum(each**2 for each in deviations) / (runs - 1) / runs) if runs > 1 else math.nan
