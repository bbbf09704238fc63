"""A statement with the measurement that decides whether it holds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from experiments.estimate import MISSING, Estimate, geometric_mean_of
from experiments.figures.means import Means
from experiments.trial import Row

MARGIN = 0.05  # means closer than this are not told apart
HALF = 0.5
GENERALLY = 0.75  # share of cases for "generally", "tends to", "likely"
ALWAYS = 0.9  # for statements without such a word: all of up to nine cases, and nine of ten
SELDOM = 0.25  # below this share of cases a statement does not hold even in part
SURE = 2.0  # standard errors from the edge of a band, within which a case could lie on either side
NAMED_CASES = 3  # that a reason lists


class Verdict(StrEnum):
    """What the rows say of a statement."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    NOT_HERE = "does not, on these data"
    EXPLAINED = "does not, and why we think so"
    UNTESTABLE = "cannot be tested here"
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

    def sure(self, estimate: Estimate) -> bool:
        """Whether both edges are two standard errors away; never so after a single run.

        Examples
        --------
        >>> BELOW.sure(Estimate.of({0: 0.90, 1: 0.92})), BELOW.sure(Estimate.of({0: 0.90, 1: 0.98}))
        (True, False)
        """
        distance = min(abs(estimate.value - self.low), abs(estimate.value - self.high))
        return not estimate.parts or distance >= SURE * estimate.error

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
NOT_BELOW = Band(low=1 - MARGIN)
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

    @cached_property
    def halves(self) -> tuple["Evidence", "Evidence"]:
        """The runs of even and of odd number."""
        even, odd = ([row for row in self.rows if row.get("seed", 0) % 2 == half] for half in (0, 1))
        return Evidence(rows=even), Evidence(rows=odd)


Values = Callable[[Evidence], dict[str, Estimate]]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A statement judged.

    Parameters
    ----------
    verdict : Verdict
        What the means say.
    firm : bool
        Whether it stays the same when every case within two standard errors of its band's edge goes either way.
    measured, reason : str
        The measurement in words, and why the verdict is what it is.
    values : dict
        The measured value of each case.
    """

    verdict: Verdict
    firm: bool
    measured: str
    reason: str
    values: dict[str, Estimate]


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
    by_halves : bool
        Whether values have no standard error, such as the size that did best; a case is then sure if both halves of
        the runs agree.
    why : str
        Why we think that it does not hold, if it does not; without it, only these data speak against it.
    note : str
        What a reader has to know whatever the verdict is.
    untestable : str
        Why no row of ours could decide it, if that is so.
    """

    quote: str
    where: str
    measure: str
    band: Band
    values: Values
    needed: float = ALWAYS
    ratio: bool = True
    by_halves: bool = False
    why: str = ""
    note: str = ""
    untestable: str = ""

    @property
    def rule(self) -> str:
        """When it holds."""
        share = (
            "every case, or 9 of 10 where there are more" if self.needed == ALWAYS else f"{self.needed:.0%} of cases"
        )
        return f"{self.measure}: {self.band.words}, in {share}"

    def judge(self, evidence: Evidence) -> Finding:
        """The verdict of the rows."""
        values = {name: value for name, value in self.values(evidence).items() if value.known}
        if not values:
            missing = self.untestable or "Its trials have not been run, or not all of them."
            verdict = Verdict.UNTESTABLE if self.untestable else Verdict.NOT_MEASURED
            return Finding(verdict=verdict, firm=True, measured="no rows for it", reason=missing, values={})
        held = {name for name, value in values.items() if value.value in self.band}
        open_cases = self._open_cases(values, evidence)
        verdicts = {self._verdict(len(some) / len(values)) for some in (held - open_cases, held, held | open_cases)}
        verdict = self._verdict(len(held) / len(values))
        return Finding(
            verdict=verdict,
            firm=len(verdicts) == 1,
            measured=self._words(values, len(held)),
            reason=self._reason(verdict, {name: value for name, value in values.items() if name not in held}),
            values=values,
        )

    def _open_cases(self, values: dict[str, Estimate], evidence: Evidence) -> set[str]:
        """Cases that more runs could move out of the band, or into it."""
        if not self.by_halves:
            return {name for name, value in values.items() if not self.band.sure(value)}
        first, second = (self.values(half) for half in evidence.halves)
        either = ((name, one.get(name, MISSING).value) for name in values for one in (first, second))
        return {name for name, value in either if (value in self.band) != (values[name].value in self.band)}

    def _verdict(self, share: float) -> Verdict:
        if self.untestable:
            return Verdict.UNTESTABLE
        if share >= self.needed:
            return Verdict.HOLDS
        if share >= SELDOM:
            return Verdict.IN_PART
        return Verdict.EXPLAINED if self.why else Verdict.NOT_HERE

    def _reason(self, verdict: Verdict, others: dict[str, Estimate]) -> str:
        """Why: the cases that do not agree, those farthest off first, and what we make of them."""
        sentences = [self.note]
        if verdict is Verdict.UNTESTABLE:
            sentences.append(self.untestable)
        elif others:
            farthest = sorted(others, key=lambda name: -self._distance(others[name]))[:NAMED_CASES]
            listed = "; ".join(f"{name}: {others[name].short}" for name in farthest)
            more = f" and {len(others) - NAMED_CASES} more" if len(others) > NAMED_CASES else ""
            sentences.append(f"Not in {listed}{more}.")
            sentences.append("" if verdict is Verdict.HOLDS else self.why)
        else:
            sentences.append("In every case.")
        return " ".join(sentence for sentence in sentences if sentence)

    def _distance(self, estimate: Estimate) -> float:
        """How far a value lies outside of the band, as a factor where values are ratios."""
        nearest = min(max(estimate.value, self.band.low), self.band.high)
        if self.ratio and estimate.value > 0 and nearest > 0:
            return abs(math.log(estimate.value / nearest))
        return abs(estimate.value - nearest)

    def _words(self, values: dict[str, Estimate], held: int) -> str:
        low, high = min(values.values()), max(values.values())
        if low.value == high.value:
            spread = low.short
        elif self.ratio and low.value > 0:
            spread = f"{geometric_mean_of(values.values()).short} ({low.value:.3g} to {high.value:.3g})"
        else:
            spread = f"{low.short} to {high.short}"
        cases = "case" if len(values) == 1 else "cases"
        return f"{self.measure}: {spread}; in {held} of {len(values)} {cases} {self.band.words}"
