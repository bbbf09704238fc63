"""The paper's first figure of errors: KD-standard, KD-hybrid, and UG at several sizes.

The trees are run twice: with the configuration of their paper, and with ours, which is the best that we know. The
quadtree of the same paper is run beside them.
"""

from experiments.datasets import REAL
from experiments.suites.suite import EPSILONS, QUICK_SETS, RUNS, Contender, Suite, size_trials, trials

NAMES = ("kd", "kd-hybrid", "quadtree")
TREES: tuple[Contender, ...] = tuple((name, {}) for tree in NAMES for name in (tree, f"{tree}-paper"))
SUITE = Suite(
    title="KD-standard, KD-hybrid and UG at several sizes",
    full=trials(REAL, TREES, EPSILONS, RUNS) + size_trials(REAL, ["ug"], EPSILONS, RUNS),
    quick=trials(QUICK_SETS, TREES, EPSILONS, 1) + size_trials(QUICK_SETS, ["ug"], EPSILONS, 1),
)
