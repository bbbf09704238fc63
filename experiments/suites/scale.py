"""Coverage of the default release of ten and a hundred million points of two laws, from little evidence to much."""

from itertools import product

from experiments.datasets import LAWS
from experiments.scale import ScaleTrial
from experiments.suites.suite import Suite

POINTS = (10**7, 10**8)
EVIDENCE = (1e5, 1e6, 1e7)  # points times epsilon
RUNS = 2


def _trials(sizes: tuple[int, ...], evidence: tuple[float, ...], runs: int) -> tuple[ScaleTrial, ...]:
    return tuple(
        ScaleTrial(dataset=law, points=points, evidence=each, seed=seed)
        for law, points, each, seed in product(LAWS, sizes, evidence, range(runs))
    )


SUITE = Suite(
    title="Coverage at scale",
    full=_trials(POINTS, EVIDENCE, RUNS),
    quick=_trials((10**5,), (1e4,), 1),
)
