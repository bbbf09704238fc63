"""How often intervals hold the truth, for every method: nominally 80, 95 and 99 times in a hundred."""

from experiments.datasets import REAL
from experiments.suites.suite import ALL_EPSILONS, COVERED_RUNS, EPSILONS, GENERAL, QUICK_SETS, Contender, Suite, trials
from hushgrid.release.auto import AUTO

CONTENDERS: tuple[Contender, ...] = tuple((name, {}) for name in (*GENERAL, AUTO))
SUITE = Suite(
    title="Coverage of the intervals of every method",
    full=trials(REAL, CONTENDERS, ALL_EPSILONS, COVERED_RUNS),
    quick=trials(QUICK_SETS, CONTENDERS, EPSILONS, 1),
)
