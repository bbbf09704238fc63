"""What a table or figure is made from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from experiments.datasets import DATASETS, PLACES, REAL, ROAD_LIKE, SMALL_CLUSTERS
from experiments.runner import Runnable
from experiments.trial import Row, Trial
from hushgrid.geometry.guidelines import guideline_side
from hushgrid.methods import METHODS
from hushgrid.privacy.exact import exact_epsilon

Parameters = Mapping[str, int | float | str | bool | None]
Contender = tuple[str, Parameters]  # a method and its parameters

EPSILONS = (0.1, 1.0)  # of the paper
GENERAL = tuple(name for name in METHODS if name != "aimed")  # that one is made for a scale, and has its own suite
ALL_EPSILONS = (0.01, *EPSILONS)
RUNS = 20  # so that the standard error of most ratios is at most 2.5 %, half of what a verdict tells apart
FEW_RUNS = 8  # of what takes long, or is shown beside others only
COVERED_RUNS = 4  # of which intervals are calibrated as well
QUICK_SETS = (PLACES.name, SMALL_CLUSTERS)
CHECKINS = ("checkin_gowalla_sub", "gowalla")  # the stand-in for the paper's set, and where it was fetched the set
LANDMARKS = "us_chains"
ROADS = ("uk_postcodes", ROAD_LIKE)  # neither is the paper's, and the second is made up
PAPER_SETS = (*REAL, ROAD_LIKE)  # what the paper's figures are drawn for
SIDES = (2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536)
SPREAD = 4  # times smaller and larger than suggested are the sizes that are tried


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Trials of one table or figure.

    Parameters
    ----------
    title : str
        What it shows, in words.
    full : tuple of trials
        All there is to run; on data sets that are not at hand too.
    quick : tuple of trials
        The same in small, for a first look and for tests.
    """

    title: str
    full: tuple[Runnable, ...]
    quick: tuple[Runnable, ...]

    def select(self, rows: Iterable[Row]) -> list[Row]:
        """Rows of the trials of this suite, full or quick."""
        keys = {trial.key for trial in (*self.full, *self.quick)}
        return [row for row in rows if row["key"] in keys]


def trials(
    datasets: Sequence[str], contenders: Sequence[Contender], epsilons: Sequence[float], runs: int
) -> tuple[Trial, ...]:
    """Every contender on every data set with every budget, so many times, each time with rectangles of its own.

    Intervals are calibrated, which takes longer than all the rest, in the first runs of methods with their own
    parameters only: the suites that look at coverage run those.

    Examples
    --------
    >>> len(trials(["us_cvs", "us_chains"], [("ug", {}), ("ag", {"alpha": 0.25})], [0.1, 1], 5))
    40
    """
    return tuple(
        Trial(
            dataset=dataset,
            method=method,
            parameters=parameters,
            epsilon=epsilon,
            seed=seed,
            workload_seed=seed,
            calibrate=not parameters and seed < COVERED_RUNS and dataset != ROAD_LIKE,
        )
        for dataset, (method, parameters), epsilon, seed in product(datasets, contenders, epsilons, range(runs))
    )


def size_trials(
    datasets: Sequence[str], methods: Sequence[str], epsilons: Sequence[float], runs: int
) -> tuple[Trial, ...]:
    """UG, Privlet (``side``) or AG (``first_side``) at sizes around the suggested one, and at that."""
    return tuple(
        trial
        for dataset, method, epsilon in product(datasets, methods, epsilons)
        for trial in trials([dataset], [(method, {}), *_sized(method, dataset, epsilon)], [epsilon], runs)
    )


def _sized(method: str, dataset: str, epsilon: float) -> list[Contender]:
    side = guideline_side(DATASETS[dataset].size, exact_epsilon(epsilon))
    if method == "ag":
        return [(method, {"first_side": first_side}) for first_side in sides_around(side / 4)]
    return [(method, {"side": near}) for near in sides_around(side)]


def sides_around(suggested: float) -> list[int]:
    """Sizes to try where one is suggested.

    Examples
    --------
    >>> sides_around(10)
    [3, 4, 6, 8, 10, 12, 16, 24, 32]
    """
    return [side for side in SIDES if suggested / SPREAD <= side <= suggested * SPREAD]
