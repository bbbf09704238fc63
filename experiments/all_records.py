"""How well all records can be estimated, kept or not, at user level. Not private, and no release.

``python -m experiments.all_records`` tries an estimator of all records on check-ins and on made-up users, and compares
it with kept records that are scaled to one total, public or private, with K chosen in hindsight. The estimator spends
its budget on four things, all with the sensitivity of a user:

1. how many users have 1, 2, 3, 4 to 5, ... records, of which a user changes one number by one;
2. the total, at most B records of each user, with what B cuts off added from 1;
3. the shape: K records of each user, by STAQ, scaled to the total;
4. regions: all records on a coarse public grid, those of a user with more than B weighing B together.

Each region's ratio of 4 to 3 corrects the shape, as far as it is to be believed: how much regions differ is learned
from all of them. Noise is numpy's, because nothing here is released.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.special import ndtr

from experiments.crowds import CROWDS, Crowd
from experiments.metrics import absolute_errors, relative_errors
from hushgrid.geometry.domain import Domain
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from hushgrid.synopsis.answer import normal_reach
from hushgrid.synopsis.synopsis import Synopsis

Floats = NDArray[np.float64]

SHARES = {"histogram": 0.05, "total": 0.10, "regions": 0.20, "shape": 0.65}
BOUNDS = (5, 10, 20, 50)  # K of counts that are scaled to one total; the best is chosen in hindsight
STARTS = np.array([1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024])
RATIO_DEVIATIONS = (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5)  # of regions' ratios around one, to choose among
SIZES = 6
MISFIT = 0.2  # of a law's share of users in a bin, relative: no law is right
BELIEVED = 1e12  # variance around a law that a bin does not follow


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """How many users have how many records, as far as noisy bins tell.

    Bins that drown in noise follow a log-normal law that was fitted to all; one that stands three deviations off is
    believed as it is.
    """

    counts: Floats
    covariances: Floats

    @classmethod
    def of(cls, sizes: NDArray[np.int64], epsilon: float, rng: np.random.Generator) -> "Histogram":
        """Measured with that budget: a user is in one bin."""
        bins = np.searchsorted(STARTS, sizes, side="right") - 1
        noise = 2 / epsilon**2
        measured = np.bincount(bins, minlength=len(STARTS)) + rng.laplace(scale=1 / epsilon, size=len(STARTS))
        fitted, spread = _fitted(measured, noise)
        off = np.abs(measured - fitted) > 3 * np.sqrt(np.diag(spread) + (MISFIT * fitted) ** 2 + noise)
        prior = spread + np.diag((MISFIT * fitted) ** 2 + np.where(off, BELIEVED, 1e-9))
        gain = prior @ np.linalg.inv(prior + noise * np.eye(len(STARTS)))
        return cls(counts=fitted + gain @ (measured - fitted), covariances=prior - gain @ prior)

    def above(self, cap: int) -> tuple[float, float]:
        """Records above a cap, and the variance of that figure."""
        over = np.maximum(MEANS - cap, 0)
        return float(self.counts @ over), float(over @ self.covariances @ over)

    def unevenness(self, bound: int, total: float) -> float:
        """Variance that keeping K records of a user causes, for each record of an area.

        If all records of a user are in one area, it is the sum of (n - f min(n, K))^2 over users, by the total; f is
        the factor that kept records are scaled by.
        """
        kept, counts = np.minimum(MEANS, bound), np.maximum(self.counts, 0)
        factor = total / max(float(counts @ kept), 1.0)
        return float(counts @ (MEANS - factor * kept) ** 2) / max(total, 1.0)


# Mean records of a user in each bin, if the chance of n records falls as 1/n there; the last bin has no end.
MEANS = np.append([(b - a) / np.sum(1 / np.arange(a, b)) for a, b in pairwise(STARTS)], 1.35 * STARTS[-1])


def _laws() -> Floats:
    """Shares of users by bin, under laws that fall fast (log-normal) and slowly (Lomax); shape (laws, bins)."""
    edges = STARTS[1:] - 0.5
    means, deviations = np.meshgrid(np.arange(-1, 7.01, 0.1), np.arange(0.1, 3.01, 0.1))
    below = ndtr((np.log(edges) - means.ravel()[:, None]) / deviations.ravel()[:, None])
    exponents, shifts = np.meshgrid(np.geomspace(0.7, 8, 30), np.geomspace(0.3, 300, 30))
    slow = 1 - (1 + (edges - 0.5) / shifts.ravel()[:, None]) ** -exponents.ravel()[:, None]
    return np.diff(np.pad(np.concatenate([below, slow]), ((0, 0), (1, 1)), constant_values=(0, 1)), axis=1)


LAWS = _laws()


def _fitted(measured: Floats, noise: float) -> tuple[Floats, Floats]:
    """Users by bin under all laws, weighed by how well each fits, and the covariance of that."""
    seen = np.maximum(measured, 0)
    weights = 1 / (noise + seen + (MISFIT * seen) ** 2)
    users = np.maximum((LAWS * measured * weights).sum(axis=1) / (LAWS**2 * weights).sum(axis=1), 1)
    expected = users[:, None] * LAWS
    misfit = (weights * (measured - expected) ** 2).sum(axis=1)
    likely = np.exp(-0.5 * (misfit - misfit.min()))
    likely /= likely.sum()
    mean = likely @ expected
    return mean, (expected - mean).T @ (likely[:, None] * (expected - mean))


@dataclass(frozen=True, kw_only=True)
class Total:
    """An estimate of all records, the cap that it was measured with, and its standard deviation."""

    value: float
    capped: float
    cap: int
    deviation: float

    @classmethod
    def of(cls, sizes: NDArray[np.int64], histogram: Histogram, epsilon: float, rng: np.random.Generator) -> "Total":
        """With the cap that promises the least error."""
        errors = [2 * (cap / epsilon) ** 2 + histogram.above(cap)[1] for cap in STARTS]
        cap = int(STARTS[np.argmin(errors)])
        capped = float(np.minimum(sizes, cap).sum() + rng.laplace(scale=cap / epsilon))
        value = capped + histogram.above(cap)[0]
        return cls(value=value, capped=capped, cap=cap, deviation=float(np.sqrt(min(errors))))


@dataclass(frozen=True, kw_only=True, eq=False)
class RegionRatios:
    """What each region's count is multiplied by, and the variance of that factor."""

    boxes: Floats
    ratios: Floats
    variances: Floats

    @classmethod
    def of(
        cls,
        crowd: Crowd,
        shape: Synopsis,
        total: Total,
        *,
        side: int,
        rate: float,
        uneven: float,
        rng: np.random.Generator,
    ) -> "RegionRatios":
        """Ratios of all records, which weigh B a user at most, to the shape.

        The ratios of regions follow a normal law around one. Its deviation is the one under which the measurements are
        likeliest.
        """
        boxes = _squares(crowd.domain, side)
        weights = np.minimum(1, total.cap / crowd.sizes)
        owners = np.unique(crowd.records.true_users, return_inverse=True)[1]
        west, south, east, north = crowd.domain.bounds
        points = (crowd.records.true_points - (west, south)) / (east - west, north - south)
        columns, rows = np.minimum((points * side).astype(int), side - 1).T
        weighed = np.bincount(rows * side + columns, weights=weights[owners], minlength=side**2)
        scale = total.value / max(total.capped, 1.0)
        measured = scale * (weighed + rng.laplace(scale=total.cap / rate, size=side**2))
        answer, factor = shape.answer(boxes), total.value / max(shape.total, 1.0)
        expected = factor * np.asarray(answer.estimate)
        own = 2 * (scale * total.cap / rate) ** 2 + (factor * np.asarray(answer.noise_std)) ** 2
        own = own + uneven * np.maximum(expected, 0)
        prior = max(
            RATIO_DEVIATIONS,
            key=lambda deviation: _log_likelihood(measured - expected, own + (deviation * expected) ** 2),
        )
        precision = expected**2 / own
        variances = prior**2 / (1 + prior**2 * precision)
        ratios = np.clip(1 + variances * precision * (measured / np.where(expected == 0, 1, expected) - 1), 0.2, 5)
        ratios *= total.value / max(float(ratios @ expected), 1.0)
        return cls(boxes=boxes, ratios=ratios, variances=variances)

    def corrected(self, shape: Synopsis, rects: Floats) -> tuple[Floats, Floats]:
        """Counts of rectangles, each part by the ratio of its region, and the variance that the ratios cause."""
        low, high = (
            np.maximum(rects[:, None, :2], self.boxes[:, :2]),
            np.minimum(rects[:, None, 2:], self.boxes[:, 2:]),
        )
        which, region = np.nonzero((low < high).all(axis=-1))
        parts = np.asarray(shape.count(np.concatenate([low[which, region], high[which, region]], axis=1)))
        counts, variances = np.zeros(len(rects)), np.zeros(len(rects))
        np.add.at(counts, which, parts * self.ratios[region])
        np.add.at(variances, which, parts**2 * self.variances[region])
        return counts, variances


