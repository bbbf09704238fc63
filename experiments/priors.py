"""What a public prior gains: errors and intervals of releases with one and without, by the same measurements.

A trial publishes records once by STAQ, and sharpens that release by a prior. Some help, some hardly do, some mislead.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.datasets.table import TableDataset
from experiments.metrics import absolute_errors, relative_errors
from experiments.trial import NOISE, Row, Seeded, by_query_size, rounded
from experiments.workload import true_counts, workload
from hushgrid import __version__
from hushgrid.geometry.domain import Domain
from hushgrid.methods.staq import Staq
from hushgrid.priors.masses import CellMasses, Source
from hushgrid.priors.opening import open_prior
from hushgrid.priors.prior import Prior
from hushgrid.priors.releases import ReleasedDensity
from hushgrid.priors.sharpen import sharpened
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.calibrate import calibrated
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_RECORDS = 300_000  # of a set that are published
FEW = 500  # points of a weak prior
CHAINS = slice(18, 38)  # of all chains by size: twenty with 36,000 stores
BLOCKS = 16  # a side, that are permuted
CONFIDENCE = 0.95
USER = "user"  # the column of users
SECONDS, CALIBRATED_SECONDS = 0.2, 0.4  # that a trial takes, measured on one core
MADE_UP = Source(name="made up", kind="points", sha256="0" * 64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """Records to publish, and what is public about them."""

    domain: Domain
    true_points: Floats
    true_users: Indices | None = None
    prior: Prior | None = None  # or else an earlier release of the others
    true_others: Floats | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """Records of a data set, in a drawn order, with what else is known of each."""

    dataset: str
    true_points: Floats
    true_users: Indices | None

    @property
    def domain(self) -> Domain:
        """Where they lie."""
        return DATASETS[self.dataset].domain

    def halves(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which are published, and which are public; all of a user are on one side."""
        chosen = np.arange(len(self.true_points)) % 2 == 0 if self.true_users is None else self.true_users % 2 == 0
        return chosen & (np.cumsum(chosen) <= MOST_RECORDS), ~chosen & (np.cumsum(~chosen) <= MOST_RECORDS)

    def all_with(self, prior: Prior) -> Setting:
        """All records, beside a prior."""
        kept = slice(MOST_RECORDS)
        users = None if self.true_users is None else self.true_users[kept]
        return Setting(domain=self.domain, true_points=self.true_points[kept], true_users=users, prior=prior)

    def half_with(self, make: Callable[[Floats], Floats]) -> Setting:
        """One half, beside points that are made of the other half."""
        mine, others = self.halves()
        prior = of_points(make(self.true_points[others]), self.domain)
        users = None if self.true_users is None else self.true_users[mine]
        return Setting(domain=self.domain, true_points=self.true_points[mine], true_users=users, prior=prior)

    def twenty_chains_with(self, make: Callable[[Floats], Floats]) -> Setting:
        """Stores of twenty chains, beside points that are made of those of all others."""
        chosen = _twenty_chains(self.dataset)
        points = _table(self.dataset).points()
        prior = of_points(make(points[~chosen]), self.domain)
        return Setting(domain=self.domain, true_points=points[chosen], prior=prior)


def of_points(points: Floats, domain: Domain) -> Prior:
    """Public points as a prior, each counting one."""
    return CellMasses.of_points(MADE_UP, points, None, domain)


def mirrored(points: Floats, domain: Domain) -> Floats:
    """East and west exchanged.

    Examples
    --------
    >>> mirrored(np.array([[1.0, 5.0]]), Domain(west=0, south=0, east=10, north=10))
    array([[9., 5.]])
    """
    return np.stack([domain.west + domain.east - points[:, 0], points[:, 1]], axis=1)


