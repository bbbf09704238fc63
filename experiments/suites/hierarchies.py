"""The effect of hierarchies: UG at its best size, and on a grid of 360 a side UG, Privlet, and H_{b,d}.

Those on the grid of 360 are the paper's; Privlet and H_{2,3} are also run at the sizes that they choose by themselves.
"""

from experiments.suites.suite import (
    CHECKINS,
    EPSILONS,
    LANDMARKS,
    QUICK_SETS,
    RUNS,
    Contender,
    Suite,
    size_trials,
    trials,
)

SIDE = 360  # close to the suggested size of the paper's sets, and a multiple of many numbers
# Branching and number of grids.
HIERARCHIES = ((2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2), (5, 2), (6, 2))
SETS = (*CHECKINS, LANDMARKS)
CONTENDERS: tuple[Contender, ...] = (
    *(("ug", {"side": SIDE}), ("privlet", {"side": SIDE}), ("privlet", {}), ("hierarchy", {})),
    *(("hierarchy", {"side": SIDE, "branching": branching, "levels": levels}) for branching, levels in HIERARCHIES),
)
SUITE = Suite(
    title="UG, Privlet and hierarchies H_{b,d} on a grid of 360 a side",
    full=size_trials(SETS, ["ug"], EPSILONS, RUNS) + trials(SETS, CONTENDERS, EPSILONS, RUNS),
    quick=size_trials(QUICK_SETS, ["ug"], EPSILONS, 1) + trials(QUICK_SETS, CONTENDERS, EPSILONS, 1),
)
