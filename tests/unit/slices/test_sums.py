"""Sums over slices: noise is independent, and how points lie inside leaves is not."""

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.geometry.grid import Grid
from hushgrid.slices.sums import ALIKE, BY_OTHERS, FOLLOWS_NOTHING, Common, correlation, reconciled, summed
from hushgrid.synopsis.answer import FLOOR_VARIANCE, Estimates, normal_reach
from tests.slices import SQUARE
from tests.synopses import synopsis_on

NOTHING, STREETS = Common(spread=0), Common(spread=1)  # that slices have in common


def estimates(counts, noise, spread, reach):
    """One place with these errors."""
    return Estimates.of(*(np.array([float(each)]) for each in (counts, noise, spread)), reach=np.array([reach]))


def test_one_slice_is_its_own_sum():
    """Nothing changes where there is nothing to add."""
    one = estimates(10, 9, 4, 2.1)
    for name, values in vars(summed([one], Common(spread=0.4, followed=0.3), 0.95)).items():
        np.testing.assert_allclose(values, getattr(one, name), err_msg=name)


def test_noise_adds_by_variance_and_spread_by_deviation():
    """A hundred slices of noise are ten times as far off, and of spread a hundred times."""
    noisy, uneven = (summed([estimates(1, *errors, 2.0)] * 100, STREETS, 0.95) for errors in ((100, 0), (0, 100)))

    assert noisy.half == pytest.approx(10 * 2 * np.sqrt(100 + FLOOR_VARIANCE))
    assert uneven.half == pytest.approx(2 * np.sqrt(1000**2 + 100 * FLOOR_VARIANCE))
    assert noisy.noise == 100 * 100
    assert uneven.spread == pytest.approx(1000**2 + 100 * FLOOR_VARIANCE)


def test_slices_that_follow_each_other_err_together():
    """As posterior means do that shrink to one noisy density, of which each slice differs by something of its own."""
    rng = np.random.default_rng(6)
    noise, followed, own = 100.0, 40.0, 20.0  # variances: of measuring, of what all follow, of how a slice differs
    truth = rng.normal(scale=np.sqrt(own), size=(50_000, 12))
    measured = truth + rng.normal(scale=np.sqrt(noise), size=truth.shape)
    around = rng.normal(scale=np.sqrt(followed), size=(50_000, 1))
    weight = (followed + own) / (followed + own + noise)
    errors = weight * measured + (1 - weight) * around - truth
    assert errors.var() == pytest.approx(weight * noise, rel=0.02)  # F^2 of what each has measured

    reach = FOLLOWS_NOTHING * np.sqrt(weight) * normal_reach(0.8)
    parts = [estimates(0, noise - FLOOR_VARIANCE, 0, reach)] * 12
    together = summed(parts, Common(spread=1, followed=followed / (followed + own)), 0.8).half[0]
    needed = FOLLOWS_NOTHING * normal_reach(0.8) * errors.sum(axis=1).std()
    assert together == pytest.approx(needed, rel=0.02)
    assert summed(parts, Common(spread=1, followed=1e-9), 0.8).half[0] < 0.6 * needed


def test_a_slice_that_follows_nothing_errs_alone():
    """One that is no better known than by its own measurements, at any confidence."""
    for confidence in (0.5, 0.95, 0.999):
        part = estimates(1, 99.75, 0, FOLLOWS_NOTHING * normal_reach(confidence))
        assert summed([part] * 16, Common(spread=1, followed=1), confidence).half == pytest.approx(4 * part.half)


def test_all_that_slices_follow_is_less_sure_the_fewer_they_are():
    """Shares fall with the number of slices, with what they have of their own, and with how unlike they are."""
    points = np.random.default_rng(2).beta(2, 5, (3000, 2))
    draws = np.random.default_rng(3)
    alike = [points[draws.random(3000) < 0.5] for _ in range(8)]
    apart = [points[(points[:, 0] > number / 8) & (points[:, 0] <= (number + 1) / 8)] for number in range(8)]

    def followed(lists, epsilon=1):
        parts = [hg.publish(each, domain=SQUARE, epsilon=epsilon, method="staq", calibrate=False) for each in lists]
        return Common.of(parts).followed

    assert 0 < followed(apart) < followed(alike) < followed(alike[:4]) < followed(alike[:2]) < 1
    assert followed(alike, epsilon=10) < followed(alike)
    assert followed([np.empty((0, 2))] * 2) > 0.5


def test_spread_that_slices_have_in_common():
    """Independent, alike, and in between; half widths are those of the variances."""
    part = estimates(1, 1e-6, 100, 2.0)
    for share, variance in {0: 16 * 100, 1: 256 * 100, 0.5: 100 * (8 + 128)}.items():
        together = summed([part] * 16, Common(spread=share), 0.95)
        assert together.spread == pytest.approx(variance + 16 * FLOOR_VARIANCE)
        assert together.half == pytest.approx(2 * np.sqrt(variance + 16 * FLOOR_VARIANCE), rel=1e-6)


