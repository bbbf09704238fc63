"""What slices gain by their total: errors, intervals and cost beside releases of each slice by itself.

A trial publishes the records of a set once in slices and once slice by slice, each slice with all of ε, and all of them
as one release. The list of slices is part of the set, as the domain is.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from experiments.datasets import DATASETS, SMALL_CLUSTERS
from experiments.datasets.table import TableDataset
from experiments.metrics import absolute_errors, relative_errors
from experiments.trial import NOISE, Row, Seeded, by_query_size, rounded
from experiments.workload import true_counts, workload
from hushgrid import __version__
from hushgrid.inference.frontier import Frontier
from hushgrid.methods.staq import Staq
from hushgrid.priors.other_slices import priors_of_slices
from hushgrid.priors.sharpen import released_with
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.calibrate import calibrated
from hushgrid.release.publish import publish
from hushgrid.slices.axes import HOURS, WEEKDAYS
from hushgrid.slices.by import By
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.answer import Answer
from hushgrid.synopsis.synopsis import Synopsis

Floats = NDArray[np.float64]

CHECKINS, STORES = "checkin_gowalla_nyc", "us_chains"
ZONE = "America/New_York"
CHAINS = 40  # the largest
MADE_UP = ("first", "second", "third", "fourth")
GROUPS = ("small", "middle", "large")  # thirds of the slices by their points
THREE = slice(7, 10)  # of the slices in order, which are added up; of hours, 07 to 09
CONFIDENCE = 0.95
UNTIMED = 10_000  # added to the seed of the noise of releases that take no time
_LOADED: set[tuple[str, float]] = set()  # divisions and budgets that this process has published once
SECONDS, CALIBRATED_SECONDS = 2.0, 7.0  # that a trial takes, measured on one core


@dataclass(frozen=True, kw_only=True, eq=False)
class Division:
    """Records of a data set, and the slice that each lies in.

    Parameters
    ----------
    names : tuple of str
        Of the slices, in order.
    true_points : array, shape (n, 2)
        Records that lie in a slice and in the domain.
    true_slices : array of int, shape (n,)
        The slice of each.
    """

    names: tuple[str, ...]
    true_points: Floats
    true_slices: NDArray[np.int64]

    def slice_points(self) -> list[Floats]:
        """The records of each slice."""
        return [self.true_points[self.true_slices == number] for number in range(len(self.names))]

    def table(self) -> pa.Table:
        """All records, with their slices by name."""
        names = pa.array(self.names).take(pa.array(self.true_slices))
        return pa.table({"lon": self.true_points[:, 0], "lat": self.true_points[:, 1], "slice": names})


def _by_hour() -> Division:
    """Check-ins of New York by the hour on its clocks."""
    return _division(CHECKINS, HOURS, pc.hour(_local_times()).to_numpy().astype(np.int64))


def _by_weekday() -> Division:
    """The same by the day of the week there."""
    return _division(CHECKINS, WEEKDAYS, pc.day_of_week(_local_times()).to_numpy().astype(np.int64))


def _local_times() -> pa.ChunkedArray:
    """When check-ins of New York were, on its clocks; the file has UTC."""
    times = _column(CHECKINS, "timestamp").cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("ms", ZONE))
    return pc.local_timestamp(times)


def _by_chain() -> Division:
    """Stores of the largest chains."""
    found, chain, sizes = np.unique(_column(STORES, "chain").to_numpy(), return_inverse=True, return_counts=True)
    largest = np.argsort(-sizes, kind="stable")
    return _division(STORES, tuple(map(str, found[largest[:CHAINS]])), np.argsort(largest)[chain])


def _made_up() -> Division:
    """Clusters in four slices at random, each larger than the one before."""
    points = DATASETS[SMALL_CLUSTERS].points()
    drawn = np.random.default_rng(5).random(len(points)) ** 0.5
    return Division(names=MADE_UP, true_points=points, true_slices=(drawn * len(MADE_UP)).astype(np.int64))


BY_HOUR, BY_WEEKDAY, BY_CHAIN, AT_RANDOM = "hours", "weekdays", "chains", "at random"
# The data set of each division, and how it is divided.
DIVISIONS: Mapping[str, tuple[str, Callable[[], Division]]] = MappingProxyType(
    {
        BY_HOUR: (CHECKINS, _by_hour),
        BY_WEEKDAY: (CHECKINS, _by_weekday),
        BY_CHAIN: (STORES, _by_chain),
        AT_RANDOM: (SMALL_CLUSTERS, _made_up),
    }
)


def _column(dataset: str, name: str) -> pa.ChunkedArray:
    source = DATASETS[dataset]
    assert isinstance(source, TableDataset)
    return pq.read_table(source.path, columns=[name])[name]


def _division(dataset: str, names: tuple[str, ...], true_slices: NDArray[np.int64]) -> Division:
    source = DATASETS[dataset]
    assert isinstance(source, TableDataset)
    points, (west, south, east, north) = source.column_values(*source.columns), source.domain.bounds
    inside = ((points >= (west, south)) & (points <= (east, north))).all(axis=1) & (true_slices < len(names))
    return Division(names=names, true_points=points[inside], true_slices=true_slices[inside])


@dataclass(frozen=True, kw_only=True)
class SliceTrial(Seeded):
    """Records published in slices, slice by slice, and as one release.

    Parameters
    ----------
    division : str
        A name in `DIVISIONS`.
    epsilon : float
        The budget.
    seed : int
        Number of the run, and of its rectangles.
    calibrate : bool
        Whether to see how often intervals hold.

    Examples
    --------
    >>> SliceTrial(division="chains", epsilon=0.1, seed=0).dataset
    'us_chains'
    """

    division: str
    epsilon: float
    seed: int
    calibrate: bool = False

    @property
    def dataset(self) -> str:
        """What is divided."""
        return DIVISIONS[self.division][0]

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return SECONDS + CALIBRATED_SECONDS * self.calibrate

    def run(self) -> list[Row]:
        """Rows of the trial, one a query size and one for all sizes together."""
        division, source = _records(self.division), DATASETS[self.dataset]
        parts = division.slice_points()
        rects = workload(source.domain, source.largest_query, seed=self.seed).reshape(-1, 4)
        truth = np.stack([true_counts(part, rects) for part in parts])
        spent, slices, whole = self._publish(division)
        separate = [self._released(part, number) for number, part in enumerate(parts, start=2)]
        if self.calibrate:
            began = time.process_time()
            slices = _calibrated(slices)
            spent["calibrate_cpu"] = time.process_time() - began
        sizes = np.array([len(part) for part in parts])
        measured = {
            **_slice_errors(np.asarray(slices.answer(rects).estimate), truth, sizes, prefix=""),
            **_slice_errors(np.stack([np.asarray(each.count(rects)) for each in separate]), truth, sizes, "separate_"),
            **_total_errors(slices, whole, rects, truth.sum(axis=0), len(division.true_points)),
        }
        if self.calibrate:
            measured |= _held(slices, rects, truth)
        about = {
            "key": self.key,
            **asdict(self),
            "dataset": self.dataset,
            "noise": NOISE,
            "version": __version__,
            "slices": len(sizes),
            "points": int(sizes.sum()),
            **spent,
        }
        return [
            rounded(
                {**about, "queries": size, **{name: float(each[..., of].mean()) for name, each in measured.items()}}
            )
            for size, of in by_query_size(len(rects))
        ]

    def _publish(self, division: Division) -> tuple[Row, Slices, Synopsis]:
        """A release in slices, one of all records, and the CPU seconds of each and of the slices' inference."""
        table, by = division.table(), By("slice", values=division.names)
        self._load_what_is_compiled()
        began = time.process_time()
        with _inference_between_rounds() as between:
            slices = publish(table, by=by, rng=simulation_rng(self.noise_seed), **self._request)
        done = time.process_time()
        whole = self._released(division.true_points, 1)
        one = time.process_time()
        _infer_again(slices)
        inference = time.process_time() - one + sum(between)
        return {"publish_cpu": done - began, "one_cpu": one - done, "inference_cpu": inference}, slices, whole

    def _load_what_is_compiled(self) -> None:
        """Publish once in each process, in other noise, before anything takes time."""
        if (self.division, self.epsilon) in _LOADED:
            return
        records = _records(self.division)
        by, noise = By("slice", values=records.names), simulation_rng(self.noise_seed + UNTIMED)
        _infer_again(publish(records.table(), by=by, rng=noise, **self._request))
        self._released(records.true_points, UNTIMED)
        _LOADED.add((self.division, self.epsilon))

    def _released(self, points: Floats, number: int) -> Synopsis:
        released: Synopsis = publish(points, rng=simulation_rng(self.noise_seed + number), **self._request)
        return released

    @property
    def _request(self) -> dict[str, Any]:
        domain = DATASETS[self.dataset].domain
        return {"domain": domain, "epsilon": self.epsilon, "method": Staq(), "prior": "none", "calibrate": False}