def _log_likelihood(residuals: Floats, variances: Floats) -> float:
    return float(-0.5 * np.sum(np.log(variances) + residuals**2 / variances))


def _squares(domain: Domain, side: int) -> Floats:
    x, y = np.linspace(domain.west, domain.east, side + 1), np.linspace(domain.south, domain.north, side + 1)
    rows, columns = np.divmod(np.arange(side**2), side)
    return np.stack([x[columns], y[rows], x[columns + 1], y[rows + 1]], axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimates:
    """Estimates of all records in rectangles, with standard deviations."""

    values: Floats
    deviations: Floats
    off: float  # of the total, relative


def all_records(crowd: Crowd, epsilon: float, seed: int, *, private: bool = True) -> Estimates:
    """The estimator: histogram, total, shape and regions.

    With a public total, what the private one would cost goes to the shape.
    """
    rng = np.random.default_rng(seed)
    shares = {name: share * epsilon for name, share in SHARES.items()}
    histogram = Histogram.of(crowd.sizes, shares["histogram"], rng)
    true_total = len(crowd.records.true_points)
    total = Total.of(crowd.sizes, histogram, shares["total"], rng)
    if not private:
        capped = true_total - histogram.above(total.cap)[0]
        total = replace(total, value=float(true_total), capped=capped, deviation=0.0)
        shares["shape"] += shares["total"]
    bound = max(1, round(20 * epsilon**0.57))
    shape = _shape(crowd, bound, shares["shape"], seed, rng)
    uneven = histogram.unevenness(bound, total.value)
    side = 8 if epsilon > 2 else 16
    regions = RegionRatios.of(crowd, shape, total, side=side, rate=shares["regions"], uneven=uneven, rng=rng)
    rects, factor = crowd.records.rects, total.value / max(shape.total, 1.0)
    counts, by_ratio = regions.corrected(shape, rects)
    values, answer = factor * counts, shape.answer(rects)
    own = np.asarray(answer.noise_std) ** 2 + np.asarray(answer.spread_std) ** 2
    plain = np.asarray(answer.estimate)
    ratio = np.clip(counts / np.where(plain > 0, plain, 1), 0.2, 5)
    inside = np.clip(values, 0, total.value)
    by_users = uneven * inside * (1 - inside / max(total.value, 1.0))
    by_total = (total.deviation / max(total.value, 1.0) * values) ** 2
    variances = factor**2 * (ratio**2 * own + by_ratio) + by_users + by_total
    return Estimates(values=values, deviations=np.sqrt(variances), off=total.value / true_total - 1)


def scaled(crowd: Crowd, bound: int, epsilon: float, seed: int, *, private: bool) -> Estimates:
    """Kept records scaled to a total, with deviations by noise and spread alone."""
    rng = np.random.default_rng(seed)
    shape = _shape(crowd, bound, epsilon, seed, rng)
    true_total = len(crowd.records.true_points)
    capped = np.minimum(crowd.sizes, 10 * bound).sum() + rng.laplace(scale=10 * bound / (0.05 * epsilon))
    factor = max(capped if private else true_total, 1.0) / max(shape.total, 1.0)
    answer = shape.answer(crowd.records.rects)
    deviations = factor * np.hypot(np.asarray(answer.noise_std), np.asarray(answer.spread_std))
    values = factor * np.asarray(answer.estimate)
    return Estimates(values=values, deviations=deviations, off=factor * shape.total / true_total - 1)


def _shape(crowd: Crowd, bound: int, epsilon: float, seed: int, rng: np.random.Generator) -> Synopsis:
    kept = crowd.kept(bound, rng)
    rate = f"{epsilon / bound:.12f}"
    return publish(kept, domain=crowd.domain, epsilon=rate, method="staq", calibrate=False, rng=simulation_rng(seed))


@dataclass(frozen=True, kw_only=True, eq=False)
class Score:
    """Errors of an estimator, and how often its intervals hold the truth, by size of query."""

    relative: float
    absolute: float
    off: float
    coverage: Floats

    @classmethod
    def of(cls, crowd: Crowd, runs: Sequence[Estimates]) -> "Score":
        """Over all runs."""
        truth = crowd.records.true_answers.reshape(-1)
        total, reach = len(crowd.records.true_points), normal_reach(0.95)
        held = [np.abs(run.values - truth) <= reach * run.deviations for run in runs]
        return cls(
            relative=float(np.mean([relative_errors(run.values, truth, true_total=total).mean() for run in runs])),
            absolute=float(np.mean([absolute_errors(run.values, truth).mean() for run in runs])),
            off=float(np.sqrt(np.mean([run.off**2 for run in runs]))),
            coverage=np.mean(held, axis=0).reshape(SIZES, -1).mean(axis=1),
        )


def rows_of(crowd: Crowd, epsilon: float, runs: int) -> dict[str, Score]:
    """Scores of the estimator, and of the best K with either total."""
    found = {}
    for private in (False, True):
        kind = "private" if private else "public"
        estimates = [all_records(crowd, epsilon, seed, private=private) for seed in range(runs)]
        found[f"{kind} total, regions"] = Score.of(crowd, estimates)
        scores = {
            bound: Score.of(crowd, [scaled(crowd, bound, epsilon, seed, private=private) for seed in range(runs)])
            for bound in BOUNDS
        }
        best = min(scores, key=lambda bound: scores[bound].absolute)
        found[f"{kind} total, K = {best}"] = scores[best]
    return found


@click.command()
@click.option("--crowd", "names", multiple=True, type=click.Choice(list(CROWDS)), help="All of them if not given.")
@click.option("--epsilon", "epsilons", multiple=True, default=(1.0, 5.0), show_default=True, type=float)
@click.option("--runs", default=3, show_default=True, type=click.IntRange(min=1))
def main(names: tuple[str, ...], epsilons: tuple[float, ...], runs: int) -> None:
    """Show errors of estimates of all records. NOT PRIVATE: errors are against the truth."""
    table = Table(box=None, pad_edge=False)
    for heading in (
        "users",
        "epsilon",
        "estimate",
        "relative",
        "absolute",
        "total off",
        "95 % hold",
        "by size, small first",
    ):
        table.add_column(heading, justify="left" if heading in ("users", "estimate") else "right")
    for name in names or CROWDS:
        crowd = CROWDS[name]()
        for epsilon in epsilons:
            for estimate, score in rows_of(crowd, epsilon, runs).items():
                figures = (
                    f"{score.relative:.3f}",
                    f"{score.absolute:.0f}",
                    f"{score.off:.1%}",
                    f"{score.coverage.mean():.0%}",
                )
                by_size = " ".join(f"{share:.0%}" for share in score.coverage)
                table.add_row(name, f"{epsilon:g}", estimate, *figures, by_size)
    Console(width=140).print(table)


if __name__ == "__main__":
    main(prog_name="python -m experiments.all_records")
