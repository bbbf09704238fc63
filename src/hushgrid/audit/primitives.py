"""Tests of everything that is drawn at random.

Draws are compared with their law by chi-square, at the rate that the claim implies. They are taken from releases as
users make them. The laws are those of `hushgrid.audit.laws`, written down again from
the proofs. The true values are counted here, point by point.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.audit import laws
from hushgrid.audit.check import Check, Experiment, Setting, Verdict
from hushgrid.audit.examples import LARGE
from hushgrid.audit.laws import binary_p_value, chi_square_p_value, merged_p_value, mixed_p_value
from hushgrid.audit.neighbours import FAR, UNIT_SQUARE, even_points, heap
from hushgrid.inference.measurements import NoisyValues
from hushgrid.methods.baselines import OneCell
from hushgrid.methods.kd import KdTree
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.laplace import add_noise
from hushgrid.privacy.mixture import add_noise_each
from hushgrid.privacy.selection import flip_exp_each, permute_and_flip
from hushgrid.release.publish import publish
from hushgrid.synopsis.all_records import REGION_SIDE, AllRecords, bin_starts
from hushgrid.synopsis.synopsis import Synopsis

Test = tuple[float, int]  # a p-value, and how many draws it comes from

POINTS = even_points(400)
SAMPLER_RATES = (Fraction(1, 10), Fraction(1), Fraction(3))  # of the last, hardly a draw is far from zero
SLOW_RATE = Fraction(1, 2**44)  # at which two draws are hardly ever equal
LOW_DIGITS = 256
SAMPLER_SIDE = 400
TAIL_CAUTION = 3  # p-values as small as these come up to 2.3 times too often, with ten expected draws in a bin
MOST_RELEASES = 2  # for each run asked for
HALF = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """Something drawn at random, and its test."""

    title: str
    test: Callable[[Setting], Test]
    method: str | None = None

    def check(self, setting: Setting, error: float) -> tuple[Check, ...]:
        """Whether it follows its law."""
        p_value, draws = self.test(setting)
        least_p = error / TAIL_CAUTION
        flagged = p_value < least_p
        words = "What was drawn does not follow" if flagged else "What was drawn looks like"
        check = Check(
            part="noise",
            title=self.title,
            method=self.method,
            verdict=Verdict.FLAGGED if flagged else Verdict.PASSED,
            finding=f"{words} the law that the claim rests on.",
            runs=draws,
            p_value=p_value,
            least_p=least_p,
        )
        return (check,)


def noise_experiments(setting: Setting) -> Iterator[Experiment]:
    """Tests of all primitives and of each method's noise."""
    sampler = (
        Primitive(title=f"Noise of counts at rate {rate}", test=partial(sampler_test, rate)) for rate in SAMPLER_RATES
    )
    methods = (
        Primitive(title="Noise of everything measured", test=partial(method_test, name), method=name)
        for name in setting.methods
    )
    others = (
        Primitive(title="Noise of several rates at once", test=mixed_rates_test),
        Primitive(title="Low digits of much noise", test=low_digits_test),
        Primitive(title="Draws that were used before", test=repeated_draws_test),
        Primitive(title="Neighbouring draws", test=pairs_test),
        Primitive(title="Noise of the number of records", test=size_test),
        Primitive(title="Noise of a private total", test=total_test),
        Primitive(title="Noise of the number of all records, kept or not", test=kept_test),
        Primitive(title="Noise of users by their records", test=users_test),
        Primitive(title="Noise of all records by region", test=regions_test),
        Primitive(title="Coins", test=coin_test),
        Primitive(title="Choice of one of several candidates", test=selection_test),
        Primitive(title="Cuts of a kd-tree", test=cut_test),
        Primitive(title="Decisions of PrivTree to divide a cell", test=division_test),
    )
    for primitive in (*sampler, *others, *methods):
        yield Experiment(
            title=f"noise: {primitive.title} {primitive.method or ''}",
            statistical=1,
            run=partial(primitive.check, setting),
            weight=2.0,
        )


def released(points: Floats, setting: Setting, **arguments: object) -> Synopsis:
    """Publish once, by the front door."""
    options = {"epsilon": setting.epsilon, "calibrate": False, "rng": setting.rng, **arguments}
    made: Synopsis = publish(points, domain=UNIT_SQUARE, **options)  # type: ignore[call-overload]
    return made


def sampler_test(rate: Fraction, setting: Setting) -> Test:
    """Noise of a fine grid without points.

    The test is sharp enough for a rate five per cent off.
    """
    side = SAMPLER_SIDE // (1 + setting.quick)
    release = released(np.empty((0, 2)), setting, epsilon=rate, method=UniformGrid(side=side))
    return mixed_p_value({rate: release.measurements.leaves.values}), side**2


