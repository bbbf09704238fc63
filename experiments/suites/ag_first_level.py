"""AG with m1 varied, and beside the best of it UG and Privlet at UG's best size, by query size."""

from experiments.suites.suite import CHECKINS, EPSILONS, LANDMARKS, QUICK_SETS, RUNS, Suite, size_trials

METHODS = ("ag", "ug", "privlet")
SUITE = Suite(
    title="AG with the first level varied, beside UG and Privlet",
    full=size_trials((*CHECKINS, LANDMARKS), METHODS, EPSILONS, RUNS),
    quick=size_trials(QUICK_SETS, METHODS, EPSILONS, 1),
)