def test_spread_of_one_correlation_is_covered_as_often_as_asked():
    """Errors of eight slices with the correlation .4; as independent ones they would be held too rarely."""
    deviations = np.array([5.0, 10.0, 20.0, 5.0, 8.0, 3.0, 12.0, 9.0])
    covariance = np.outer(deviations, deviations) * (0.4 + 0.6 * np.eye(8))
    errors = np.random.default_rng(8).multivariate_normal(np.zeros(8), covariance, size=20_000).sum(axis=1)
    parts = [estimates(0, 1e-9, deviation**2, 1.96) for deviation in deviations]

    half = summed(parts, Common(spread=0.4), 0.95).half[0]
    assert 0.945 < (np.abs(errors) <= half).mean() < 0.955
    assert (np.abs(errors) <= summed(parts, NOTHING, 0.95).half[0]).mean() < 0.85


def drawn_slices(likeness):
    """Five slices of densities that have as much in common as asked, without noise."""
    rng = np.random.default_rng(11)
    both = rng.exponential(size=256)
    grid = Grid(domain=SQUARE, rows=16, columns=16)
    alone = rng.exponential(size=(5, 256))
    return [synopsis_on(grid, values=1000 * (likeness * both + (1 - likeness) * each)) for each in alone]


def test_how_alike_slices_are():
    """By the mean correlation of halves of blocks, found pair by pair as a second way."""
    alike, unlike, same = (drawn_slices(likeness) for likeness in (0.5, 0.0, 1.0))

    def halves(synopsis):
        quarters = synopsis.counts.reshape(8, 2, 8, 2)
        return np.stack([np.diff(quarters.sum(axis=3), axis=1)[:, 0], np.diff(quarters.sum(axis=1), axis=2)[..., 0]])

    points = np.sum([each.counts for each in alike], axis=0).reshape(8, 2, 8, 2).sum(axis=(1, 3))
    scaled = np.array([(halves(each) / np.sqrt(points)).ravel() for each in alike])
    products = scaled @ scaled.T
    deviations = np.sqrt(np.diag(products))
    pairs = ~np.eye(5, dtype=bool)
    expected = products[pairs].sum() / np.outer(deviations, deviations)[pairs].sum()

    assert correlation(alike) == pytest.approx(expected)
    assert correlation(unlike) < 0.15 < correlation(alike) < 0.8
    assert correlation(same) == pytest.approx(1)
    assert correlation(same[:1]) == 1


def test_what_slices_have_in_common_follows_from_their_inference():
    """Noise hides how alike slices are whose counts are signed, so that theirs is a constant."""
    direct = drawn_slices(0.5)
    points = np.random.default_rng(2).beta(2, 5, (600, 2))
    by_belief = [hg.publish(points, domain=SQUARE, epsilon=1, method="staq", calibrate=False) for _ in range(2)]

    assert Common.of(direct) == Common(spread=BY_OTHERS, followed=0)
    assert Common.of(by_belief).spread == correlation(by_belief) ** 2
    assert 0 < Common.of(by_belief).followed < 1


def test_factors_of_slices_differ():
    """Each slice has its own calibration."""
    found = summed([estimates(1, 99.75, 0, 2.0), estimates(1, 399.75, 0, 3.0)], NOTHING, 0.95)

    assert found.half == pytest.approx(np.hypot(2 * 10, 3 * 20))


def test_noise_of_a_sum_covers_as_often_as_asked():
    """Sums of normal noise lie in the interval 95 times of 100, and variances that do not add would not do."""
    rng = np.random.default_rng(3)
    deviations = np.array([5.0, 10.0, 20.0, 5.0])
    errors = (rng.normal(size=(20_000, 4)) * deviations).sum(axis=1)
    parts = [estimates(0, deviation**2 - FLOOR_VARIANCE, 0, 1.96) for deviation in deviations]
    half = summed(parts, NOTHING, 0.95).half[0]

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


def test_a_reconciled_interval_is_that_of_errors_that_are_alike():
    """It holds 95 of 100 errors of that correlation; that of independent errors holds fewer."""
    released, together = estimates(0, 99.75, 0, 1.96), estimates(0, 224.75, 0, 1.96)
    covariance = [[100, ALIKE * 10 * 15], [ALIKE * 10 * 15, 225]]
    errors = np.random.default_rng(4).multivariate_normal([0, 0], covariance, size=40_000)
    weight = 225 / (100 + 225)
    off = np.abs(errors @ [weight, 1 - weight])
    half = reconciled(released, together).half[0]

    assert 0.945 < (off <= half).mean() < 0.955
    assert (off <= np.hypot(weight * released.half, (1 - weight) * together.half)).mean() < 0.93
    assert (off <= weight * released.half + (1 - weight) * together.half).mean() > 0.96


def test_a_confidence_of_nothing_still_has_a_count():
    """Intervals without width have the mean of both counts."""
    assert reconciled(estimates(10, 9, 0, 0.0), estimates(20, 9, 0, 0.0)).counts == pytest.approx(15)
    nothing = summed([estimates(10, 9, 0, 0.0)] * 2, Common(spread=0, followed=0.5), 1e-300)
    assert nothing.counts == pytest.approx(20)
    assert nothing.half == 0
