"""A release aimed at squares of 0.5 % of the sides, beside plain grids in hindsight and methods without an aim."""

from itertools import product

from experiments.datasets import SMALL_CLUSTERS
from experiments.suites.suite import Suite
from experiments.suites.workloads import SETS, flat_grids
from experiments.workload_trial import WorkloadTrial

EPSILON = 0.05
FINER = (2, 4, 8)
METHODS = ("aimed", "staq", "ag", "privtree", "ug")
RUNS = 4  # of two releases each


def _trials(datasets: tuple[str, ...], methods: tuple[str, ...], runs: int) -> tuple[WorkloadTrial, ...]:
    return tuple(
        WorkloadTrial(dataset=dataset, method=method, parameters=parameters, epsilon=EPSILON, seed=seed)
        for dataset, seed in product(datasets, range(runs))
        for method, parameters in (*((name, {}) for name in methods), *flat_grids(dataset, EPSILON, FINER))
    )


SUITE = Suite(
    title="A release aimed at small squares",
    full=_trials(SETS, METHODS, RUNS),
    quick=_trials((SMALL_CLUSTERS,), METHODS[:2], 2),
)
