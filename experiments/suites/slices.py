"""Releases in slices beside releases slice by slice: errors, intervals, and cost."""

from collections.abc import Sequence
from itertools import product

from experiments.slices import AT_RANDOM, BY_CHAIN, BY_HOUR, BY_WEEKDAY, SliceTrial
from experiments.suites.suite import COVERED_RUNS, EPSILONS, FEW_RUNS, Suite

REAL = (BY_HOUR, BY_WEEKDAY, BY_CHAIN)


def _trials(divisions: Sequence[str], runs: int) -> tuple[SliceTrial, ...]:
    return tuple(
        SliceTrial(division=division, epsilon=epsilon, seed=seed, calibrate=seed < COVERED_RUNS)
        for division, epsilon, seed in product(divisions, EPSILONS, range(runs))
    )


SUITE = Suite(title="Slices", full=_trials(REAL, FEW_RUNS), quick=_trials((AT_RANDOM,), 1))
