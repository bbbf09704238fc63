"""One trial: a method publishes a data set once, and the workload is asked of it."""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.metrics import Candlestick, absolute_errors, relative_errors
from experiments.workload import QUERY_SIZES, true_counts, workload
from hushgrid import __version__
from hushgrid.methods import METHODS
from hushgrid.methods.method import Method
from hushgrid.privacy.bits import simulation_rng
from hushgrid.publish import publish
from hushgrid.synopsis.answer import Answer

Row = dict[str, Any]  # a line of results: flat, of JSON's own types

ALL_SIZES = "all"
QUERIES = (*(f"q{number}" for number in range(1, QUERY_SIZES + 1)), ALL_SIZES)  # of the rows of a trial, in order
CONFIDENCE = 0.95  # of the intervals whose coverage is measured


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What is run, and nothing about how it went.

    Parameters
    ----------
    dataset : str
        A name in `DATASETS`.
    method : str
        ``auto`` or a name in `hushgrid.METHODS`.
    parameters : mapping
        Parameters of the method, where they are not its own.
    epsilon : float
        The budget.
    seed : int
        Of the noise.
    workload_seed : int
        Of the places of the rectangles.

    Examples
    --------
    >>> Trial(dataset="us_cvs", method="ug", epsilon=1, seed=0).key
    '76965d014d0d4a3f'
    """

    dataset: str
    method: str
    parameters: Mapping[str, int | float | str | bool | None] = field(default_factory=dict)
    epsilon: float
    seed: int
    workload_seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", float(self.epsilon))

    @property
    def key(self) -> str:
        """Name of the trial: a hash of its fields, the same in every process and version."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A data set with a workload and its true answers."""

    true_points: NDArray[np.float64]
    rects: NDArray[np.float64]
    true_counts: NDArray[np.int64]


def run(trial: Trial) -> list[Row]:
    """Rows of a trial, one a query size and one for all sizes together."""
    question = _question(trial.dataset, trial.workload_seed)
    start = time.perf_counter()
    synopsis = publish(
        question.true_points,
        domain=DATASETS[trial.dataset].domain,
        epsilon=trial.epsilon,
        method=_method(trial),
        rng=simulation_rng(trial.seed),
    )
    published = time.perf_counter()
    answers = synopsis.answer(question.rects, confidence=CONFIDENCE)
    answered = time.perf_counter()
    about = {
        "key": trial.key,
        **asdict(trial),
        "version": __version__,
        "cells": synopsis.partition.cells,
        "publish_seconds": published - start,
        "answer_seconds": answered - published,
    }
    return [{**about, **measures} for measures in _measures(question, answers)]


def _method(trial: Trial) -> str | Method:
    return METHODS[trial.method](**trial.parameters) if trial.parameters else trial.method


@lru_cache(maxsize=1)  # trials come sorted by data set
def _question(dataset: str, workload_seed: int) -> Question:
    source = DATASETS[dataset]
    points = source.points()
    rects = workload(source.domain, source.largest_query, seed=workload_seed).reshape(-1, 4)
    return Question(true_points=points, rects=rects, true_counts=true_counts(points, rects))


def _measures(question: Question, answers: Answer) -> list[Row]:
    """Errors and coverage, by query size and over all sizes."""
    truth = question.true_counts
    estimates = np.asarray(answers.estimate)
    covered = (answers.low <= truth) & (truth <= answers.high)
    relative = relative_errors(estimates, truth, true_total=len(question.true_points))
    absolute = absolute_errors(estimates, truth)
    everything = np.arange(len(truth))
    sizes = [*np.split(everything, QUERY_SIZES), everything]
    return [
        {
            "queries": queries,
            **_prefixed("relative", Candlestick.of(relative[chosen])),
            **_prefixed("absolute", Candlestick.of(absolute[chosen])),
            "coverage": float(covered[chosen].mean()),
        }
        for queries, chosen in zip(QUERIES, sizes, strict=True)
    ]


def _prefixed(prefix: str, candlestick: Candlestick) -> Row:
    return {f"{prefix}_{name}": value for name, value in asdict(candlestick).items()}
