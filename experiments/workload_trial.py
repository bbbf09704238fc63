"""One trial of workloads: a method publishes twice, and every workload is asked of both releases.

Two releases with noise of their own tell bias and spread apart. The error of a query is its bias plus noise: the mean
product of the two errors is the squared bias, and half the mean square of their difference is the variance.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.metrics import RELATIVE_FLOOR
from experiments.trial import NOISE, Row, Trial, rounded, seed_of
from experiments.workload import WORKLOADS, NotAskedError, Questions
from hushgrid import __version__
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

RELEASES = 2  # of a trial, with the same questions
ANSWER_SECONDS = 0.15  # for the questions of a release
CELL_SECONDS = 1.7e-6  # for each cell of a grid of given side
MEASURED = ("asked", "relative", "absolute", "signed", "squared_bias", "variance")  # what is measured of a workload


@dataclass(frozen=True, kw_only=True)
class WorkloadTrial:
    """A method on a data set, asked every workload.

    Parameters
    ----------
    dataset : str
        A name in `DATASETS`.
    method : str
        A name in `hushgrid.METHODS`.
    parameters : mapping
        Parameters of the method, where they are not its own.
    epsilon : float
        The budget of each release.
    seed : int
        Number of the run and of its questions; methods with the same number are asked the same.

    Examples
    --------
    >>> WorkloadTrial(dataset="us_cvs", method="ug", epsilon=1, seed=3).releases[0].seed
    6
    """

    dataset: str
    method: str
    parameters: Mapping[str, int | float | str | bool | None] = field(default_factory=dict)
    epsilon: float
    seed: int

    @property
    def releases(self) -> tuple[Trial, ...]:
        """The two releases, as trials of their own."""
        numbers = range(self.seed * RELEASES, (self.seed + 1) * RELEASES)
        return tuple(Trial(**{**vars(self), "seed": number}, calibrate=False) for number in numbers)

    @property
    def name(self) -> str:
        """Hash of the trial's fields and the names of the workloads."""
        return _hash([trial.name for trial in self.releases])

    @property
    def key(self) -> str:
        """Hash of all that is run, the method's own parameters too."""
        return _hash([trial.key for trial in self.releases])

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        cells = int(self.parameters.get("side") or 0) ** 2
        return sum(trial.seconds + ANSWER_SECONDS + cells * CELL_SECONDS for trial in self.releases)

    def run(self) -> list[Row]:
        """Rows of the trial, one a workload.

        One that was not asked says why, and measures nothing.
        """
        true_points = _true_points(self.dataset)
        start = time.perf_counter()
        synopses = [self._publish(trial, true_points) for trial in self.releases]
        about = {
            "key": self.key,
            "name": self.name,
            **asdict(self),
            "noise": NOISE,
            "version": __version__,
            "cells": synopses[0].partition.cells,
            "publish_seconds": (time.perf_counter() - start) / RELEASES,
        }
        rows = []
        for workload, questions in _questions(self.dataset, self.seed).items():
            measured: Row = {"skipped": questions, **dict.fromkeys(MEASURED)}
            if isinstance(questions, Questions):
                estimates = np.array([questions.estimates(synopsis) for synopsis in synopses])
                measured |= {
                    "skipped": "",
                    **bias_and_spread(estimates, questions.true_counts, true_total=len(true_points)),
                }
            rows.append(rounded({**about, "queries": workload, **measured}))
        return rows

    def _publish(self, trial: Trial, true_points: NDArray[np.float64]) -> Synopsis:
        return publish(
            true_points,
            domain=trial.source.domain,
            epsilon=self.epsilon,
            method=trial.build(),
            calibrate=False,
            rng=simulation_rng(trial.noise_seed),
        )


def bias_and_spread(estimates: NDArray[np.float64], truth: NDArray[np.int64], *, true_total: int) -> Row:
    """Mean errors, and the bias and variance of relative ones.

    The squared bias and the variance are means over queries. Both are estimated without bias, so that a squared bias
    near zero may come out negative.

    Parameters
    ----------
    estimates : array of float, shape (releases, queries)

    Examples
    --------
    >>> bias_and_spread(np.array([[150.0, 0.0], [125.0, 0.0]]), np.array([100, 0]), true_total=1000)["squared_bias"]
    0.0625
    """
    absolute = estimates - truth
    relative = absolute / np.maximum(truth, RELATIVE_FLOOR * true_total)
    variance = relative.var(axis=0, ddof=1)
    squared_bias = relative.mean(axis=0) ** 2 - variance / len(relative)
    return {
        "asked": len(truth),
        "relative": float(np.abs(relative).mean()),
        "absolute": float(np.abs(absolute).mean()),
        "signed": float(relative.mean()),
        "squared_bias": float(squared_bias.mean()),
        "variance": float(variance.mean()),
    }


def _hash(names: list[str]) -> str:
    return f"{seed_of({'workloads': list(WORKLOADS), 'releases': names}):032x}"[:16]


@lru_cache(maxsize=1)  # trials come sorted by data set
def _true_points(dataset: str) -> NDArray[np.float64]:
    return DATASETS[dataset].points()


@lru_cache(maxsize=16)
def _questions(dataset: str, seed: int) -> dict[str, Questions | str]:
    """Questions of every workload, or why there are none."""
    found: dict[str, Questions | str] = {}
    for name, workload in WORKLOADS.items():
        try:
            found[name] = workload.questions(DATASETS[dataset], _true_points(dataset), seed=seed)
        except NotAskedError as reason:
            found[name] = str(reason)
    return found
