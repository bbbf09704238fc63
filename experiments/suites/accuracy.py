"""STAQ against AG with suggested parameters, on every set and with every budget."""

from experiments.datasets import REAL
from experiments.suites.suite import ALL_EPSILONS, EPSILONS, MANY_RUNS, QUICK_SETS, Contender, Suite, trials

CONTENDERS: tuple[Contender, ...] = (("staq", {}), ("ag", {}))
SUITE = Suite(
    title="STAQ against AG",
    full=trials(REAL, CONTENDERS, ALL_EPSILONS, MANY_RUNS),
    quick=trials(QUICK_SETS, CONTENDERS, EPSILONS, 1),
)