def mixed_rates_test(setting: Setting) -> Test:
    """Noise of many rates in one call.

    Trees whose paths spend differently draw like this.
    """
    rates = [Fraction(units, 1024) * setting.epsilon for units in (40, 171, 400, 1000)]
    draws = 400 * setting.runs
    index = np.arange(draws) % len(rates)
    noise = add_noise_each(np.zeros(draws, np.int64), rates=rates, rate_index=index, bits=setting.bits)
    return mixed_p_value({rate: noise[index == number] for number, rate in enumerate(rates)}), draws


def low_digits_test(setting: Setting) -> Test:
    """Last eight bits of noise of a huge scale.

    All values are equally likely, unless the noise was made from floats with too few bits.
    """
    rate = Fraction(1, 2**40)
    release = released(np.empty((0, 2)), setting, epsilon=rate, method=UniformGrid(side=LOW_DIGITS))
    draws = release.measurements.leaves.values
    found = np.bincount(draws % LOW_DIGITS, minlength=LOW_DIGITS)
    return chi_square_p_value(found, np.full(LOW_DIGITS, len(draws) / LOW_DIGITS)), len(draws)


def repeated_draws_test(setting: Setting) -> Test:
    """Noise so large that no two draws are equal.

    Equal draws, up to their sign, mean that one was used twice. The draws come from calls longer than a block, from
    several calls, and from two releases.
    """
    bits = setting.bits
    parts = [add_noise(np.zeros(20_000, np.int64), rate=SLOW_RATE, bits=bits) for _ in range(2)]
    grid = UniformGrid(side=60)
    releases = (released(np.empty((0, 2)), setting, epsilon=SLOW_RATE, method=grid) for _ in range(2))
    parts += [release.measurements.leaves.values for release in releases]
    draws = np.abs(np.concatenate(parts))
    pairs = len(draws) ** 2 / 2
    equal = len(draws) - len(np.unique(draws))
    # Each pair is alike with probability about the rate.
    return (1.0 if equal == 0 else (pairs * float(SLOW_RATE)) ** equal), len(draws)


def pairs_test(setting: Setting) -> Test:
    """Whether a draw tells anything about another.

    The other is the next, the one half a call away, or the one as far from the end.
    """
    noise = add_noise(np.zeros(60 * setting.runs, np.int64), rate=Fraction(1, 2), bits=setting.bits)
    half = len(noise) // 2
    p_values = [_joint_p_value(noise[::2], noise[1::2]), _joint_p_value(noise[:half], noise[half:])]
    p_values.append(_joint_p_value(noise[:half], noise[::-1][:half]))
    return min(1.0, len(p_values) * min(p_values)), len(noise)


def _joint_p_value(first: Indices, second: Indices) -> float:
    """P-value of pairs of draws of rate 1/2.

    Each draw is put into one of seven bins; pairs should be independent.
    """
    bins = np.arange(-2, 4)  # up to -3, -2, -1, 0, 1, 2, from 3 on
    chances = np.exp(laws.log_laplace(np.arange(-80, 81), 0.5))
    share = np.bincount(np.searchsorted(bins, np.arange(-80, 81), side="right"), weights=chances)
    share = share / share.sum()
    place = len(share) * np.searchsorted(bins, first, side="right") + np.searchsorted(bins, second, side="right")
    expected = len(first) * np.outer(share, share).ravel()
    return chi_square_p_value(np.bincount(place, minlength=len(expected)), expected)


def size_test(setting: Setting) -> Test:
    """Noisy sizes of one record, at half of epsilon."""
    options = {"method": UniformGrid(), "size_share": HALF}
    releases = (released(heap(FAR, 1), setting, **options) for _ in range(4 * setting.runs))
    draws = np.array([release.claim.size.value - 1 for release in releases if release.claim.size])
    return mixed_p_value({laws.size_rate(setting.epsilon, HALF): draws}), len(draws)


def total_test(setting: Setting) -> Test:
    """Private totals that counts are scaled to."""
    draws = _noise_of_totals(setting, 4 * setting.runs, scale_to_total="private")
    return mixed_p_value({laws.total_rate(setting.epsilon, TOTAL_CAP): draws}), len(draws)


def kept_test(setting: Setting) -> Test:
    """Private totals that say which share of the records was kept."""
    draws = _noise_of_totals(setting, 8 * setting.runs)
    return mixed_p_value({laws.total_rate(setting.epsilon, TOTAL_CAP, laws.KEPT_SHARE): draws}), len(draws)


