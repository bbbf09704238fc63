"""The final comparison, by relative and by absolute error.

Six methods of the paper: KD-hybrid as its paper has it and as we have it, UG at the best size and Privlet on that,
AG at the best size, UG and AG at the suggested sizes. Which size is best is seen from the rows, so Privlet is run at
all of them. Beyond the paper: HB, PrivTree and DAWA, which came since, STAQ, what `auto` takes, and a
smaller budget.
"""

from experiments.datasets import REAL, ROAD_LIKE
from experiments.suites.suite import (
    ALL_EPSILONS,
    EPSILONS,
    FEW_RUNS,
    QUICK_SETS,
    RUNS,
    Contender,
    Suite,
    size_trials,
    trials,
)

SIZED = ("ug", "privlet", "ag")
TREES: tuple[Contender, ...] = (("kd-hybrid", {}), ("kd-hybrid-paper", {}))
SINCE: tuple[Contender, ...] = (("hb", {}), ("privtree", {}), ("staq", {}))
FEW: tuple[Contender, ...] = (("dawa", {}), ("auto", {}))  # one is far off, the other is one of those above
SUITE = Suite(
    title="Six methods of the paper and five since, by relative and absolute error",
    full=size_trials(REAL, SIZED, ALL_EPSILONS, RUNS)
    + trials(REAL, [*TREES, *SINCE], ALL_EPSILONS, RUNS)
    + trials(REAL, FEW, ALL_EPSILONS, FEW_RUNS)
    + size_trials([ROAD_LIKE], SIZED, EPSILONS, RUNS)
    + trials([ROAD_LIKE], TREES, EPSILONS, RUNS),
    quick=size_trials(QUICK_SETS, SIZED, EPSILONS, 1) + trials(QUICK_SETS, [*TREES, *SINCE, *FEW], EPSILONS, 1),
)
