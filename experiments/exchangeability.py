"""Whether more points are worth as much as more budget: scale and epsilon exchanged at a fixed product.

Hay, Machanavajjhala, Miklau, Chen, Zhang, "Principled Evaluation of Differentially Private Algorithms using DPBench",
SIGMOD 2016: a data set is a shape and a scale, its number of points N. A method is scale-epsilon exchangeable if its
error, as a share of N, depends on the shape and on N times epsilon only. Their generator draws N points from the shape
with replacement. Copies of each point keep the shape exactly, which shows what drawing adds.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.metrics import absolute_errors, relative_errors
from experiments.trial import NOISE, Row, Seeded, Trial, rounded
from experiments.workload import true_counts, workload
from hushgrid import __version__
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish

Floats = NDArray[np.float64]

LEAST_POINTS = 20_000  # that copies are made of
UNIFORM = "uniform"  # the paper's rectangles, all sizes
WORKLOAD_SECONDS = 0.05


def drawn(true_points: Floats, scale: int, rng: np.random.Generator) -> Floats:
    """Points drawn from the shape with replacement, as DPBench generates them."""
    return rng.choice(true_points, scale)


def copied(true_points: Floats, scale: int, rng: np.random.Generator) -> Floats:
    """Few points drawn once, each as many times as it takes."""
    return np.repeat(rng.choice(true_points, LEAST_POINTS), scale // LEAST_POINTS, axis=0)


WAYS: Mapping[str, Callable[[Floats, int, np.random.Generator], Floats]] = MappingProxyType(
    {"drawn": drawn, "copied": copied}
)


@dataclass(frozen=True, kw_only=True)
class ExchangeTrial(Seeded):
    """A method on points of one shape, at a scale and a product.

    Parameters
    ----------
    dataset : str
        A name in `DATASETS`, which gives the shape.
    method : str
        A name in `hushgrid.METHODS`.
    way : str
        A name in `WAYS`: how points are made.
    scale : int
        Number of points; a multiple of `LEAST_POINTS`.
    product : float
        Points times epsilon.
    seed : int
        Number of the run, of its points and of its rectangles.

    Examples
    --------
    >>> ExchangeTrial(dataset="us_cvs", method="ug", way="drawn", scale=200_000, product=2e3, seed=0).epsilon
    0.01
    """

    dataset: str
    method: str
    way: str
    scale: int
    product: float
    seed: int

    @property
    def epsilon(self) -> float:
        """The budget."""
        return self.product / self.scale

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        whole = Trial(dataset=self.dataset, method=self.method, epsilon=self.epsilon, seed=self.seed, calibrate=False)
        return WORKLOAD_SECONDS + whole.seconds * max(1, self.scale / DATASETS[self.dataset].size)

    def run(self) -> list[Row]:
        """The one row of the trial."""
        source = DATASETS[self.dataset]
        rng = np.random.default_rng(self.seed)
        points = WAYS[self.way](_true_points(self.dataset), self.scale, rng)
        rects = workload(source.domain, source.largest_query, seed=self.seed).reshape(-1, 4)
        truth = true_counts(points, rects)
        synopsis = publish(
            points,
            domain=source.domain,
            epsilon=self.epsilon,
            method=self.method,
            calibrate=False,
            rng=simulation_rng(self.noise_seed),
        )
        estimates = np.asarray(synopsis.count(rects))
        measured = {
            "relative": float(relative_errors(estimates, truth, true_total=self.scale).mean()),
            "scaled": float(absolute_errors(estimates, truth).mean()) / self.scale,
        }
        about = {"key": self.key, **asdict(self), "epsilon": self.epsilon, "noise": NOISE, "version": __version__}
        return [rounded({**about, "queries": UNIFORM, **measured})]


@lru_cache(maxsize=1)  # trials come sorted by data set
def _true_points(dataset: str) -> Floats:
    return DATASETS[dataset].points()
