"""Releases with a public prior and without: errors, intervals, and users."""

from collections.abc import Sequence
from itertools import product

from experiments import priors
from experiments.datasets import SMALL_CLUSTERS
from experiments.priors import PriorTrial
from experiments.suites.suite import ALL_EPSILONS, EPSILONS, Suite

Case = tuple[str, str]  # a data set and a prior
RUNS = 16

GAINS: tuple[Case, ...] = (
    *((name, priors.PLACES) for name in ("us_chains", "uk_postcodes", "checkin_gowalla_nyc")),
    *((name, priors.PLACES) for name in ("checkin_gowalla_sub", "us_cvs")),
    *(("us_chains", name) for name in (priors.OTHER_HALF, priors.EARLIER, priors.HALF_RIGHT)),
    *(("us_chains", name) for name in (priors.CHAINS_KNOWN, priors.CHAINS_MOVED)),
    *(("us_chains", name) for name in (priors.CHAINS_MIRRORED, priors.ELSEWHERE)),
)
COVERED_SETS = ("us_chains", "checkin_gowalla_nyc", "uk_postcodes", "towns")
COVERED: tuple[Case, ...] = (
    *product(COVERED_SETS, (priors.OTHER_HALF, priors.FEW_OTHERS, priors.HALF_RIGHT, priors.MOVED)),
    *((name, priors.PLACES) for name in COVERED_SETS[:-1]),
)
USERS = "checkin_gowalla_nyc"
USER_EPSILONS, MAX_PER_USER = (1.0, 5.0), (5, 10, 20)


def _trials(cases: Sequence[Case], epsilons: Sequence[float], runs: int) -> tuple[PriorTrial, ...]:
    covered = set(COVERED)
    return tuple(
        PriorTrial(
            dataset=dataset,
            prior=prior,
            epsilon=float(epsilon),
            seed=seed,
            calibrate=(dataset, prior) in covered and epsilon in EPSILONS,
        )
        for (dataset, prior), epsilon, seed in product(cases, epsilons, range(runs))
    )


def _user_trials(runs: int) -> tuple[PriorTrial, ...]:
    known = (priors.PLACES, priors.OTHER_HALF)
    return tuple(
        PriorTrial(dataset=USERS, prior=prior, epsilon=epsilon, seed=seed, max_per_user=bound)
        for prior, epsilon, bound, seed in product(known, USER_EPSILONS, MAX_PER_USER, range(runs))
    )


SUITE = Suite(
    title="Public priors",
    full=(
        *_trials(GAINS, ALL_EPSILONS, RUNS),
        *_trials([case for case in COVERED if case not in GAINS], EPSILONS, RUNS),
        *_user_trials(RUNS),
    ),
    quick=_trials(((SMALL_CLUSTERS, priors.OTHER_HALF), (SMALL_CLUSTERS, priors.MOVED)), EPSILONS, 1),
)
