"""One trial: a method publishes a data set once, and the workload is asked of it."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.datasets.dataset import Dataset
from experiments.datasets.table import TableDataset
from experiments.metrics import Candlestick, absolute_errors, relative_errors
from experiments.workload import QUERY_SIZES, true_counts, workload
from hushgrid import __version__
from hushgrid.geometry.grid import GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.tree import Tree
from hushgrid.methods import METHODS
from hushgrid.methods.method import Method
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.auto import AUTO, choose
from hushgrid.release.calibrate import calibrated
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

Row = dict[str, Any]  # a line of results: flat, of JSON's own types

ALL_SIZES = "all"
QUERIES = (*(f"q{number}" for number in range(1, QUERY_SIZES + 1)), ALL_SIZES)  # of the rows of a trial, in order
CONFIDENCES = {"coverage_80": 0.8, "coverage_95": 0.95, "coverage_99": 0.99}  # of the intervals that are tried
SIGNIFICANT_DIGITS = 5  # of the figures in rows

# Seconds that a release of a million points takes, measured at epsilon = 1 on one core; most methods take far less.
SECONDS = {"staq": 2.0, AUTO: 2.0, "balanced": 3.0, "kd": 3.0, "kd-hybrid": 0.7, "dpcube": 1.0, "dawa": 1.0}
SECONDS |= {"quadtree": 0.2, "privtree": 0.15, "hierarchy": 0.1, "hb": 0.1}
LEAST_SECONDS, OTHER_SECONDS = 0.01, 0.04

# The way seeds of noise are made, in every row and key: rows of two ways are never mixed. In the first, without a
# number, the run alone was the seed, so that all data sets got the same noise.
NOISE = 2


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What is run, and nothing about how it went.

    Parameters
    ----------
    dataset : str
        A name in `DATASETS`, or any name for the `own` data set.
    method : str
        ``auto``, a name in `hushgrid.METHODS`, or one of theirs in papers, such as ``kd-paper``.
    parameters : mapping
        Parameters of the method, where they are not its own.
    epsilon : float
        The budget.
    seed : int
        Number of the run; the noise is that of this trial alone, see `noise_seed`.
    workload_seed : int
        Of the places of the rectangles.
    calibrate : bool
        Whether the width of intervals is calibrated, which takes longer than the release; errors are the same.
    own : TableDataset, optional
        A data set that is not in `DATASETS`.

    Examples
    --------
    >>> trial = Trial(dataset="us_cvs", method="ug", epsilon=1, seed=0)
    >>> trial.key == Trial(dataset="us_cvs", method="ug", parameters={"side": None}, epsilon=1, seed=0).key
    True
    """

    dataset: str
    method: str
    parameters: Mapping[str, int | float | str | bool | None] = field(default_factory=dict)
    epsilon: float
    seed: int
    workload_seed: int = 0
    calibrate: bool = True
    own: TableDataset | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", float(self.epsilon))

    @property
    def source(self) -> Dataset:
        """The data set."""
        return self.own or DATASETS[self.dataset]

    @property
    def name(self) -> str:
        """Hash of the trial's fields, the same in every process and version."""
        return _hash(asdict(self))

    @property
    def key(self) -> str:
        """Hash of all that is run: a method whose own parameters have changed makes another one of the same name."""
        parameters = asdict(self.build())  # type: ignore[call-overload]  # a Protocol cannot say that it is a dataclass
        return _hash({**asdict(self), "parameters": parameters, "noise": NOISE})

    @property
    def noise_seed(self) -> int:
        """Seed of the noise: of the data set, method, parameters, budget and run, so that no two share any.

        What is asked and whether intervals are calibrated is left out, because the release is the same.
        """
        of_noise = asdict(self)
        del of_noise["workload_seed"], of_noise["calibrate"]
        parameters = asdict(self.build())  # type: ignore[call-overload]  # as above
        return seed_of({**of_noise, "parameters": parameters})

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        size = self.source.size
        release = LEAST_SECONDS + size / 1e6 * self._seconds_per_million
        if not self.calibrate:
            return release
        # As calibration does it: on few points where there is much evidence, more than once where little.
        evidence = size * self.epsilon
        most = 2e4 if self.method in ("staq", AUTO) else 1e6
        likeness = min(size, max(2e6, evidence / 2)) * min(1, most / evidence) / 1e6
        repetitions = 4 if size * self.epsilon <= 2e4 else 2 if size * self.epsilon <= 2e5 else 1
        return release + repetitions * (0.05 + likeness * (0.2 + self._seconds_per_million))

    @property
    def _seconds_per_million(self) -> float:
        seconds = SECONDS.get(self.build().name, OTHER_SECONDS)
        # STAQ has as many cells as there is evidence for.
        return seconds * min(1.0, 0.1 + self.epsilon) if self.method in ("staq", AUTO) else seconds

    def build(self) -> Method:
        """The method with its parameters."""
        return METHODS[self.method](**self.parameters) if self.parameters else choose(self.method)

    def run(self) -> list[Row]:
        """Rows of the trial, one a query size and one for all sizes together."""
        question = _question(self.source, self.workload_seed)
        method = self.build()
        start = time.perf_counter()
        synopsis = publish(
            question.true_points,
            domain=self.source.domain,
            epsilon=self.epsilon,
            method=method,
            calibrate=False,
            rng=simulation_rng(self.noise_seed),
        )
        published = time.perf_counter()
        if self.calibrate:
            synopsis = calibrated(synopsis, method)
        ready = time.perf_counter()
        estimates = np.asarray(synopsis.count(question.rects))
        answered = time.perf_counter()
        about = {
            "key": self.key,
            "name": self.name,
            **{name: value for name, value in asdict(self).items() if name != "own"},
            "noise": NOISE,
            "version": __version__,
            "cells": synopsis.partition.cells,
            "nodes": nodes(synopsis.partition),
            "publish_seconds": published - start,
            "calibrate_seconds": ready - published,
            "answer_seconds": answered - ready,
        }
        errors = measures(estimates, question.true_counts, true_total=len(question.true_points))
        # Intervals that were not calibrated are not what users get, and take long to ask for.
        covered = _coverage(synopsis, question) if self.calibrate else [{} for _ in errors]
        return [rounded({**about, **of_size, **coverage}) for of_size, coverage in zip(errors, covered, strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A data set with a workload and its true answers."""

    true_points: NDArray[np.float64]
    rects: NDArray[np.float64]
    true_counts: NDArray[np.int64]


def measures(estimates: NDArray[np.float64], truth: NDArray[np.int64], *, true_total: int) -> list[Row]:
    """Mean relative and absolute error for each query size; candlesticks of both for all sizes together."""
    relative = relative_errors(estimates, truth, true_total=true_total)
    absolute = absolute_errors(estimates, truth)
    sizes: list[Row] = [
        {"queries": queries, "relative_mean": float(relative[of].mean()), "absolute_mean": float(absolute[of].mean())}
        for queries, of in by_query_size(len(truth))
    ]
    sizes[-1] |= _prefixed("relative", Candlestick.of(relative)) | _prefixed("absolute", Candlestick.of(absolute))
    return sizes


def by_query_size(queries: int) -> Iterator[tuple[str, slice]]:
    """Where the queries of each size are in a workload of so many, the smallest first; and then all of them.

    Examples
    --------
    >>> list(by_query_size(1200))[-2:]
    [('q6', slice(1000, 1200, None)), ('all', slice(None, None, None))]
    """
    each = queries // QUERY_SIZES
    for number, name in enumerate(QUERIES[:-1]):
        yield name, slice(number * each, (number + 1) * each)
    yield ALL_SIZES, slice(None)


def seed_of(values: Row) -> int:
    """A seed of its own for every set of values, the same in every process and version.

    Examples
    --------
    >>> seed_of({"dataset": "a", "seed": 0}) == seed_of({"seed": 0, "dataset": "a"})
    True
    >>> seed_of({"dataset": "a", "seed": 0}) == seed_of({"dataset": "b", "seed": 0})
    False
    """
    return int.from_bytes(_digest({**values, "noise": NOISE})[:16], "big")


class Seeded:
    """A trial, a dataclass, whose fields alone decide its noise."""

    @property
    def key(self) -> str:
        """Hash of the trial's fields, and of how its noise is seeded."""
        return f"{self.noise_seed:032x}"[:16]

    @property
    def noise_seed(self) -> int:
        """Seed of the noise, which no other trial has."""
        return seed_of(asdict(self))  # type: ignore[call-overload]  # a mixin cannot say that it is a dataclass


def rounded(row: Row) -> Row:
    """A row whose figures have no more digits than they are worth.

    Examples
    --------
    >>> rounded({"key": "a", "cells": 1234567, "seconds": 0.123456789})
    {'key': 'a', 'cells': 1234567, 'seconds': 0.12346}
    """
    return {name: significant(value) if isinstance(value, float) else value for name, value in row.items()}


def significant(value: float) -> float:
    """A figure with no more digits than it is worth.

    Examples
    --------
    >>> significant(0.123456789)
    0.12346
    """
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")


def nodes(partition: Partition) -> int:
    """Number of nodes of a structure: its cells, and what lies above them.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> from hushgrid.geometry.grid import Grid
    >>> grid = Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=2, columns=2)
    >>> nodes(grid), nodes(NestedGrid(grid=grid, sides=[1, 1, 1, 3]))
    (4, 16)
    """
    match partition:
        case Tree():
            return partition.nodes
        case NestedGrid():
            return partition.grid.cells + partition.cells
        case GroupedGrid():
            return nodes(partition.nested) + int(partition.groups.max()) + 1
    return partition.cells


def _coverage(synopsis: Synopsis, question: Question) -> list[Row]:
    """Share of the queries whose interval holds the truth, by query size and over all sizes."""
    truth = question.true_counts
    covered = {}
    for name, confidence in CONFIDENCES.items():
        answers = synopsis.answer(question.rects, confidence=confidence)
        covered[name] = (answers.low <= truth) & (truth <= answers.high)
    return [
        {name: float(held[chosen].mean()) for name, held in covered.items()} for _, chosen in by_query_size(len(truth))
    ]


@lru_cache(maxsize=32)  # more than there are runs, which follow one another
def _question(source: Dataset, workload_seed: int) -> Question:
    points = _points(source)
    rects = workload(source.domain, source.largest_query, seed=workload_seed).reshape(-1, 4)
    return Question(true_points=points, rects=rects, true_counts=true_counts(points, rects))


@lru_cache(maxsize=1)  # trials come sorted by data set
def _points(source: Dataset) -> NDArray[np.float64]:
    return source.points()


def _hash(values: Row) -> str:
    return _digest(values).hex()[:16]


def _digest(values: Row) -> bytes:
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).digest()


def _prefixed(prefix: str, candlestick: Candlestick) -> Row:
    return {f"{prefix}_{name}": value for name, value in asdict(candlestick).items()}
