"""Everything that is drawn at random, held against its exact law at its own rate, by chi-square.

The noise of counts and sizes is what releases show beyond the true values; decisions and choices are run by themselves.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hushgrid.audit.check import Check, Experiment, Setting, Verdict
from hushgrid.audit.examples import LARGE
from hushgrid.audit.goodness import SMALLEST_EXPECTED, chi_square_p_value, mixed_p_value, pooled_p_value
from hushgrid.audit.laws import heads_law, permute_and_flip_law, positive_law
from hushgrid.audit.neighbours import FAR, HALF, UNIT_SQUARE, publications
from hushgrid.counting.memory import ArrayPoints
from hushgrid.counting.point_counter import PointCounter
from hushgrid.geometry.quadrants import Quadrants
from hushgrid.inference.haar import transform
from hushgrid.inference.measurements import Measured
from hushgrid.methods.method import Method
from hushgrid.methods.privtree import PrivTree, bias, biased, decision_rate
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.coin import flip_exp_each
from hushgrid.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

Indices = NDArray[np.int64]
Test = tuple[float, int]  # a p-value, and how many draws it comes from

PLASTIC = 1.32471795724474602596  # x**3 = x + 1; its powers fill the plane evenly (Roberts 2018, sequence R2)
POINTS = np.outer(np.arange(1, 2001), [1 / PLASTIC, 1 / PLASTIC**2]) % 1
SAMPLER_RATES = (Fraction(1, 10), Fraction(1), Fraction(3))  # of the last, hardly a draw is far from zero
TINY = Fraction(1, 2**40)
LOW_DIGITS = 256
MOST_CELLS_A_SIDE = 1000
TAIL_CAUTION = 3  # p-values as small as these come up to 2.3 times too often, with ten expected draws in a bin
MOST_RELEASES = 4  # for each run asked for


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """Something drawn at random, and the test of its law."""

    title: str
    test: Callable[[Setting], Test]
    method: str | None = None

    def check(self, setting: Setting, error: float) -> Check:
        """Whether it follows its law."""
        p_value, draws = self.test(setting)
        least_p = error / TAIL_CAUTION
        flagged = p_value < least_p
        words = "What was drawn does not follow" if flagged else "What was drawn looks like"
        return Check(
            part="noise",
            title=self.title,
            method=self.method,
            verdict=Verdict.FLAGGED if flagged else Verdict.PASSED,
            finding=f"{words} the law that the claim rests on.",
            runs=draws,
            p_value=p_value,
            least_p=least_p,
        )


def experiments(setting: Setting) -> Iterator[Experiment]:
    """Tests of all primitives, and of the noise of each method asked for."""
    sampler = (
        Primitive(title=f"Noise of counts at rate {rate}", test=partial(sampler_test, rate)) for rate in SAMPLER_RATES
    )
    methods = (
        Primitive(title="Noise of everything measured", test=partial(method_test, LARGE[name]), method=name)
        for name in setting.methods
    )
    others = (
        Primitive(title="Low digits of much noise", test=low_digits_test),
        Primitive(title="Noise of the number of records", test=size_test),
        Primitive(title="Coins", test=coin_test),
        Primitive(title="Choice of one of several candidates", test=selection_test),
        Primitive(title="Decisions to divide a cell", test=split_test),
    )
    for primitive in (*sampler, *others, *methods):
        yield Experiment(title=primitive.title, statistical=True, run=partial(primitive.check, setting))


def sampler_test(rate: Fraction, setting: Setting) -> Test:
    """Noise of the counts of a fine grid without points; sharp enough for a rate five per cent off."""
    side = min(20 * round(setting.runs**0.5), MOST_CELLS_A_SIDE)
    (release,) = publications((), 1, rate, UniformGrid(side=side), rng=setting.rng)
    return mixed_p_value({rate: release.measurements.leaves.values}), side**2


def low_digits_test(setting: Setting) -> Test:
    """Last eight bits of noise of a huge scale: all alike, unless it was made from floats with too few bits."""
    (release,) = publications((), 1, TINY, UniformGrid(side=LOW_DIGITS), rng=setting.rng)
    draws = release.measurements.leaves.values
    found = np.bincount(draws % LOW_DIGITS, minlength=LOW_DIGITS)
    return chi_square_p_value(found, np.full(LOW_DIGITS, len(draws) / LOW_DIGITS)), len(draws)


def size_test(setting: Setting) -> Test:
    """Noisy sizes of releases of one record, at half of epsilon."""
    releases = publications((FAR,), 4 * setting.runs, setting.epsilon, UniformGrid(), rng=setting.rng, size_share=HALF)
    draws = np.array([release.claim.size.value - 1 for release in releases if release.claim.size])
    return mixed_p_value({HALF * setting.epsilon: draws}), len(draws)


def method_test(method: Method, setting: Setting) -> Test:
    """Noise of all the measurements of a method, at the rates that its releases state."""
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(POINTS))
    drawn: dict[Fraction, list[Indices]] = {}
    draws = releases = 0
    while draws < 10 * setting.runs and releases < MOST_RELEASES * setting.runs:
        release = publish(
            POINTS, domain=UNIT_SQUARE, epsilon=setting.epsilon, method=method, calibrate=False, rng=setting.rng
        )
        for measured, true_values in with_truth(release, counter):
            for index, rate in enumerate(measured.rates):
                noise = (measured.values - true_values)[measured.rate_index == index]
                drawn.setdefault(rate, []).append(noise)
                draws += len(noise)
        releases += 1
    return mixed_p_value({rate: np.concatenate(parts) for rate, parts in drawn.items()}), draws


def with_truth(release: Synopsis, counter: PointCounter) -> Iterator[tuple[Measured, Indices]]:
    """Every measurement of a release, and the true values."""
    measurements, partition = release.measurements, release.partition
    true_counts = counter.count(partition)
    running = np.concatenate([[0], np.cumsum(true_counts)])
    yield measurements.leaves, true_counts
    yield measurements.region_values, running[measurements.regions.stop] - running[measurements.regions.first]
    if measurements.wavelet is not None:
        side = round(len(true_counts) ** 0.5)
        yield measurements.wavelet.coefficients, transform(true_counts.reshape(side, side)).ravel()


COIN_RATE, GAPS = Fraction(1, 3), np.arange(1, 9)


def coin_test(setting: Setting) -> Test:
    """Coins that come up heads with probability exp(-rate gap)."""
    flips = 20 * setting.runs
    heads = flip_exp_each(np.tile(GAPS, (flips, 1)), rate=COIN_RATE, bits=setting.bits).sum(axis=0)
    return binary_p_value(heads, flips, heads_law(GAPS, COIN_RATE)), flips * len(GAPS)


SCORES = np.array([-5, -1, 0, -2, -3])


def selection_test(setting: Setting) -> Test:
    """One of five candidates, at half the epsilon that is charged."""
    rows = 10 * setting.runs
    budget = Budget(setting.epsilon, bits=setting.bits)
    chosen = budget.select(np.tile(SCORES, (rows, 1)), np.ones((rows, len(SCORES)), bool), Fraction(1))
    expected = rows * permute_and_flip_law(SCORES, setting.epsilon / 2)
    # Candidates that are hardly ever chosen are merged into one with the best.
    kept = expected >= SMALLEST_EXPECTED
    observed = np.bincount(chosen, minlength=len(SCORES))
    best = int(np.argmax(SCORES))
    observed[best] += observed[~kept].sum()
    expected[best] += expected[~kept].sum()
    return chi_square_p_value(observed[kept], expected[kept]), rows


LEVEL = 4


@dataclass(frozen=True)
class LevelCounter:
    """Cells that are surely divided above one level, and hold known numbers of records on it."""

    true_counts: Indices

    @property
    def domain(self) -> object:
        """The unit square."""
        return UNIT_SQUARE

    def count(self, partition: Quadrants) -> Indices:
        """Records in every cell, by its level and its place."""
        return np.where(partition.levels < LEVEL, 10**9, self.true_counts[partition.codes % len(self.true_counts)])


def split_test(setting: Setting) -> Test:
    """PrivTree's decisions to divide cells below, at and above the threshold."""
    rate = decision_rate(HALF * setting.epsilon)
    step = bias(rate)
    true_counts = np.maximum(LEVEL * step + np.round(np.arange(-4, 4) * step / 4).astype(np.int64), 0)
    counter, cells = LevelCounter(true_counts), 4**LEVEL // len(true_counts)
    releases = max(4, setting.runs // 10)
    divided = np.zeros(len(true_counts), np.int64)
    for _ in range(releases):
        budget = Budget(setting.epsilon, bits=setting.bits)
        tree = PrivTree(depth=LEVEL + 1).release(counter, budget).partition  # type: ignore[arg-type]
        inner = tree.child_counts[slice(*tree.levels[LEVEL : LEVEL + 2])] > 0  # type: ignore[attr-defined]
        divided += inner.reshape(-1, len(true_counts)).sum(axis=0)
    law = positive_law(biased(true_counts, LEVEL, rate), rate)
    return binary_p_value(divided, releases * cells, law), releases * 4**LEVEL


def binary_p_value(heads: Indices, flips: int, law: NDArray[np.float64]) -> float:
    """Of several kinds of coins, so many flips of each; kinds of which one side is rarely expected are left out."""
    expected = flips * np.stack([law, 1 - law], axis=1)
    observed = np.stack([heads, flips - heads], axis=1)
    telling = expected.min(axis=1) >= SMALLEST_EXPECTED
    return pooled_p_value(zip(observed[telling], expected[telling], strict=True))
