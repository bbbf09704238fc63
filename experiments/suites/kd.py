"""The paper's first figure of errors: KD-standard, KD-hybrid, and UG at several sizes."""

from experiments.datasets import REAL
from experiments.suites.suite import EPSILONS, QUICK_SETS, RUNS, Contender, Suite, size_trials, trials

TREES: tuple[Contender, ...] = (("kd", {}), ("kd-hybrid", {}))
SUITE = Suite(
    title="KD-standard, KD-hybrid and UG at several sizes",
    full=trials(REAL, TREES, EPSILONS, RUNS) + size_trials(REAL, ["ug"], EPSILONS, RUNS),
    quick=trials(QUICK_SETS, TREES, EPSILONS, 1) + size_trials(QUICK_SETS, ["ug"], EPSILONS, 1),
)
