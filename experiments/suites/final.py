"""The final comparison, by relative and by absolute error.

Six methods of the paper: KD-hybrid as its paper has it and as we have it, UG at the best size and Privlet on that,
AG at the best size, UG and AG at the suggested sizes. Which size is best is seen from the rows, so Privlet is run at
all of them. Beyond the paper: HB and PrivTree, which came since, STAQ, what `auto` takes, and a smaller budget.
"""

from experiments.datasets import REAL
from experiments.suites.suite import (
    ALL_EPSILONS,
    EPSILONS,
    QUICK_SETS,
    RUNS,
    Contender,
    Suite,
    size_trials,
    trials,
)

SIZED = ("ug", "privlet", "ag")
NAMES = ("kd-hybrid", "kd-hybrid-paper", "hb", "privtree", "staq", "auto")
OTHERS: tuple[Contender, ...] = tuple((name, {}) for name in NAMES)
SUITE = Suite(
    title="Six methods of the paper and four since, by relative and absolute error",
    full=size_trials(REAL, SIZED, ALL_EPSILONS, RUNS) + trials(REAL, OTHERS, ALL_EPSILONS, RUNS),
    quick=size_trials(QUICK_SETS, SIZED, EPSILONS, 1) + trials(QUICK_SETS, OTHERS, EPSILONS, 1),
)
