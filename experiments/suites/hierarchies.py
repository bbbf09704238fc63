"""The effect of hierarchies: UG at its best size, and on a base grid UG, Privlet, and H_{b,d}.

Privlet and H_{2,3} are also run at the sizes that they choose by themselves.
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

PAPER_SIDE = 360  # 1.14 and 1.2 times the suggested size of the paper's sets at ε = 1, a multiple of many numbers
BASE_SIDES = {"checkin_gowalla_sub": 288, LANDMARKS: 144}  # in like proportion to what is suggested for our sets
# Branching and number of grids.
HIERARCHIES = ((2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2), (5, 2), (6, 2))
SETS = (*CHECKINS, LANDMARKS)


def base_side(dataset: str) -> int:
    """Cells a side of the grid that hierarchies are built on."""
    return BASE_SIDES.get(dataset, PAPER_SIDE)


def contenders(dataset: str) -> list[Contender]:
    """UG, Privlet and each hierarchy that divides the base grid.

    UG and Privlet on the paper's grid as well, and Privlet and H_{2,3} at sizes of their own.
    """
    side = base_side(dataset)
    return [
        ("privlet", {}),
        ("hierarchy", {}),
        *((method, {"side": each}) for each in dict.fromkeys((side, PAPER_SIDE)) for method in ("ug", "privlet")),
        *(
            ("hierarchy", {"side": side, "branching": branching, "levels": levels})
            for branching, levels in HIERARCHIES
            if side % branching ** (levels - 1) == 0
        ),
    ]


SUITE = Suite(
    title="UG, Privlet and hierarchies H_{b,d} on a grid a little finer than suggested",
    full=size_trials(SETS, ["ug"], EPSILONS, RUNS)
    + tuple(trial for name in SETS for trial in trials([name], contenders(name), EPSILONS, RUNS)),
    quick=size_trials(QUICK_SETS, ["ug"], EPSILONS, 1)
    + tuple(trial for name in QUICK_SETS for trial in trials([name], contenders(name), EPSILONS, 1)),
)