def permuted(points: Floats, domain: Domain) -> Floats:
    """Blocks of the domain exchanged at random: each looks right, and lies elsewhere."""
    corner, block = np.array(domain.bounds[:2]), np.array([domain.width, domain.height]) / BLOCKS
    number = np.clip((points - corner) // block, 0, BLOCKS - 1).astype(np.int64)
    moved = np.random.default_rng(3).permutation(BLOCKS**2)[number @ (BLOCKS, 1)]
    return np.asarray(points + (np.stack(np.divmod(moved, BLOCKS), axis=1) - number) * block)


def half_right(points: Floats, domain: Domain) -> Floats:
    """Right in the west, permuted in the east: believed for what is right, and then wrong."""
    middle = float(np.median(points[:, 0]))
    west = points[:, 0] < middle
    east = Domain(west=middle, south=domain.south, east=domain.east, north=domain.north)
    return np.concatenate([points[west], permuted(points[~west], east)])


def places_of_another_country(domain: Domain) -> Floats:
    """Places of Great Britain, as if they lay in a domain."""
    there, places = DATASETS["uk_postcodes"].domain, DATASETS["places"].points()
    inside = (places >= there.bounds[:2]).all(axis=1) & (places <= there.bounds[2:]).all(axis=1)
    shares = (places[inside] - there.bounds[:2]) / (there.width, there.height)
    return np.asarray(domain.bounds[:2] + shares * (domain.width, domain.height))


def _earlier_release(records: Records) -> Setting:
    mine, others = records.halves()
    return Setting(
        domain=records.domain, true_points=records.true_points[mine], true_others=records.true_points[others]
    )


PLACES, OTHER_HALF, FEW_OTHERS, HALF_RIGHT = "places", "the other half", f"{FEW} of the other half", "half of it moved"
MOVED, EARLIER = "the other half, moved", "a release of the other half"
CHAINS_KNOWN, CHAINS_MIRRORED = "other chains", "other chains, mirrored"
CHAINS_MOVED, ELSEWHERE = "other chains, moved", "places elsewhere"
PRIORS: Mapping[str, Callable[[Records], Setting]] = MappingProxyType(
    {
        PLACES: lambda records: records.all_with(open_prior("places", records.domain)),
        OTHER_HALF: lambda records: records.half_with(lambda points: points),
        FEW_OTHERS: lambda records: records.half_with(lambda points: points[:FEW]),
        HALF_RIGHT: lambda records: records.half_with(lambda points: half_right(points, records.domain)),
        MOVED: lambda records: records.half_with(lambda points: permuted(points, records.domain)),
        EARLIER: _earlier_release,
        CHAINS_KNOWN: lambda records: records.twenty_chains_with(lambda points: points),
        CHAINS_MIRRORED: lambda records: records.twenty_chains_with(lambda points: mirrored(points, records.domain)),
        CHAINS_MOVED: lambda records: records.twenty_chains_with(lambda points: permuted(points, records.domain)),
        ELSEWHERE: lambda records: records.twenty_chains_with(lambda _: places_of_another_country(records.domain)),
    }
)


@dataclass(frozen=True, kw_only=True)
class PriorTrial(Seeded):
    """Records published once, with a prior and without.

    Parameters
    ----------
    dataset : str
        A name in `DATASETS`.
    prior : str
        A name in `PRIORS`, which says too which of the records are published.
    epsilon : float
        The budget.
    seed : int
        Number of the run, and of its rectangles.
    max_per_user : int, optional
        Protect users, with at most so many records each; counts are then scaled to the number of all records.
    calibrate : bool
        Whether to see how often intervals hold.

    Examples
    --------
    >>> PriorTrial(dataset="us_chains", prior="places", epsilon=0.1, seed=0).seconds
    0.2
    """

    dataset: str
    prior: str
    epsilon: float
    seed: int
    max_per_user: int | None = None
    calibrate: bool = False

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return SECONDS + CALIBRATED_SECONDS * self.calibrate

    def run(self) -> list[Row]:
        """Rows of the trial, one a query size and one for all sizes together."""
        source, setting = DATASETS[self.dataset], _setting(self.dataset, self.prior, self.max_per_user is not None)
        rects = workload(source.domain, source.largest_query, seed=self.seed).reshape(-1, 4)
        truth, total = true_counts(setting.true_points, rects), len(setting.true_points)
        began = time.process_time()
        plain = self._publish(setting)
        published = time.process_time()
        sharper = sharpened(plain, setting.prior or self._earlier(setting))
        done = time.process_time()
        assert sharper.prior is not None
        about = {
            "key": self.key,
            **asdict(self),
            "noise": NOISE,
            "version": __version__,
            "points": total,
            "publish_cpu": published - began,
            "sharpen_cpu": done - published,
            "nats": sharper.prior.nats,
            "used": sharper.prior.used,
        }
        measured: dict[str, NDArray[Any]] = {}
        for mark, synopsis in (("", sharper), ("plain_", plain)):
            estimates = np.asarray(synopsis.count(rects))
            measured[f"{mark}relative"] = relative_errors(estimates, truth, true_total=total)
            measured[f"{mark}absolute"] = absolute_errors(estimates, truth)
            if self.calibrate:
                answer = calibrated(synopsis).answer(rects, confidence=CONFIDENCE)
                measured[f"{mark}held"] = (answer.low <= truth) & (truth <= answer.high)
        return [
            rounded({**about, "queries": size, **{name: float(each[of].mean()) for name, each in measured.items()}})
            for size, of in by_query_size(len(truth))
        ]

    def _publish(self, setting: Setting) -> Synopsis:
        release = self._released(setting, self.noise_seed)
        if self.max_per_user is None:
            return release(setting.true_points)
        total = len(setting.true_points)
        return release(
            setting.true_points, user=setting.true_users, max_per_user=self.max_per_user, scale_to_total=total
        )

    def _earlier(self, setting: Setting) -> Prior:
        """A release of the other records, by the same method at the same ε."""
        synopsis = self._released(setting, self.noise_seed + 1)(setting.true_others)
        return ReleasedDensity(
            name="earlier", kind="release", sha256="0" * 64, synopsis=synopsis, domain=setting.domain
        )

    def _released(self, setting: Setting, seed: int) -> partial[Synopsis]:
        return partial(
            publish,
            domain=setting.domain,
            epsilon=self.epsilon,
            method=Staq(),
            prior="none",
            calibrate=False,
            rng=simulation_rng(seed),
        )


@lru_cache(maxsize=2)  # trials of one setting follow one another
def _setting(dataset: str, prior: str, by_user: bool) -> Setting:
    return PRIORS[prior](_records(dataset, by_user))


@lru_cache(maxsize=1)
def _records(dataset: str, by_user: bool) -> Records:
    source = DATASETS[dataset]
    points, users = source.points(), None
    if by_user:
        columns = _table(dataset).column_values(*_table(dataset).columns, USER)
        west, south, east, north = source.domain.bounds
        columns = columns[((columns[:, :2] >= (west, south)) & (columns[:, :2] <= (east, north))).all(axis=1)]
        points, users = columns[:, :2], columns[:, 2].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(points))
    return Records(dataset=dataset, true_points=points[order], true_users=None if users is None else users[order])


def _twenty_chains(dataset: str) -> NDArray[np.bool_]:
    names = np.array(pq.read_table(_table(dataset).path, columns=["chain"])["chain"].to_pylist())
    _, chain, sizes = np.unique(names, return_inverse=True, return_counts=True)
    return np.isin(chain, np.argsort(-sizes, kind="stable")[CHAINS])


def _table(dataset: str) -> TableDataset:
    source = DATASETS[dataset]
    assert isinstance(source, TableDataset)
    return source
