"""A mean over releases with its standard error, kept through ratios and further means."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True)
class Estimate:
    """A number measured over several runs, and how far each run moved it.

    Runs of one number are asked the same rectangles, whatever the method. So the parts of a run are added before they
    are squared: the error of a ratio is that of a paired comparison (the delta method, clustered by run).

    Parameters
    ----------
    value : float
        The number; nan where nothing was measured.
    parts : mapping
        By run, its share of the deviation. None of them for what has no error; nan for a single run.

    Examples
    --------
    >>> twice = Estimate.of({0: 2.0, 1: 4.0}) / Estimate.of({0: 1.0, 1: 2.0})
    >>> twice.value, twice.error
    (2.0, 0.0)
    """

    value: float
    parts: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[int, float]) -> Self:
        """Mean of one value a run.

        Examples
        --------
        >>> mean = Estimate.of({0: 1.0, 1: 2.0, 2: 3.0})
        >>> mean.value, round(mean.error, 4)
        (2.0, 0.5774)
        """
        number = len(values)
        if not number:
            return cls(math.nan)
        mean = math.fsum(values.values()) / number
        scale = math.sqrt(number * (number - 1)) or math.nan
        return cls(mean, {run: (values[run] - mean) / scale for run in sorted(values)})

    @property
    def error(self) -> float:
        """The standard error; nan if there was a single run."""
        return math.sqrt(math.fsum(part * part for part in self.parts.values()))

    @property
    def known(self) -> bool:
        """Whether anything was measured."""
        return math.isfinite(self.value)

    def __truediv__(self, other: "Estimate") -> "Estimate":
        if not other.value:
            return MISSING
        ratio = self.value / other.value
        return Estimate(ratio, _sum((1 / other.value, self), (-ratio / other.value, other)))

    def __lt__(self, other: "Estimate") -> bool:
        return self.value < other.value

    def root(self) -> "Estimate":
        """Square root of a mean square; one estimated below zero has the root 0.

        Examples
        --------
        >>> Estimate(4.0, {0: 1.0}).root(), Estimate(-1.0, {0: 4.0}).root()
        (Estimate(value=2.0, parts={0: 0.25}), Estimate(value=0.0, parts={0: 2.0}))
        """
        # The tangent's slope; near zero it says little, and the root of the error is taken instead.
        slope = 1 / math.sqrt(max(0.0, 4 * self.value, self.error) or 1.0)
        return Estimate(math.sqrt(max(0.0, self.value)), {run: slope * part for run, part in self.parts.items()})

    def text(self, form: str = ".2f") -> str:
        """The number and its standard error, to as many decimals.

        Examples
        --------
        >>> Estimate.of({0: 1.2, 1: 1.26}).text(), Estimate(0.5).text(), Estimate.of({0: 0.95, 1: 0.97}).text(".1%")
        ('1.23 ± .03', '0.50', '96.0 ± 1.0%')
        """
        if not self.known:
            return "\N{EN DASH}"
        value = format(self.value, form)
        if not self.parts:
            return value
        error = "?" if math.isnan(self.error) else format(self.error, form).removeprefix("0" if self.error < 1 else "")
        unit = "%" if form.endswith("%") else ""
        return f"{value.removesuffix(unit)} ± {error.removesuffix(unit)}{unit}"

    @property
    def short(self) -> str:
        """The number in three digits, and its standard error in as many decimals.

        Examples
        --------
        >>> Estimate.of({0: 0.1234, 1: 0.1236}).short, Estimate.of({0: 118.0, 1: 129.0}).short
        ('0.123 ± .000', '124 ± 6')
        """
        digits = 2 - math.floor(math.log10(abs(self.value))) if self.known and self.value else 2
        return self.text(f".{min(6, max(0, digits))}f")


MISSING = Estimate(math.nan)


def geometric_mean_of(estimates: Iterable[Estimate]) -> Estimate:
    """Geometric mean of those that were measured.

    Examples
    --------
    >>> geometric_mean_of([Estimate(0.5), Estimate(2.0), MISSING])
    Estimate(value=1.0, parts={})
    """
    known = [each for each in estimates if each.known and each.value > 0]
    if not known:
        return MISSING
    value = math.exp(math.fsum(math.log(each.value) for each in known) / len(known))
    return Estimate(value, _sum(*((value / each.value / len(known), each) for each in known)))


def mean_of(estimates: Iterable[Estimate]) -> Estimate:
    """Mean of those that were measured."""
    known = [each for each in estimates if each.known]
    if not known:
        return MISSING
    value = math.fsum(each.value for each in known) / len(known)
    return Estimate(value, _sum(*((1 / len(known), each) for each in known)))


def lowest_of(estimates: Iterable[Estimate]) -> Estimate:
    """The lowest of those that were measured."""
    return min((each for each in estimates if each.known), default=MISSING)


def highest_of(estimates: Iterable[Estimate]) -> Estimate:
    """The highest of those that were measured."""
    return max((each for each in estimates if each.known), default=MISSING)


def _sum(*weighted: tuple[float, Estimate]) -> dict[int, float]:
    """Parts of a sum of estimates, each times a weight."""
    runs = sorted({run for _, estimate in weighted for run in estimate.parts})
    return {run: math.fsum(weight * one.parts.get(run, 0.0) for weight, one in weighted) for run in runs}
