"""The audit of an installed build.

It makes every experiment, shares one allowance for false alarms among them, and reports.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from multiprocessing import get_context
from typing import Any

from hushgrid.audit.attacks import attack_experiments
from hushgrid.audit.black_box import neighbour_experiments
from hushgrid.audit.check import Check, Experiment, Part, Setting, Verdict
from hushgrid.audit.primitives import noise_experiments
from hushgrid.audit.taint import taint_experiments
from hushgrid.errors import ArgumentError, HushgridWarning
from hushgrid.methods import METHODS
from hushgrid.methods.method import is_whole
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.exact import Exactable, exact_epsilon
from hushgrid.version import __version__

FALSE_ALARM = 1e-3  # chance that an audit flags anything in a sound build
USUAL_RUNS, QUICK_RUNS = 500, 100
FEWEST_RUNS, MOST_RUNS = 50, 100_000
SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 100), 10  # below, data sets get too large; above, noise gets too small

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
        The budget of every release.
    runs : int
        Runs asked for.
    methods : tuple of str
    checks : tuple of Check
    tests : int
        Number of checks that chance may flag. They share `false_alarm` in equal parts.
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
        """The report as values for JSON."""
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
    runs: int | None = None,
    quick: bool = False,
    processes: int = 1,
    only: Callable[[str], bool] | None = None,
    progress: Progress | None = None,
    rng: Bits | None = None,
) -> AuditReport:
    """Look for evidence that a build breaks its promise.

    It publishes made-up data only.

    There are four kinds of evidence. Draws of one data set are forced on others: every byte that shows must be the
    same, and what neighbours put into the same draws says exactly what they cost. Everything drawn at random is
    compared with its law. Neighbours are published many times, and told apart as well as an attacker could. Known
    attacks are replayed. An audit can show that a promise is broken. It cannot show that one is kept; the proofs in
    docs/privacy.md do.

    Parameters
    ----------
    methods : sequence of str, optional
        Names in `hushgrid.METHODS`, by default all of them.
    epsilon : float, str, Decimal, int or Fraction
        The budget to publish with. Flaws show best at 1 or a little above.
    runs : int, optional
        Releases of each data set in a usual experiment, at least 50. More runs show smaller flaws. By default 500, or
        100 for a quick audit.
    quick : bool
        Use fewer data sets and runs, and leave out Spark and Dask.
    processes : int
        Processes that share the work. Each draws its own noise. With more than one, a script that calls this needs the
        usual ``if __name__ == "__main__":``.
    only : callable, optional
        Says by its title whether to make an experiment. For tests of the audit.
    progress : Progress, optional
        Called with how far the audit has come.
    rng : Bits, optional
        ``hg.simulation_rng(seed)``, for tests of the audit in one process. By default the noise is that of real
        releases.

    Returns
    -------
    AuditReport
        A sound build has something flagged in one audit of a thousand.
    """
    setting = Setting(
        methods=_check_methods(methods),
        epsilon=_check_epsilon(epsilon),
        runs=_check_runs((QUICK_RUNS if quick else USUAL_RUNS) if runs is None else runs),
        quick=quick,
        rng=rng,
    )
    experiments = [each for each in planned(setting) if only is None or only(each.title)]
    tests = sum(experiment.statistical for experiment in experiments)
    error = FALSE_ALARM / max(tests, 1)
    if min(processes, len(experiments)) <= 1:
        results = _in_turn(experiments, error, progress)
    else:
        results = _among_processes(setting, experiments, error, progress, processes)
    return AuditReport(
        version=__version__,
        epsilon=setting.epsilon,
        runs=setting.runs,
        methods=setting.methods,
        checks=tuple(check for experiment in experiments for check in results[experiment.title]),
        tests=tests,
    )


def planned(setting: Setting) -> Iterator[Experiment]:
    """All experiments, in the order of the report."""
    for experiments in (taint_experiments, noise_experiments, neighbour_experiments, attack_experiments):
        for experiment in experiments(setting):
            if not (setting.quick and any(name in experiment.title for name in ("Spark", "Dask"))):
                yield experiment


Results = dict[str, tuple[Check, ...]]


def _in_turn(experiments: Sequence[Experiment], error: float, progress: Progress | None) -> Results:
    results = {}
    for number, experiment in enumerate(experiments):
        if progress is not None:
            progress(number / len(experiments), experiment.title)
        results[experiment.title] = _made(experiment, error)
    return results


def _among_processes(
    setting: Setting, experiments: Sequence[Experiment], error: float, progress: Progress | None, processes: int
) -> Results:
    """Make all experiments in several processes.

    They are started afresh, so that they share no generator.
    """
    tasks: dict[str, list[Experiment]] = {}
    for experiment in experiments:
        tasks.setdefault(experiment.group or experiment.title, []).append(experiment)
    heaviest = sorted(tasks.values(), key=lambda task: -sum(each.weight for each in task) - 100 * bool(task[0].group))
    results: Results = {}
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_quiet)
    try:
        futures: dict[Future[Results], str] = {
            pool.submit(_work, setting, tuple(each.title for each in task), error): task[0].title for task in heaviest
        }
        for number, future in enumerate(as_completed(futures)):
            results.update(future.result())
            if progress is not None:
                progress((number + 1) / len(futures), futures[future])
    finally:
        pool.shutdown(cancel_futures=True)
    return results


def _quiet() -> None:
    """Silence programs that engines start, such as Java."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _work(setting: Setting, titles: tuple[str, ...], error: float) -> Results:
    """Make some experiments in this process."""
    return {title: _made(_by_title(setting)[title], error) for title in titles}


def _made(experiment: Experiment, error: float) -> tuple[Check, ...]:
    """Make an experiment, without the warnings that releases give to stewards."""
    with warnings.catch_warnings(action="ignore", category=HushgridWarning):
        return experiment.made(error)


@cache
def _by_title(setting: Setting) -> dict[str, Experiment]:
    return {each.title: each for each in planned(setting)}


def _check_methods(methods: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple(METHODS) if methods is None else tuple(dict.fromkeys(methods))
    unknown = [name for name in chosen if name not in METHODS]
    if unknown or not chosen:
        given = f"got {unknown[0]!r}" if unknown else "got none"
        msg = f"methods must be some of {', '.join(METHODS)}, {given}."
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
