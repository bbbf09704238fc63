"""Means over runs and their standard errors, against a jackknife and against made-up noise."""

import math
import statistics

import numpy as np
import pytest

from experiments.estimate import MISSING, Estimate, geometric_mean_of, highest_of, lowest_of, mean_of

RNG = np.random.default_rng(5)


def some_runs(number, *, mean=1.0, deviation=0.02):
    """Values of some runs, never far apart, so that what follows is nearly linear."""
    return dict(enumerate((mean + deviation * RNG.standard_normal(number)).tolist()))


def jackknife(function, *runs):
    """Standard error by leaving out one run after the other."""
    number = len(runs[0])
    left_out = [
        function(*({run: value for run, value in each.items() if run != gone} for each in runs))
        for gone in range(number)
    ]
    return math.sqrt((number - 1) * statistics.pvariance(left_out))


def plain_mean(runs):
    """The mean."""
    return statistics.fmean(runs.values())


def test_a_mean_has_the_usual_standard_error():
    """Of the sample, by the root of the number of runs."""
    runs = some_runs(7)
    mean = Estimate.of(runs)

    assert mean.value == pytest.approx(statistics.fmean(runs.values()))
    assert mean.error == pytest.approx(statistics.stdev(runs.values()) / math.sqrt(7))


def test_the_error_of_a_ratio_is_that_of_pairs():
    """What both have in common cancels; the jackknife finds the same."""
    top = some_runs(30, mean=2.0)
    bottom = {run: value / 2 + 0.001 * RNG.standard_normal() for run, value in top.items()}
    ratio = Estimate.of(top) / Estimate.of(bottom)
    unpaired = math.hypot(Estimate.of(top).error / 2, Estimate.of(bottom).error)

    assert ratio.error == pytest.approx(jackknife(lambda a, b: plain_mean(a) / plain_mean(b), top, bottom), rel=0.05)
    assert ratio.error < unpaired / 3


def test_means_of_ratios_keep_what_runs_share():
    """Cases of one run move together, so that averaging them does not make them surer."""
    top, bottom = some_runs(30), some_runs(30)
    ratio = Estimate.of(top) / Estimate.of(bottom)

    for combined in (geometric_mean_of([ratio] * 4), mean_of([ratio] * 4)):
        assert combined.value == pytest.approx(ratio.value)
        assert combined.error == pytest.approx(ratio.error)


def test_a_geometric_mean_agrees_with_the_jackknife():
    """Of three ratios to one method."""
    tops, bottom = [some_runs(25, mean=mean) for mean in (1.0, 2.0, 5.0)], some_runs(25)

    def plain(*runs):
        return math.prod(plain_mean(top) / plain_mean(runs[-1]) for top in runs[:-1]) ** (1 / 3)

    mean = geometric_mean_of([Estimate.of(top) / Estimate.of(bottom) for top in tops])
    assert mean.value == pytest.approx(plain(*tops, bottom))
    assert mean.error == pytest.approx(jackknife(plain, *tops, bottom), rel=0.05)


def test_runs_may_differ_in_number():
    """A method that was run more often than the other; compared with many repetitions of the whole."""
    shared = RNG.standard_normal((4000, 6))
    tops = 1 + 0.02 * shared + 0.01 * RNG.standard_normal((4000, 6))
    bottoms = 1 + 0.02 * shared[:, :3]
    ratios = [
        Estimate.of(dict(enumerate(a))) / Estimate.of(dict(enumerate(b))) for a, b in zip(tops, bottoms, strict=True)
    ]
    spread = statistics.stdev(ratio.value for ratio in ratios)

    assert math.sqrt(statistics.fmean(ratio.error**2 for ratio in ratios)) == pytest.approx(spread, rel=0.1)


def test_a_single_run_has_no_standard_error_and_says_so():
    """A single run has no standard error, and neither has what is made from it."""
    once = Estimate.of({0: 2.0})

    assert math.isnan((once / Estimate.of(some_runs(5))).error)
    assert once.text() == "2.00 ± ?"


def test_what_was_not_measured_stays_so():
    """A ratio to nothing is missing; means and extremes leave it out."""
    known = Estimate(3.0)

    assert not (known / MISSING).known
    assert not (known / Estimate(0.0)).known
    assert not geometric_mean_of([MISSING]).known
    assert lowest_of([MISSING, known]) == highest_of([known, MISSING]) == mean_of([known, MISSING]) == known
    assert lowest_of([]) == MISSING


def test_the_order_of_runs_changes_no_bit():
    """Trials finish in any order."""
    runs = some_runs(9)
    turned = dict(reversed(runs.items()))

    assert Estimate.of(runs) == Estimate.of(turned)
    assert list(Estimate.of(runs).parts) == list(Estimate.of(turned).parts)


def test_a_root_has_half_the_relative_error():
    """By the jackknife; a mean square estimated below zero has the root 0, and its error is not lost."""
    squares = some_runs(40, mean=4.0)
    root = Estimate.of(squares).root()

    assert root.error == pytest.approx(jackknife(lambda runs: math.sqrt(plain_mean(runs)), squares), rel=0.05)
    below = Estimate.of({0: -3.0, 1: 1.0})
    assert (below.root().value, below.root().error) == (0.0, pytest.approx(math.sqrt(below.error)))
