"""The paper's first figure of errors: KD-standard, KD-hybrid, and UG at several sizes.

The trees are run twice: with the configuration of their paper, and with ours, which is the best that we know. The
quadtree of the same paper is run beside them.
"""

from experiments.suites.suite import (
    EPSILONS,
    FEW_RUNS,
    PAPER_SETS,
    QUICK_SETS,
    ROADS,
    RUNS,
    Contender,
    Suite,
    size_trials,
    trials,
)

STANDARD: tuple[Contender, ...] = (("kd", {}), ("kd-paper", {}))
OTHERS: tuple[Contender, ...] = tuple(
    (name, {}) for tree in ("kd-hybrid", "quadtree") for name in (tree, f"{tree}-paper")
)
TREES = (*STANDARD, *OTHERS)
# Sizes that the paper speaks of on road, with Privlet on them in case one is the best.
ROAD_SIZES: tuple[Contender, ...] = tuple(
    (method, {"side": side}) for side in (96, 400) for method in ("ug", "privlet")
)
SUITE = Suite(
    title="KD-standard, KD-hybrid and UG at several sizes",
    full=trials(PAPER_SETS, STANDARD, EPSILONS, FEW_RUNS)
    + trials(PAPER_SETS, OTHERS, EPSILONS, RUNS)
    + size_trials(PAPER_SETS, ["ug"], EPSILONS, RUNS)
    + trials(ROADS, ROAD_SIZES, [1.0], RUNS),
    quick=trials(QUICK_SETS, TREES, EPSILONS, 1) + size_trials(QUICK_SETS, ["ug"], EPSILONS, 1),
)
