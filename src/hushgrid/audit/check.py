"""One question of an audit, and its answer."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal

from hushgrid.privacy.bits import Bits, SystemBits

Part = Literal["taint", "loss", "noise", "neighbours", "attacks"]


class Verdict(StrEnum):
    """What an audit says on one question."""

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
        The budget of every release.
    runs : int
        Releases of each data set in a usual experiment.
    quick : bool
        Whether to use fewer data sets and runs.
    rng : Bits, optional
        Seeded noise, for tests. By default the noise is that of real releases.
    """

    methods: tuple[str, ...]
    epsilon: Fraction
    runs: int
    quick: bool = False
    rng: Bits | None = None

    @property
    def bits(self) -> Bits:
        """Bits for mechanisms that run alone."""
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
        The method, where the check is about one. "auto" and "areas" count as methods.
    runs : int, optional
        Releases that were made, or numbers that were drawn.
    claim, measured : float, optional
        The ε that is promised, and a lower bound on the ε that the releases give away.
    p_value, least_p : float, optional
        How often a sound build would look as odd as this one, and the share below which it is flagged.
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
        """The check as values for JSON."""
        return {**asdict(self), "verdict": str(self.verdict)}


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Checks that are still to be made.

    Parameters
    ----------
    title : str
        Unique among all experiments.
    statistical : int
        How many of its checks chance may flag. All such checks of an audit share one allowance.
    run : callable
        Makes the checks, given the chance of a false alarm that each may take.
    weight : float
        About how long it takes, relative to others. Long ones start first.
    group : str, optional
        Experiments of one group run one after the other in one process, because they share something slow to start.
    """

    title: str
    statistical: int
    run: Callable[[float], tuple[Check, ...]]
    weight: float = 1.0
    group: str | None = None

    def made(self, error: float) -> tuple[Check, ...]:
        """Make the checks.

        If that fails, the build is flagged: a sound build lets every experiment be made.
        """
        try:
            return self.run(error)
        except Exception as problem:  # noqa: BLE001  # whatever a broken build raises
            finding = f"The experiment could not be made: {type(problem).__name__}: {problem}"
            return (Check(part="attacks", title=self.title, verdict=Verdict.FLAGGED, finding=finding),)
