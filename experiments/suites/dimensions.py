"""Flat grids against hierarchies in one, two and three dimensions: the conjecture of section IV-C, tried."""

from collections.abc import Iterator
from itertools import product

from experiments.datasets import SMALL_CLUSTERS
from experiments.dimensions import DimensionTrial
from experiments.suites.suite import EPSILONS, Suite

DATASET = "checkin_gowalla_nyc"  # has a third coordinate, time
CELLS = (2**12, 2**18)  # whole powers for every dimension; about as many as suggested, and far more
BRANCHINGS = (2, 4, 8, 16)
RUNS = 8


def hierarchies(side: int) -> Iterator[tuple[int, int]]:
    """Branching and number of grids, every one down to a single cell; first the flat one.

    Examples
    --------
    >>> list(hierarchies(16))
    [(2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (4, 2), (4, 3), (8, 2), (16, 2)]
    """
    yield 2, 1
    for branching in BRANCHINGS:
        levels = 2
        while side % branching ** (levels - 1) == 0:
            yield branching, levels
            levels += 1


def _trials(dataset: str, cells: tuple[int, ...], epsilons: tuple[float, ...], runs: int) -> tuple[DimensionTrial, ...]:
    flat = (
        DimensionTrial(dataset=dataset, dimensions=dimensions, cells=number, epsilon=epsilon, seed=seed)
        for dimensions, number, epsilon, seed in product((1, 2, 3), cells, epsilons, range(runs))
    )
    return tuple(
        DimensionTrial(**{**vars(trial), "branching": branching, "levels": levels})
        for trial in flat
        for branching, levels in hierarchies(trial.side)
    )


SUITE = Suite(
    title="Flat against hierarchy in one, two and three dimensions",
    full=_trials(DATASET, CELLS, EPSILONS, RUNS),
    quick=_trials(SMALL_CLUSTERS, CELLS[:1], EPSILONS[:1], 1),
)
