"""How often intervals hold the truth when there are very many points, made up by a known law.

A release is as anyone gets it: the default method, intervals calibrated. What it depends on is the evidence, the number
of points times epsilon, so that trials state that.
"""

import time
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import LAWS
from experiments.trial import NOISE, Row, Seeded, by_query_size, measures, rounded
from experiments.workload import QUERY_SIZES
from hushgrid import __version__
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from hushgrid.synopsis.answer import CONFIDENCES

Floats = NDArray[np.float64]

LINES = 4093  # a side, that rectangles end on: a prime, so that they follow no quadtree's cells
RECTS_PER_SIZE = 1000
COVERAGES = {f"coverage_{100 * confidence:.0f}": confidence for confidence in CONFIDENCES}


@dataclass(frozen=True, kw_only=True)
class ScaleTrial(Seeded):
    """The default release of many made-up points, asked for rectangles of six sizes.

    Parameters
    ----------
    dataset : str
        A name in `LAWS`.
    points : int
        Number of points.
    evidence : float
        Points times epsilon.
    seed : int
        Number of the run, and of its rectangles.

    Examples
    --------
    >>> ScaleTrial(dataset="towns", points=10**8, evidence=1e6, seed=0).epsilon
    0.01
    """

    dataset: str
    points: int
    evidence: float
    seed: int

    @property
    def epsilon(self) -> float:
        """The budget."""
        return self.evidence / self.points

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return 1 + self.points * 4e-8 + self.evidence * 8e-7

    def run(self) -> list[Row]:
        """Rows of the trial, one a query size and one for all sizes together."""
        domain, points = LAWS[self.dataset].domain, _points(self.dataset, self.points)
        rects, lines = rectangles(domain, seed=self.seed)
        truth = counts_between(PointCounter(domain, ArrayPoints(points)), lines)
        start = time.process_time()
        synopsis = publish(points, domain=domain, epsilon=self.epsilon, rng=simulation_rng(self.noise_seed))
        about = {
            "key": self.key,
            **asdict(self),
            "epsilon": self.epsilon,
            "noise": NOISE,
            "version": __version__,
            "cells": synopsis.partition.cells,
            "publish_cpu": time.process_time() - start,
        }
        held = {}
        for name, confidence in COVERAGES.items():
            answers = synopsis.answer(rects, confidence=confidence)
            held[name] = (answers.low <= truth) & (truth <= answers.high)
        errors = measures(np.asarray(synopsis.count(rects)), truth, true_total=self.points)
        return [
            rounded({**about, **of_size, **{name: float(each[chosen].mean()) for name, each in held.items()}})
            for of_size, (_, chosen) in zip(errors, by_query_size(len(truth)), strict=True)
        ]


def rectangles(domain: Domain, *, seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """Rectangles of six sizes, the largest half as wide and half as high as the domain, each half the next.

    With the lines of a fine grid that they end on, shape (n, 4) each.

    Examples
    --------
    >>> rects, lines = rectangles(Domain(west=0, south=0, east=1, north=1), seed=0)
    >>> np.array_equal(rects, lines / LINES), lines.shape
    (True, (6000, 4))
    """
    rng = np.random.default_rng(seed)
    sides = np.rint(LINES / 2 ** np.arange(QUERY_SIZES, 0, -1)).astype(np.int64)[:, None, None]
    low = rng.integers(0, LINES + 1 - sides, (QUERY_SIZES, RECTS_PER_SIZE, 2))
    lines = np.concatenate([low, low + sides], axis=2).reshape(-1, 4)
    origin, extent = (domain.west, domain.south) * 2, (domain.width, domain.height) * 2
    return np.array(origin) + np.array(extent) * (lines / LINES), lines


def counts_between(counter: PointCounter, lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """Exact number of points in rectangles between lines, by a summed-area table."""
    table = np.zeros((LINES + 1, LINES + 1), np.int64)
    grid = Grid(domain=counter.domain, rows=LINES, columns=LINES)
    table[1:, 1:] = counter.count(grid).reshape(LINES, LINES)
    for axis in range(2):
        np.cumsum(table, axis=axis, out=table)
    left, bottom, right, top = lines.T
    return np.asarray(table[top, right] - table[top, left] - table[bottom, right] + table[bottom, left])


@lru_cache(maxsize=1)  # trials come sorted by data set
def _points(dataset: str, size: int) -> Floats:
    return replace(LAWS[dataset], size=size).points()
