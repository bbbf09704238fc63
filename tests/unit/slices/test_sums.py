"""Sums over slices: noise is independent, and how points lie inside leaves is not."""

import numpy as np
import pytest

from hushgrid.slices.sums import reconciled, summed
from hushgrid.synopsis.answer import FLOOR_VARIANCE, Estimates


def estimates(counts, noise, spread, reach):
    """One place with these errors."""
    return Estimates.of(*(np.array([float(each)]) for each in (counts, noise, spread)), reach=np.array([reach]))


def test_one_slice_is_its_own_sum():
    """Nothing changes where there is nothing to add."""
    one = estimates(10, 9, 4, 2.1)
    for name, values in vars(summed([one])).items():
        np.testing.assert_allclose(values, getattr(one, name), err_msg=name)


def test_noise_adds_by_variance_and_spread_by_deviation():
    """A hundred slices of noise are ten times as far off, and of spread a hundred times."""
    noisy, uneven = summed([estimates(1, 100, 0, 2.0)] * 100), summed([estimates(1, 0, 100, 2.0)] * 100)

    assert noisy.half == pytest.approx(10 * 2 * np.sqrt(100 + FLOOR_VARIANCE))
    assert uneven.half == pytest.approx(2 * np.sqrt(1000**2 + 100 * FLOOR_VARIANCE))
    assert noisy.noise == 100 * 100
    assert uneven.spread == pytest.approx(1000**2 + 100 * FLOOR_VARIANCE)


def test_errors_that_slices_have_in_common():
    """Their deviations add, and the share of them is between none and all."""
    part = estimates(1, 99.75, 0, 2.0)

    assert summed([part] * 16, common=0).half == pytest.approx(4 * 20)
    assert summed([part] * 16, common=1).half == pytest.approx(16 * 20)
    assert summed([part] * 16, common=1 / 8).half == pytest.approx(20 * np.sqrt(7 / 8 * 16 + 1 / 8 * 256))
    assert summed([part], common=1 / 8).half == pytest.approx(part.half)


def test_factors_of_slices_differ():
    """Each slice has its own calibration."""
    found = summed([estimates(1, 99.75, 0, 2.0), estimates(1, 399.75, 0, 3.0)])

    assert found.half == pytest.approx(np.hypot(2 * 10, 3 * 20))


def test_noise_of_a_sum_covers_as_often_as_asked():
    """Sums of normal noise lie in the interval 95 times of 100, and variances that do not add would not do."""
    rng = np.random.default_rng(3)
    deviations = np.array([5.0, 10.0, 20.0, 5.0])
    errors = (rng.normal(size=(20_000, 4)) * deviations).sum(axis=1)
    half = summed([estimates(0, deviation**2 - FLOOR_VARIANCE, 0, 1.96) for deviation in deviations]).half[0]

    assert 0.945 < (np.abs(errors) <= half).mean() < 0.955
    assert (np.abs(errors) <= 1.96 * deviations.sum()).mean() > 0.97


def test_a_total_and_a_sum_have_weights_by_their_intervals():
    """Twice as wide an interval has a quarter of the weight; one that says nothing leaves the other as it is."""
    released, wide, wild = estimates(10, 99.75, 0, 2.0), estimates(20, 399.75, 0, 2.0), estimates(1e6, 1e14, 0, 2.0)

    assert reconciled(released, wide).counts == pytest.approx(0.8 * 10 + 0.2 * 20)
    assert reconciled(wide, released).counts == pytest.approx(12)
    assert reconciled(released, wide).noise == pytest.approx(0.8**2 * 99.75 + 0.2**2 * 399.75)
    for name, values in vars(reconciled(released, wild)).items():
        np.testing.assert_allclose(values, getattr(released, name), rtol=1e-4, err_msg=name)


def test_a_reconciled_interval_is_that_of_errors_half_alike():
    """It holds 95 of 100 errors of correlation one half; that of independent errors holds fewer."""
    released, together = estimates(0, 99.75, 0, 1.96), estimates(0, 224.75, 0, 1.96)
    covariance = [[100, 0.5 * 10 * 15], [0.5 * 10 * 15, 225]]
    errors = np.random.default_rng(4).multivariate_normal([0, 0], covariance, size=40_000)
    weight = 225 / (100 + 225)
    off = np.abs(errors @ [weight, 1 - weight])
    half = reconciled(released, together).half[0]

    assert 0.945 < (off <= half).mean() < 0.955
    assert (off <= np.hypot(weight * released.half, (1 - weight) * together.half)).mean() < 0.93
    assert (off <= weight * released.half + (1 - weight) * together.half).mean() > 0.965


def test_a_confidence_of_nothing_still_has_a_count():
    """Intervals without width have the mean of both counts."""
    assert reconciled(estimates(10, 9, 0, 0.0), estimates(20, 9, 0, 0.0)).counts == pytest.approx(15)
