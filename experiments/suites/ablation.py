"""What each stage of STAQ adds: its measurements with least squares, with Bayes, and with belief propagation."""

from experiments.datasets import REAL
from experiments.suites.suite import ALL_EPSILONS, EPSILONS, QUICK_SETS, RUNS, Contender, Suite, trials

CONTENDERS: tuple[Contender, ...] = (
    ("ug", {}),
    ("ag", {}),
    ("staq", {"inference": "least-squares"}),
    ("staq", {"inference": "bayes"}),
    ("staq", {}),
)
SUITE = Suite(
    title="STAQ stage by stage",
    full=trials(REAL, CONTENDERS, ALL_EPSILONS, RUNS),
    quick=trials(QUICK_SETS, CONTENDERS, EPSILONS, 1),
)
