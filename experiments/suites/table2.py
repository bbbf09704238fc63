"""Table II: the suggested sizes of UG and AG, and the sizes that did best."""

from experiments.datasets import REAL, ROAD_LIKE
from experiments.suites.suite import ALL_EPSILONS, EPSILONS, QUICK_SETS, RUNS, Suite, size_trials

SUITE = Suite(
    title="Suggested and best grid sizes of UG and AG (Table II)",
    full=size_trials(REAL, ["ug", "ag"], ALL_EPSILONS, RUNS) + size_trials([ROAD_LIKE], ["ug", "ag"], EPSILONS, RUNS),
    quick=size_trials(QUICK_SETS, ["ug", "ag"], EPSILONS, 1),
)
