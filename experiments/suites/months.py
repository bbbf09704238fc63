"""Months published one after the other, as a series and not: errors, differences and discoveries."""

from itertools import product

from experiments import months
from experiments.datasets import SMALL_CLUSTERS
from experiments.months import MonthTrial
from experiments.suites.suite import EPSILONS, Suite

REAL = "checkin_gowalla_nyc"
REPETITIONS = 100  # with each budget, where nothing changed
RUNS = 16


def _trials(dataset: str, kind: str, runs: int) -> tuple[MonthTrial, ...]:
    return tuple(
        MonthTrial(dataset=dataset, months=kind, epsilon=epsilon, seed=seed)
        for epsilon, seed in product(EPSILONS, range(runs))
    )


SUITE = Suite(
    title="Months of a series",
    full=(
        *(trial for kind in (*months.BY_CALENDAR, months.DOUBLED) for trial in _trials(REAL, kind, RUNS)),
        *_trials(REAL, months.SAME, REPETITIONS),
    ),
    quick=_trials(SMALL_CLUSTERS, months.SAME, 1),
)
