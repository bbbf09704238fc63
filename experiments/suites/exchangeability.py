"""Scale and epsilon exchanged at a fixed product, as DPBench's protocol does (Hay et al., SIGMOD 2016)."""

from collections.abc import Sequence
from itertools import product

from experiments.datasets import SMALL_CLUSTERS
from experiments.exchangeability import LEAST_POINTS, WAYS, ExchangeTrial
from experiments.suites.suite import Suite

DATASET = "us_chains"
METHODS = ("ug", "ag", "hb", "privtree", "privlet", "staq")
COPIES = (1, 3, 10, 30)
PRODUCTS = (2e3, 2e4)
RUNS = 8


def _trials(
    dataset: str, methods: Sequence[str], copies: Sequence[int], products: Sequence[float], runs: int
) -> tuple[ExchangeTrial, ...]:
    return tuple(
        ExchangeTrial(dataset=dataset, method=method, way=way, scale=times * LEAST_POINTS, product=each, seed=seed)
        for method, way, times, each, seed in product(methods, WAYS, copies, products, range(runs))
    )


SUITE = Suite(
    title="Scale and epsilon exchanged",
    full=_trials(DATASET, METHODS, COPIES, PRODUCTS, RUNS),
    quick=_trials(SMALL_CLUSTERS, METHODS[:2], COPIES[:3:2], PRODUCTS[:1], 2),
)
