"""STAQ against AG with suggested parameters, on every set and with every budget."""

from experiments.datasets import REAL
from experiments.suites.suite import ALL_EPSILONS, EPSILONS, QUICK_SETS, RUNS, Contender, Suite, trials

CONTENDERS: tuple[Contender, ...] = (("staq", {}), ("ag", {}))
SUITE = Suite(
    title="STAQ against AG",
    full=trials(REAL, CONTENDERS, ALL_EPSILONS, RUNS),
    quick=trials(QUICK_SETS, CONTENDERS, EPSILONS, 1),
)
