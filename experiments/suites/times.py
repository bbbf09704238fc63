"""Running time and number of nodes: the table that the authors of the paper left out, and newer methods."""

from experiments.datasets import REAL
from experiments.suites.suite import COVERED_RUNS, EPSILONS, QUICK_SETS, Contender, Suite, trials

NAMES = (
    *("kd-hybrid-paper", "ug", "privlet", "ag", "kd-hybrid", "kd", "quadtree"),
    *("hierarchy", "hb", "privtree", "dawa", "dag", "staq"),
)
CONTENDERS: tuple[Contender, ...] = tuple((name, {}) for name in NAMES)
SUITE = Suite(
    title="Running time and number of nodes, at suggested sizes",
    full=trials(REAL, CONTENDERS, EPSILONS, COVERED_RUNS),
    quick=trials(QUICK_SETS, CONTENDERS, EPSILONS, 1),
)
