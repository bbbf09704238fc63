"""The audit of an installed build: every experiment, one allowance for false alarms, one report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hushgrid.audit import attacks, neighbours, primitives
from hushgrid.audit.check import Check, Part, Setting, Verdict
from hushgrid.errors import ArgumentError
from hushgrid.methods import METHODS
from hushgrid.methods.method import is_whole
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.exact import Exactable, exact_epsilon
from hushgrid.version import __version__

FALSE_ALARM = 1e-3  # chance that an audit flags anything in a sound build
USUAL_RUNS = 500
FEWEST_RUNS, MOST_RUNS = 50, 100_000
SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 100), 10  # below, data sets get large; above, all noise is near zero

Progress = Callable[[float, str], None]
"""Called with the share of experiments made so far, from 0 to 1, and the title of the next."""


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """What an audit asked and found.

    Parameters
    ----------
    version : str
        Of the build.
    epsilon : Fraction
        That everything was published with.
    runs : int
        That were asked for.
    methods : tuple of str
    checks : tuple of Check
    tests : int
        Checks that chance may flag; each was allowed its part of `false_alarm`.
    false_alarm : float
        Chance that a sound build has anything flagged.
    """

    version: str
    epsilon: Fraction
    runs: int
    methods: tuple[str, ...]
    checks: tuple[Check, ...]
    tests: int
    false_alarm: float = FALSE_ALARM

    @property
    def flagged(self) -> tuple[Check, ...]:
        """Checks that a sound build would not fail."""
        return tuple(check for check in self.checks if check.verdict is Verdict.FLAGGED)

    @property
    def ok(self) -> bool:
        """Whether nothing was flagged."""
        return not self.flagged

    def part(self, name: Part) -> tuple[Check, ...]:
        """Checks of one kind."""
        return tuple(check for check in self.checks if check.part == name)

    def plain(self) -> dict[str, Any]:
        """The same as values that JSON knows."""
        return {
            "version": self.version,
            "ok": self.ok,
            "epsilon": str(self.epsilon),
            "runs": self.runs,
            "methods": list(self.methods),
            "tests": self.tests,
            "false_alarm": self.false_alarm,
            "checks": [check.plain() for check in self.checks],
        }


def audit(
    *,
    methods: Sequence[str] | None = None,
    epsilon: Exactable = 1,
    runs: int = USUAL_RUNS,
    progress: Progress | None = None,
    rng: Bits | None = None,
) -> AuditReport:
    """Look for evidence that the installed build gives away more than it promises; on made-up data only.

    Three kinds of evidence: made-up data sets that differ by one person are published many times and told apart as well
    as an attacker could; everything drawn at random is held against its exact law; known attacks are replayed. An audit
    can show that a promise is broken. It cannot show that one is kept: that is for the proofs in docs/privacy.md.

    Parameters
    ----------
    methods : sequence of str, optional
        Names in `hushgrid.METHODS`; all of them by default.
    epsilon : float, str, Decimal, int or Fraction
        To publish with. Flaws show best at 1 or a little above.
    runs : int
        Releases of each data set in an experiment of the usual length, from 50. More runs show smaller flaws.
    progress : Progress, optional
        Told how far the audit has come.
    rng : Bits, optional
        ``hg.simulation_rng(seed)``, for tests of the audit; by default the noise is that of real releases.

    Returns
    -------
    AuditReport
        A sound build has nothing flagged, except in one audit of a thousand.
    """
    setting = Setting(methods=_check_methods(methods), epsilon=_check_epsilon(epsilon), runs=_check_runs(runs), rng=rng)
    planned = [*attacks.experiments(setting), *primitives.experiments(setting), *neighbours.experiments(setting)]
    tests = sum(experiment.statistical for experiment in planned)
    checks = []
    for number, experiment in enumerate(planned):
        if progress is not None:
            progress(number / len(planned), experiment.title)
        checks.append(experiment.run(FALSE_ALARM / tests))
    return AuditReport(
        version=__version__,
        epsilon=setting.epsilon,
        runs=setting.runs,
        methods=setting.methods,
        checks=tuple(checks),
        tests=tests,
    )


def _check_methods(methods: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple(METHODS) if methods is None else tuple(dict.fromkeys(methods))
    unknown = [name for name in chosen if name not in METHODS]
    if unknown or not chosen:
        given = f"got {unknown[0]!r}" if unknown else "got none"
        msg = f"methods must be names of methods: {', '.join(METHODS)}; {given}."
        raise ArgumentError(msg)
    return chosen


def _check_epsilon(epsilon: Exactable) -> Fraction:
    exact = exact_epsilon(epsilon)
    if not SMALLEST_EPSILON <= exact <= LARGEST_EPSILON:
        allowed = f"from {float(SMALLEST_EPSILON)} to {LARGEST_EPSILON}"
        msg = f"epsilon must be {allowed} for an audit, got epsilon={epsilon!r}."
        raise ArgumentError(msg)
    return exact


def _check_runs(runs: int) -> int:
    if not is_whole(runs) or not FEWEST_RUNS <= runs <= MOST_RUNS:
        msg = f"runs must be a whole number from {FEWEST_RUNS} to {MOST_RUNS:,}, got runs={runs!r}."
        raise ArgumentError(msg)
    return runs