@contextmanager
def _inference_between_rounds() -> Iterator[list[float]]:
    """CPU seconds of what slices infer between rounds of measuring; those of the total, which comes first, are not."""
    seconds: list[float] = []
    frontiers: list[Frontier] = []
    estimates = Frontier.estimates

    def timed(frontier: Frontier) -> Floats:
        frontiers.append(frontier)
        began = time.process_time()
        found = estimates(frontier)
        if frontier is not frontiers[0]:
            seconds.append(time.process_time() - began)
        return found

    with patch.object(Frontier, "estimates", timed):
        yield seconds


def _infer_again(slices: Slices) -> None:
    """Infer the counts of all slices as publishing did, from what was measured."""
    assert slices.total is not None
    measured = []
    for part in slices.values():
        tree, measurements = part.evidence.measured.partition, part.evidence.measured.measurements
        claim, method = part.claim, part.method
        measured.append(Synopsis.infer(tree, measurements, inference="least-squares", claim=claim, method=method))
    for part, prior in zip(measured, priors_of_slices(slices.total, measured), strict=True):
        assert prior is not None
        released_with(prior, part.evidence, claim=part.claim, method=part.method)


def _calibrated(slices: Slices) -> Slices:
    total = None if slices.total is None else calibrated(slices.total)
    return replace(slices, parts={name: calibrated(part) for name, part in slices.items()}, total=total)


