"""Releases in slices beside releases slice by slice: errors, intervals, and cost."""

from collections.abc import Sequence
from itertools import product

from experiments.datasets import SMALL_CLUSTERS
from experiments.slices import CHECKINS, STORES, SliceTrial
from experiments.suites.suite import COVERED_RUNS, EPSILONS, FEW_RUNS, Suite


def _trials(datasets: Sequence[str], runs: int) -> tuple[SliceTrial, ...]:
    return tuple(
        SliceTrial(dataset=dataset, epsilon=epsilon, seed=seed, calibrate=seed < COVERED_RUNS)
        for dataset, epsilon, seed in product(datasets, EPSILONS, range(runs))
    )


SUITE = Suite(title="Slices", full=_trials((CHECKINS, STORES), FEW_RUNS), quick=_trials((SMALL_CLUSTERS,), 1))