def users_test(setting: Setting) -> Test:
    """Users by their records: two have one, one has nine."""
    true_users = np.zeros(len(bin_starts(1)), np.int64)
    true_users[[0, bin_starts(1).index(8)]] = 2, 1
    draws = np.concatenate([known.users - true_users for known in _all_records(setting, max(setting.runs // 2, 1))])
    return mixed_p_value({laws.users_rate(setting.epsilon): draws}), len(draws)


def regions_test(setting: Setting) -> Test:
    """All records by region; nine of one user weigh as much as two."""
    columns, rows = np.floor(REGION_SIDE * even_points(11)).astype(np.int64).T
    weights = np.array([TOTAL_CAP * laws.RECORD_WEIGHT // 9] * 9 + [laws.RECORD_WEIGHT] * 2)
    true_regions = np.zeros(REGION_SIDE**2, np.int64)
    np.add.at(true_regions, REGION_SIDE * rows + columns, weights)
    found = (known.regions - true_regions for known in _all_records(setting, max(setting.runs // 20, 1)))
    draws = np.concatenate(list(found))
    return mixed_p_value({laws.regions_rate(setting.epsilon, TOTAL_CAP): draws}), len(draws)


def _all_records(setting: Setting, draws: int) -> Iterator[AllRecords]:
    """What releases know of all records of three users."""
    for release in _of_three_users(setting, draws, estimate="all-records"):
        if release.scale is not None and release.scale.all_records is not None:
            yield release.scale.all_records


TOTAL_CAP = 2


def _noise_of_totals(setting: Setting, draws: int, **options: Any) -> Indices:
    """Noise in the totals of three users."""
    releases = _of_three_users(setting, draws, **options)
    return np.array([release.claim.total.value - (TOTAL_CAP + 2) for release in releases if release.claim.total])


def _of_three_users(setting: Setting, draws: int, **options: Any) -> Iterator[Synopsis]:
    """Releases of three users, who have one, one and nine records."""
    points, users = even_points(11), np.array(["heavy"] * 9 + ["one", "other"], object)
    options |= {"user": users, "max_per_user": 1, "max_for_total": TOTAL_CAP}
    return (released(points, setting, method=OneCell(), **options) for _ in range(draws))


COIN_RATE, GAPS = Fraction(1, 3), np.arange(1, 9)


def coin_test(setting: Setting) -> Test:
    """Coins that show heads with probability exp(-rate gap)."""
    flips = 20 * setting.runs
    found = flip_exp_each(np.tile(GAPS, (flips, 1)), rate=COIN_RATE, bits=setting.bits).sum(axis=0)
    return binary_p_value(found, np.full(len(GAPS), flips), laws.heads(GAPS, float(COIN_RATE))), flips * len(GAPS)


SCORES = np.array([-5, -1, 0, -2, -3])


def selection_test(setting: Setting) -> Test:
    """Choice among five candidates, by permute-and-flip."""
    rows = 10 * setting.runs
    allowed = np.ones((rows, len(SCORES)), bool)
    chosen = permute_and_flip(np.tile(SCORES, (rows, 1)), allowed, rate=HALF, bits=setting.bits)
    return merged_p_value(np.bincount(chosen, minlength=len(SCORES)), rows * laws.choice(SCORES, 0.5)), rows


CUT = KdTree(height=1, median_share=0.5, stop_below=0)
STRIPS = 1024  # of a node; the lines between them, which are public, may cut it


def cut_test(setting: Setting) -> Test:
    """Where a kd-tree makes its one cut.

    Half of epsilon is for the choice, so coins have probability exp(-(ε/4) gap).

    One line of a thousand balances, and all others are so much worse that about one of their coins shows heads. Then
    the share of the best line depends most on the rate.
    """
    rate = float(setting.epsilon * HALF / 2)
    each = math.ceil(math.log(STRIPS) / rate / 2)
    points = np.array([[0.4998, 0.5]] * each + [[0.5002, 0.5]] * each)
    below = (points[:, 0] < np.arange(1, STRIPS)[:, None] / STRIPS).sum(axis=1)
    law = laws.choice(-np.abs(2 * below - len(points)), rate)
    found = np.zeros(len(points) + 1, np.int64)
    for _ in range(4 * setting.runs):
        bounds = released(points, setting, method=CUT).partition.bounds()
        if len(bounds) == 2:  # else the noisy count of all was below zero, and nothing was cut
            found[below[round(STRIPS * float(bounds[:, 0].max())) - 1]] += 1
    expected = found.sum() * np.bincount(below, weights=law, minlength=len(found))
    return merged_p_value(found, expected), int(found.sum())


DIVISION_DEPTH = 4
DIVISION_POINTS = np.concatenate([heap((0.1, 0.1), 9), heap((0.7, 0.7), 25)])


def division_test(setting: Setting) -> Test:
    """PrivTree's decisions, level by level.

    They are made on stacks of records and on empty cells, with half of epsilon.
    """
    rate = laws.privtree_rate(HALF * setting.epsilon)
    trials: dict[tuple[int, int], list[int]] = {}
    for _ in range(setting.runs):
        tree = released(DIVISION_POINTS, setting, method=PrivTree(depth=DIVISION_DEPTH)).partition.bounds()
        for cell, divided in _decisions(tree):
            kind = trials.setdefault((cell[0], _count(DIVISION_POINTS, cell)), [0, 0])
            kind[divided] += 1
    found = np.array(list(trials.values()))
    law = [laws.positive(laws.privtree_evidence(np.array([c]), level, rate), float(rate))[0] for level, c in trials]
    return binary_p_value(found[:, 1], found.sum(axis=1), np.array(law)), int(found.sum())


def _decisions(bounds: Floats) -> Iterator[tuple[tuple[int, int, int], bool]]:
    """Cells of a quadtree, and whether each was divided.

    A cell is (level, column, row); decisions follow from the bounds of the leaves.
    """
    inner = set()
    for west, south, east, _north in bounds.tolist():
        level = round(-np.log2(east - west))
        column, row = round(west * 2**level), round(south * 2**level)
        if level < DIVISION_DEPTH:
            yield (level, column, row), False
        inner |= {(level - up, column >> up, row >> up) for up in range(1, level + 1)}
    yield from ((cell, True) for cell in inner)


def _count(points: Floats, cell: tuple[int, int, int]) -> int:
    level, column, row = cell
    return int(np.sum(np.all(np.floor(points * 2**level) == [column, row], axis=1)))


def method_test(name: str, setting: Setting) -> Test:
    """Noise of all measurements of a method.

    It is tested at the rates that the releases state, which `verify` adds up to the claim.
    """
    method = LARGE[name]
    drawn: dict[Fraction, list[Indices]] = {}
    draws = releases = 0
    while draws < 10 * setting.runs and releases < MOST_RELEASES * setting.runs:
        for measured, true_values in with_truth(released(POINTS, setting, method=method), POINTS):
            for index, rate in enumerate(measured.rates):
                noise = (measured.values - true_values)[measured.rate_index == index]
                drawn.setdefault(rate, []).append(noise)
                draws += len(noise)
        releases += 1
    return mixed_p_value({rate: np.concatenate(parts) for rate, parts in drawn.items()}), draws


def with_truth(release: Synopsis, points: Floats) -> Iterator[tuple[NoisyValues, Indices]]:
    """Measurements of a release, with their true values.

    Points are counted one by one.
    """
    measurements = release.measurements
    true_counts = plain_counts(release.partition.bounds(), points)
    running = np.concatenate([[0], np.cumsum(true_counts)])
    yield measurements.leaves, true_counts
    yield measurements.region_values, running[measurements.regions.stop] - running[measurements.regions.first]
    if measurements.wavelet is not None:
        side = round(len(true_counts) ** 0.5)
        padded = np.zeros((measurements.wavelet.rows, measurements.wavelet.columns), np.int64)
        padded[:side, :side] = true_counts.reshape(side, side)
        yield measurements.wavelet.coefficients, plain_haar(plain_haar(padded).T).T.ravel()


def plain_counts(bounds: Floats, points: Floats) -> Indices:
    """Points in each leaf, none on an edge."""
    true_counts = np.zeros(len(bounds), np.int64)
    west, south, east, north = bounds.T
    for x, y in points:
        true_counts[np.flatnonzero((west <= x) & (x < east) & (south <= y) & (y < north))] += 1
    return true_counts


def plain_haar(rows: Indices) -> Indices:
    """Haar coefficients of each row.

    They are the sum of the row, then left halves less right halves of ever smaller blocks.

    Examples
    --------
    >>> plain_haar(np.array([[5, 3, 1, 1]])).tolist()
    [[10, 6, 2, 0]]
    """
    parts: list[Indices] = []
    while rows.shape[1] > 1:
        parts.insert(0, rows[:, ::2] - rows[:, 1::2])
        rows = rows[:, ::2] + rows[:, 1::2]
    return np.concatenate([rows, *parts], axis=1)