def _slice_errors(estimates: Floats, truth: NDArray[np.int64], sizes: NDArray[np.int64], prefix: str) -> Row:
    """Errors of slices, shape (slices, queries): of all, and of each third by size."""
    absolute = absolute_errors(estimates, truth)
    relative = relative_errors(estimates, truth, true_total=sizes[:, None])  # type: ignore[arg-type]  # one a slice
    found = {f"{prefix}relative": relative, f"{prefix}absolute": absolute}
    for group, chosen in zip(GROUPS, np.array_split(np.argsort(sizes, kind="stable"), len(GROUPS)), strict=True):
        found |= {f"{group}_{prefix}relative": relative[chosen], f"{group}_{prefix}absolute": absolute[chosen]}
    return found


def _total_errors(slices: Slices, whole: Synopsis, rects: Floats, truth: NDArray[np.int64], points: int) -> Row:
    """Errors of the total: as answered, as released with its share alone, by a release with all of ε."""
    assert slices.total is not None
    estimates = {
        "total": slices.answer(rects, slices=slices.names).estimate,
        "share": slices.total.count(rects),
        "whole": whole.count(rects),
    }
    found: Row = {}
    for name, given in estimates.items():
        counts = np.asarray(given)
        found[f"{name}_relative"] = relative_errors(counts, truth, true_total=points)
        found[f"{name}_absolute"] = absolute_errors(counts, truth)
    return found


def _held(slices: Slices, rects: Floats, truth: NDArray[np.int64]) -> Row:
    """Which intervals hold the truth: of slices, of two and of three neighbours added up, and of all."""

    def holds(answer: Answer, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray((answer.low <= counts) & (counts <= answer.high))

    def summed(chosen: slice) -> NDArray[np.bool_]:
        answer = slices.answer(rects, slices=slices.names[chosen], confidence=CONFIDENCE)
        return holds(answer, truth[chosen].sum(axis=0))

    return {
        "held": holds(slices.answer(rects, confidence=CONFIDENCE), truth),
        "pairs_held": np.stack([summed(slice(first, first + 2)) for first in range(0, len(truth) - 1, 2)]),
        "three_held": summed(THREE if len(truth) >= THREE.stop else slice(3)),
        "total_held": summed(slice(None)),
    }


@lru_cache(maxsize=2)  # trials come sorted by data set
def _records(division: str) -> Division:
    return DIVISIONS[division][1]()
