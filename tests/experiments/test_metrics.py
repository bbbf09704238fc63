"""Errors and their profile against a plain loop."""

import statistics

import numpy as np
import pytest

from experiments.metrics import Candlestick, absolute_errors, relative_errors

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 50, 300)
ESTIMATES = TRUTH + RNG.normal(0, 9, 300)
TOTAL = 20_000  # so that counts below 20 are measured against 20


def plain_relative(estimate, true):
    """The definition of section V-A."""
    return abs(estimate - true) / max(true, 0.001 * TOTAL)


def test_errors_are_those_of_the_paper():
    """On counts below the floor, at it, and above."""
    pairs = list(zip(ESTIMATES.tolist(), TRUTH.tolist(), strict=True))

    assert relative_errors(ESTIMATES, TRUTH, true_total=TOTAL) == pytest.approx(
        [plain_relative(*pair) for pair in pairs]
    )
    assert absolute_errors(ESTIMATES, TRUTH) == pytest.approx([abs(estimate - true) for estimate, true in pairs])
    assert min(TRUTH) < 20 < max(TRUTH)


def test_a_candlestick_is_four_quantiles_and_the_mean():
    """As the standard library computes them."""
    errors = absolute_errors(ESTIMATES, TRUTH)
    quantiles = statistics.quantiles(errors.tolist(), n=100, method="inclusive")
    stick = Candlestick.of(errors)

    assert (stick.p25, stick.median, stick.p75, stick.p95) == pytest.approx(
        [quantiles[n - 1] for n in (25, 50, 75, 95)]
    )
    assert stick.mean == pytest.approx(statistics.fmean(errors))


def test_equal_errors_make_a_flat_candlestick():
    """All five are that error."""
    assert set(vars(Candlestick.of(np.full(9, 0.5))).values()) == {0.5}
