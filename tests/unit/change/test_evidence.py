"""Evidence of a change: p-values and corrections, against scipy and against plain loops."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import false_discovery_control, laplace, norm

from hushgrid.change.evidence import AskedPlaces, NamedAreas, benjamini_hochberg, holm, p_values
from hushgrid.synopsis.answer import FLOOR_VARIANCE, UNCALIBRATED, Calibration, Estimates

SIZES = np.array([0.0, 0.3, 1.0, 2.0, 3.5, 5.0, 6.5])


def named_areas(variances, fourths):
    """Areas of no points whose noise has these cumulants."""
    counts = np.zeros(len(variances[0]))
    return NamedAreas(counts=(counts, counts), variances=variances, fourths=fourths, confidence=0.95)


def asked_places(noise, spread, calibration=UNCALIBRATED, *, after_spread=None, common=0.0, ratio=1.0):
    """The same places of no points in two releases, with these variances."""
    before, after = (
        Estimates.of(np.zeros(len(noise)), noise, each, reach=np.ones(len(noise))).answer()
        for each in (spread, spread if after_spread is None else after_spread)
    )
    shares = np.full(len(noise), 0.01)
    return AskedPlaces(
        before=before,
        after=after,
        calibrations=(calibration, calibration),
        area_shares=(shares, shares),
        common=common,
        ratio=ratio,
    )


def test_p_values_of_a_normal_law_are_those_of_scipy():
    """To a per cent, far into the tail."""
    found = p_values(SIZES, lambda left_out: np.full(len(SIZES), norm.isf(left_out / 2)))

    np.testing.assert_allclose(found, 2 * norm.sf(SIZES), rtol=0.01)


def test_a_difference_beyond_all_knots_has_the_least_p_value():
    """It is small, and not zero."""
    (found,) = p_values(np.array([1e9]), lambda left_out: np.full(1, norm.isf(left_out / 2)))

    assert 0 < found < 1e-12


def test_areas_that_were_measured_once_have_the_law_of_two_laplace_noises():
    """Found by integrating the density of the one over the tails of the other."""
    scale = 40.0
    variance, fourth = np.full(len(SIZES), 2 * scale**2), np.full(len(SIZES), 12 * scale**4)
    pair = named_areas((variance, variance), (fourth, fourth))
    plain = [
        2 * quad(lambda x, y=y: laplace.pdf(x) * laplace.sf(2 * y - x), -40, 40, points=[0, 2 * y], limit=200)[0]
        for y in SIZES
    ]

    found = p_values(2 * scale * SIZES, pair.half_widths)

    np.testing.assert_allclose(found, plain, rtol=0.02)


def test_errors_of_asked_places_add_up_by_their_squares():
    """Where spread is large, the difference is sqrt(2) times as uncertain as one count."""
    pair = asked_places(np.array([1.0]), np.array([10_000.0]))

    expected = math.sqrt(2) * norm.isf(0.025) * math.sqrt(1 + 10_000 + FLOOR_VARIANCE)
    assert pair.half_widths(0.05)[0] == pytest.approx(expected)


def test_calibrated_widths_are_used():
    """A calibration of twice the width makes the difference twice as wide."""
    twice = Calibration(factors=((2.0,) * 5,) * 6)
    noise, spread = np.array([1.0]), np.array([10_000.0])

    narrow, wide = asked_places(noise, spread), asked_places(noise, spread, twice)

    assert wide.half_widths(0.05)[0] == pytest.approx(2 * narrow.half_widths(0.05)[0])


def test_noise_alone_is_never_taken_for_a_change():
    """Cells that were measured once have Laplace tails, whatever a calibration says on average."""
    tails = np.array([1e-2, 1e-4, 1e-6])
    pair = asked_places(np.array([800.0]), np.array([0.0]), Calibration(factors=((0.5,) * 5,) * 6))

    widths = [pair.half_widths(tail)[0] / math.sqrt(400) for tail in tails]

    true_tails = [math.exp(-width) * (1 + width / 2) for width in widths]
    np.testing.assert_allclose(true_tails, tails, rtol=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_benjamini_hochberg_is_that_of_scipy(seed):
    """For any p-values, some of them equal."""
    p = np.round(np.random.default_rng(seed).random(50) ** 3, 2)

    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p))


@pytest.mark.parametrize("seed", range(5))
def test_holm_rejects_step_by_step(seed):
    """As Holm wrote it: the smallest against rate / n, the next against rate / (n - 1), until one is not rejected."""
    p, rate = np.random.default_rng(seed).random(40) ** 4, 0.1
    rejected = np.zeros(40, bool)
    for step, number in enumerate(np.argsort(p)):
        if p[number] > rate / (40 - step):
            break
        rejected[number] = True

    assert 0 < rejected.sum() < 40
    np.testing.assert_array_equal(holm(p) <= rate, rejected)


def test_spread_in_common_cancels():
    """All of it where points lie alike in the same cells; then noise is left."""
    noise, spread = np.full(3, 50.0), np.array([0.0, 100.0, 1e4])
    independent, alike = (asked_places(noise, spread, common=each).half_widths(0.05) for each in (0.0, 1.0))

    np.testing.assert_allclose(independent[1:], norm.isf(0.025) * np.sqrt(2 * (50 + spread[1:] + FLOOR_VARIANCE)))
    np.testing.assert_allclose(alike, alike[0])
    assert alike[0] >= norm.isf(0.025) * 10


def test_spread_of_coarse_cells_is_not_in_fine_ones():
    """Of ten times the spread, what both have in common is that of the finer cells, by the points of both."""
    coarse, fine = np.array([1000.0 - FLOOR_VARIANCE]), np.array([100.0 - FLOOR_VARIANCE])
    noise = np.array([1.0])
    found = asked_places(noise, coarse, after_spread=fine, common=0.5).half_widths(0.05)
    of_few = asked_places(noise, fine, after_spread=coarse, common=0.5, ratio=4.0).half_widths(0.05)

    np.testing.assert_allclose(found, norm.isf(0.025) * np.sqrt(2 + 1100 - 2 * 0.5 * 100))
    np.testing.assert_allclose(of_few, norm.isf(0.025) * np.sqrt(2 + 1100 - 2 * 0.5 * 250))
