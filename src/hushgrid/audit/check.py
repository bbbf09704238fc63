"""One question that an audit asks of a build, and what came of it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal

from hushgrid.privacy.bits import Bits, SystemBits

Part = Literal["taint", "loss", "noise", "neighbours", "attacks"]


class Verdict(StrEnum):
    """What an audit says about a build, on one question."""

    PASSED = "passed"
    FLAGGED = "FLAGGED"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What an audit was asked to do.

    Parameters
    ----------
    methods : tuple of str
        Names in `hushgrid.METHODS`.
    epsilon : Fraction
        That everything is published with.
    runs : int
        Releases of each data set in an experiment of the usual length.
    quick : bool
        Whether to make do with fewer data sets and runs.
    rng : Bits, optional
        Seeded noise, for tests; by default every release has noise of its own, as in real use.
    """

    methods: tuple[str, ...]
    epsilon: Fraction
    runs: int
    quick: bool = False
    rng: Bits | None = None

    @property
    def bits(self) -> Bits:
        """Bits for mechanisms that are run by themselves."""
        return SystemBits() if self.rng is None else self.rng


@dataclass(frozen=True, kw_only=True)
class Check:
    """A question and its answer.

    Parameters
    ----------
    part : "taint", "loss", "noise", "neighbours" or "attacks"
        Kind of evidence.
    title : str
        What was tried, in a few words.
    verdict : Verdict
    finding : str
        What was found, in a sentence.
    method : str, optional
        Which method was looked at, where it was one; "auto" and "areas" count as methods.
    runs : int, optional
        Releases that were made, or numbers that were drawn.
    claim, measured : float, optional
        The ε that is promised, and the ε that the releases show to be given away at least.
    p_value, least_p : float, optional
        How often a sound build would look as odd as this one, and below which share it is flagged.
    """

    part: Part
    title: str
    verdict: Verdict
    finding: str
    method: str | None = None
    runs: int | None = None
    claim: float | None = None
    measured: float | None = None
    p_value: float | None = None
    least_p: float | None = None

    def plain(self) -> dict[str, Any]:
        """The same as values that JSON knows."""
        return {**asdict(self), "verdict": str(self.verdict)}


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Checks that are still to be made.

    Parameters
    ----------
    title : str
        Tells it from all others.
    statistical : int
        How many of its checks chance may flag; all that may share one allowance.
    run : callable
        Given the chance of a false alarm that each of its checks may take, makes them.
    weight : float
        About how long it takes, relative to others: the long ones are begun first.
    group : str, optional
        Experiments of one group are made one after the other in one process, because they share what is slow to start.
    """

    title: str
    statistical: int
    run: Callable[[float], tuple[Check, ...]]
    weight: float = 1.0
    group: str | None = None

    def made(self, error: float) -> tuple[Check, ...]:
        """Its checks; a build in which it cannot be made is flagged, because a sound one lets it."""
        try:
            return self.run(error)
        except Exception as problem:  # noqa: BLE001  # whatever a broken build does
            finding = f"The experiment could not be made: {type(problem).__name__}: {problem}"
            return (Check(part="attacks", title=self.title, verdict=Verdict.FLAGGED, finding=finding),)
