"""Coverage of the default release of ten and a hundred million points of two laws, from little evidence to much."""

from itertools import product

from experiments.datasets import LAWS
from experiments.scale import ScaleTrial
from experiments.suites.suite import Suite

EVIDENCE = (1e5, 1e6, 1e7)  # points times epsilon


def _trials(points: int, evidence: tuple[float, ...], runs: int) -> tuple[ScaleTrial, ...]:
    return tuple(
        ScaleTrial(dataset=law, points=points, evidence=each, seed=seed)
        for law, each, seed in product(LAWS, evidence, range(runs))
    )


# Several runs, because large rectangles of one release overlap, and nearly all hold the truth or few do.
SUITE = Suite(
    title="Coverage at scale",
    full=(*_trials(10**7, EVIDENCE, 12), *_trials(10**8, EVIDENCE, 6)),
    quick=_trials(10**5, (1e4,), 1),
)
