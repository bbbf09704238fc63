"""Workloads beyond uniform rectangles, for every method and for plain grids of several sizes."""

from collections.abc import Sequence
from itertools import product

from experiments.datasets import DATASETS, SMALL_CLUSTERS
from experiments.suites.suite import GENERAL, Contender, Suite
from experiments.workload_trial import WorkloadTrial
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.geometry.guidelines import guideline_side
from hushgrid.privacy.exact import exact_epsilon

SETS = ("us_chains", "checkin_gowalla_nyc", "uk_postcodes")
EPSILONS = (0.05, 1.0)
FINER = (2, 4, 8, 16)  # times as many cells a side as Guideline 1 suggests, which UG takes
RUNS = 4  # of two releases each
QUICK_METHODS = ("ug", "ag", "staq")


def flat_grids(dataset: str, epsilon: float, finer: Sequence[int]) -> list[Contender]:
    """Plain grids, so many times finer than suggested, as far as a release may have so many cells.

    Examples
    --------
    >>> flat_grids("us_cvs", 1.0, (2, 8))
    [('ug', {'side': 60}), ('ug', {'side': 240})]
    """
    side = guideline_side(DATASETS[dataset].size, exact_epsilon(epsilon))
    return [("ug", {"side": times * side}) for times in finer if (times * side) ** 2 <= GUIDELINE_CELL_LIMIT]


def _trials(
    datasets: Sequence[str], methods: Sequence[str], epsilons: Sequence[float], finer: Sequence[int], runs: int
) -> tuple[WorkloadTrial, ...]:
    return tuple(
        WorkloadTrial(dataset=dataset, method=method, parameters=parameters, epsilon=epsilon, seed=seed)
        for dataset, epsilon in product(datasets, epsilons)
        for method, parameters in (*((name, {}) for name in methods), *flat_grids(dataset, epsilon, finer))
        for seed in range(runs)
    )


SUITE = Suite(
    title="Hot spots, empty areas, counties, polygons and squares on the ground",
    full=_trials(SETS, GENERAL, EPSILONS, FINER, RUNS),
    quick=_trials([SMALL_CLUSTERS], QUICK_METHODS, EPSILONS[1:], FINER[:2], 2),
)
