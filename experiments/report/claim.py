"""A statement with the measurement that decides whether it holds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from experiments.figures.means import Means, geometric_mean
from experiments.trial import Row

MARGIN = 0.05  # means closer than this are not told apart
HALF = 0.5
GENERALLY = 0.75  # share of cases for "generally", "tends to", "likely"
ALWAYS = 0.9  # for statements without such a word: all of up to nine cases, and nine of ten
SELDOM = 0.25  # below this share of cases a statement does not hold even in part


class Verdict(StrEnum):
    """What the rows say of a statement."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, kw_only=True)
class Band:
    """Values with which a statement holds in one case.

    Examples
    --------
    >>> Band(high=0.95).words, Band(low=0.9, high=1.1).words, Band(low=5, high=5).words
    ('at most 0.95', '0.9 to 1.1', '5')
    """

    low: float = -math.inf
    high: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def words(self) -> str:
        """The band as the report states it."""
        if self.low == self.high:
            return f"{self.low:g}"
        if math.isinf(self.low):
            return f"at most {self.high:g}"
        return f"at least {self.low:g}" if math.isinf(self.high) else f"{self.low:g} to {self.high:g}"


BELOW = Band(high=1 - MARGIN)
ABOVE = Band(low=1 + MARGIN)
NOT_ABOVE = Band(high=1 + MARGIN)
CLOSE = Band(low=0.9, high=1.1)
CLOSE_ABOVE = Band(high=1.1)  # of what cannot be below 1, but for noise
ABOUT = Band(low=0.8, high=1.25)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Rows, and their means over runs."""

    rows: list[Row]

    @cached_property
    def means(self) -> Means:
        """Means over runs of the rows of trials."""
        return Means(self.rows)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A statement judged.

    Parameters
    ----------
    values : dict
        The measured value of each case.
    """

    verdict: Verdict
    measured: str
    values: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement, what is measured for it in each case, and where that has to lie.

    Parameters
    ----------
    quote : str
        The statement, shortened.
    where : str
        Section of the paper.
    measure : str
        What the values are, in words.
    band : Band
        Where they lie if the statement holds.
    values : function of Evidence
        A value for each case, such as a data set and a budget; nan where there are no rows.
    needed : float
        Share of the cases that have to be in the band.
    ratio : bool
        Whether values are ratios, summed up by their geometric mean.
    """

    quote: str
    where: str
    measure: str
    band: Band
    values: Callable[[Evidence], dict[str, float]]
    needed: float = ALWAYS
    ratio: bool = True

    @property
    def rule(self) -> str:
        """When it holds."""
        share = (
            "every case, or 9 of 10 where there are more" if self.needed == ALWAYS else f"{self.needed:.0%} of cases"
        )
        return f"{self.measure}: {self.band.words}, in {share}"

    def judge(self, evidence: Evidence) -> Finding:
        """The verdict of the rows."""
        values = {name: value for name, value in self.values(evidence).items() if math.isfinite(value)}
        if not values:
            return Finding(verdict=Verdict.NOT_MEASURED, measured="no rows for it", values={})
        held = sum(value in self.band for value in values.values())
        share = held / len(values)
        verdict = Verdict.HOLDS if share >= self.needed else Verdict.FAILS if share < SELDOM else Verdict.IN_PART
        return Finding(verdict=verdict, measured=self._words(values, held), values=values)

    def _words(self, values: dict[str, float], held: int) -> str:
        low, high = min(values.values()), max(values.values())
        spread = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
        if self.ratio and 0 < low < high:
            spread = f"{geometric_mean(values.values()):.3g} ({spread})"
        cases = "case" if len(values) == 1 else "cases"
        return f"{self.measure}: {spread}; in {held} of {len(values)} {cases} {self.band.words}"
