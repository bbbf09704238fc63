"""Months of one data set, published one after the other: what a series gains, and what comparing two of them finds.

A trial publishes three months by STAQ, each with noise of its own: each for itself, and as a series, in which every
month is sharpened by the release before it. The last two are compared. Where nothing changed they hold the same
records, so that every discovery is false.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.datasets.table import TableDataset
from experiments.metrics import absolute_errors, relative_errors
from experiments.priors import permuted
from experiments.trial import ALL_SIZES, NOISE, Row, Seeded, rounded
from experiments.workload import true_counts, workload
from hushgrid import __version__
from hushgrid.change.blocks import block_grid
from hushgrid.change.change import Change, compare
from hushgrid.geometry.domain import Domain
from hushgrid.methods.staq import Staq
from hushgrid.priors.releases import ReleasedDensity
from hushgrid.priors.sharpen import sharpened
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.calibrate import calibrated
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

Floats = NDArray[np.float64]
Months = tuple[Floats, Floats, Floats]  # true points of a first, a second and a third month

SIZE = 5_000  # records of a month that is drawn
BLOCKS = 20  # a side, that are compared: few of their edges are edges of cells
DISTRICT = 0.04  # at most this share of all points is in the block that doubles
RATE, CONFIDENCE = 0.05, 0.95
SECONDS, CALENDAR_SECONDS = 0.6, 1.3  # that a trial takes, of drawn months and of larger ones
TIME = "timestamp"  # the column
FIRST_MONTH, LAST_MONTH = "2010-03", "2010-10"  # with 12,600 records or more each
LONG_BEFORE = ("2009-10", "2009-11")  # with few records, of which many are elsewhere
SERIES = "series_"  # marks what is measured on a series


def of_one_law(dataset: str, seed: int) -> Months:
    """Months drawn from the same points, the last two the same."""
    points = _points(dataset)
    chosen = np.random.default_rng(seed).permutation(len(points))[: 2 * SIZE]
    first, second = np.array_split(points[chosen], 2)
    return first, second, second


def with_a_doubled_district(dataset: str, seed: int) -> Months:
    """The same, and one district has twice as many in the last."""
    first, second, _ = of_one_law(dataset, seed)
    west, south, east, north = _district(dataset, second)
    inside = (second >= (west, south)).all(axis=1) & (second < (east, north)).all(axis=1)
    return first, second, np.concatenate([second, second[inside]])


def in_a_row(dataset: str, seed: int) -> Months:
    """Three calendar months, one after the other."""
    months = np.arange(FIRST_MONTH, np.datetime64(LAST_MONTH) - 1, dtype="datetime64[M]")
    first = months[seed % len(months)]
    return _month(dataset, first), _month(dataset, first + 1), _month(dataset, first + 2)


def long_before(dataset: str, seed: int) -> Months:
    """Two small months of the year before, and a calendar month."""
    months = np.arange(FIRST_MONTH, np.datetime64(LAST_MONTH) + 1, dtype="datetime64[M]")
    one, other = (_month(dataset, np.datetime64(name)) for name in LONG_BEFORE)
    return one, other, _month(dataset, months[seed % len(months)])


def misleading(dataset: str, seed: int) -> Months:
    """Calendar months in a row, in the first two of which blocks of the map have changed places."""
    first, second, third = in_a_row(dataset, seed)
    domain = DATASETS[dataset].domain
    return permuted(first, domain), permuted(second, domain), third


SAME, DOUBLED, IN_A_ROW = "nothing changed", "a district doubled", "months in a row"
LONG_AGO, MOVED = "months of the year before", "months before, moved"
BY_CALENDAR = (IN_A_ROW, LONG_AGO, MOVED)
MONTHS: Mapping[str, Callable[[str, int], Months]] = MappingProxyType(
    {
        SAME: of_one_law,
        DOUBLED: with_a_doubled_district,
        IN_A_ROW: in_a_row,
        LONG_AGO: long_before,
        MOVED: misleading,
    }
)


@dataclass(frozen=True, kw_only=True)
class MonthTrial(Seeded):
    """Three months published once, each for itself and as a series.

    Parameters
    ----------
    dataset : str
        A name in `DATASETS`.
    months : str
        A name in `MONTHS`.
    epsilon : float
        The budget of each month.
    seed : int
        Number of the run, and of its rectangles.

    Examples
    --------
    >>> MonthTrial(dataset="towns", months="nothing changed", epsilon=1.0, seed=0).seconds
    0.6
    """

    dataset: str
    months: str
    epsilon: float
    seed: int

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return CALENDAR_SECONDS if self.months in BY_CALENDAR else SECONDS

    def run(self) -> list[Row]:
        """One row: errors of the last month, and what was found between the last two."""
        source, months = DATASETS[self.dataset], MONTHS[self.months](self.dataset, self.seed)
        rects = workload(source.domain, source.largest_query, seed=self.seed).reshape(-1, 4)
        plain = [self._published(points, number) for number, points in enumerate(months)]
        series = plain[:1]
        for release in plain[1:]:
            series.append(sharpened(release, _density(series[-1])))
        assert series[-1].prior is not None
        row: Row = {
            "key": self.key,
            **asdict(self),
            "noise": NOISE,
            "version": __version__,
            "queries": ALL_SIZES,
            "points": len(months[-1]),
            "nats": series[-1].prior.nats,
            "used": series[-1].prior.used,
        }
        for mark, releases in (("", plain), (SERIES, series)):
            found = self._errors(releases[-1], months[-1], rects) | self._changes(releases, months, rects)
            row |= {mark + name: value for name, value in found.items()}
        return [rounded(row)]

    def _published(self, points: Floats, number: int) -> Synopsis:
        return publish(
            points,
            domain=DATASETS[self.dataset].domain,
            epsilon=self.epsilon,
            method=Staq(),
            prior="none",
            calibrate=False,
            rng=simulation_rng(self.noise_seed + number),
        )

    def _errors(self, release: Synopsis, points: Floats, rects: Floats) -> Row:
        truth, estimates = true_counts(points, rects), np.asarray(release.count(rects))
        return {
            "relative": float(relative_errors(estimates, truth, true_total=len(points)).mean()),
            "absolute": float(absolute_errors(estimates, truth).mean()),
        }

    def _changes(self, releases: list[Synopsis], months: Months, rects: Floats) -> Row:
        """How often intervals of differences hold, and what is discovered on blocks."""
        change = compare(*map(calibrated, releases[1:]), confidence=CONFIDENCE, rate=RATE)
        true_change = true_counts(months[2], rects) - true_counts(months[1], rects)
        asked = change.answer(rects)
        row: Row = {
            "held": float(((asked.low <= true_change) & (true_change <= asked.high)).mean()),
            "slope": float(np.sum(asked.difference * true_change) / max(1, np.sum(true_change**2))),
        }
        if self.months not in BY_CALENDAR:
            row |= self._discoveries(change, months)
        return row

    def _discoveries(self, change: Change, months: Months) -> Row:
        blocks = block_grid(change.before.domain, BLOCKS).bounds()
        found = change.answer(blocks)
        district = np.isclose(blocks, _district(self.dataset, months[1])).all(axis=1) & (self.months == DOUBLED)
        row: Row = {"alarm": float(np.asarray(found.significant)[~district].any())}
        if district.any():
            rise = true_counts(months[2], blocks[district]) - true_counts(months[1], blocks[district])
            discovered = np.asarray(found.significant)
            row["found"] = float(discovered[district].all())
            row["false_share"] = float((discovered & ~district).sum() / max(1, discovered.sum()))
            row["rise"] = float((np.asarray(found.difference)[district] / rise)[0])
        return row


def _density(release: Synopsis) -> ReleasedDensity:
    return ReleasedDensity(
        name="the month before", kind="release", sha256="0" * 64, synopsis=release, domain=release.domain
    )


def _district(dataset: str, points: Floats) -> Floats:
    """The fullest of the blocks that have few points."""
    domain: Domain = DATASETS[dataset].domain
    blocks = block_grid(domain, BLOCKS).bounds()
    counts = true_counts(points, blocks)
    return np.asarray(blocks[np.argmax(np.where(counts <= DISTRICT * len(points), counts, 0))])


@lru_cache(maxsize=1)  # trials come by data set
def _points(dataset: str) -> Floats:
    return DATASETS[dataset].points()


def _month(dataset: str, month: np.datetime64) -> Floats:
    points, months = _dated(dataset)
    return np.asarray(points[months == month])


@lru_cache(maxsize=1)
def _dated(dataset: str) -> tuple[Floats, NDArray[np.datetime64]]:
    """Points, and the month of each."""
    source = DATASETS[dataset]
    assert isinstance(source, TableDataset)
    points = source.column_values(*source.columns)
    times = pq.read_table(source.path, columns=[TIME])[TIME].to_numpy().astype("datetime64[M]")
    west, south, east, north = source.domain.bounds
    inside = ((points >= (west, south)) & (points <= (east, north))).all(axis=1)
    return points[inside], times[inside]
