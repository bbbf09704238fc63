"""The chi-square test against scipy, and on draws that do and do not follow the law."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from hushgrid.audit.laws import SMALLEST_EXPECTED, _bins, chi_square_p_value, discrete_laplace_p_value, upper_gamma

RATES = (Fraction(1, 100), Fraction(1, 7), Fraction(1), Fraction(3))
DRAWS = 200_000


def laplace_draws(rate, size=DRAWS, seed=0):
    """Differences of two geometric draws: discrete Laplace noise by a way of its own."""
    draws = np.random.default_rng(seed).geometric(-math.expm1(-float(rate)), (2, size))
    return draws[0] - draws[1]


@pytest.mark.parametrize("shape", [0.5, 1, 1.5, 3, 10, 100.5, 5000, 1e5])
@pytest.mark.parametrize("ratio", [0, 1e-3, 0.1, 0.5, 0.99, 1, 1.01, 1.5, 3, 10])
def test_upper_gamma_agrees_with_scipy(shape, ratio):
    """Below and above the mean, on either side of where the formula changes."""
    expected = special.gammaincc(shape, shape * ratio)

    assert upper_gamma(shape, shape * ratio) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("bins", [2, 3, 50, 1000])
def test_the_p_value_agrees_with_scipy(bins):
    """For counts that fit, and for counts that do not."""
    rng = np.random.default_rng(bins)
    expected = rng.uniform(10, 100, bins)
    observed = rng.multinomial(round(expected.sum()), expected / expected.sum())
    expected *= observed.sum() / expected.sum()

    for counts in (observed, observed[::-1]):
        assert chi_square_p_value(counts, expected) == pytest.approx(stats.chisquare(counts, expected).pvalue, rel=1e-8)


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("draws", [1, 25, 300, DRAWS])
def test_bins_hold_all_integers_and_enough_draws(rate, draws):
    """With the probabilities that scipy's law of the same name gives them."""
    edges, probabilities = _bins(draws, float(rate))
    law = stats.dlaplace(float(rate))

    assert probabilities == pytest.approx(np.diff(law.cdf(edges), prepend=0, append=1), rel=1e-6)
    assert probabilities.sum() == pytest.approx(1)
    assert len(probabilities) == 1 or (draws * probabilities).min() >= SMALLEST_EXPECTED * (1 - 1e-9)
    assert len(probabilities) > 2 or draws < 100


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_draws_of_the_law_are_accepted(rate):
    """With p-values that are themselves spread evenly."""
    p_values = [discrete_laplace_p_value(laplace_draws(rate, 5000, seed), rate) for seed in range(200)]

    assert stats.kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("factor", [Fraction(19, 20), Fraction(21, 20)], ids=["too-much-noise", "too-little-noise"])
def test_a_rate_five_percent_off_is_rejected(rate, factor):
    """Negative control on both sides."""
    assert discrete_laplace_p_value(laplace_draws(rate * factor), rate) < 1e-4


def test_a_low_digit_that_is_not_random_is_rejected():
    """Negative control: noise of a large scale, of which only even values occur."""
    assert discrete_laplace_p_value(laplace_draws(Fraction(1, 50)) * 2, Fraction(1, 100)) < 1e-9


def rounded_laplace(rng, rate):
    """Float noise rounded to integers."""
    return np.rint(rng.laplace(0, 1 / float(rate), DRAWS)).astype(np.int64)


DEFECTS = {
    "shifted": lambda rng, rate: laplace_draws(rate) + 1,
    "one-sided": lambda rng, rate: np.abs(laplace_draws(rate)),
    "two-zeros": lambda rng, rate: np.where(rng.random(DRAWS) < 0.05, 0, laplace_draws(rate)),
    "rounded-float": rounded_laplace,
    "no-noise": lambda rng, rate: np.zeros(DRAWS, np.int64),
    "cut-off": lambda rng, rate: np.clip(laplace_draws(rate), -4, 4),
}


@pytest.mark.parametrize("defect", DEFECTS.values(), ids=DEFECTS)
def test_defects_are_rejected(defect):
    """Negative controls that have little to do with scale."""
    assert discrete_laplace_p_value(defect(np.random.default_rng(1), Fraction(1)), Fraction(1)) < 1e-6
