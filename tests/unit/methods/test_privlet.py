"""Privlet: what its coefficients are, what noise they get, what comes back."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.inference.haar import transform
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.methods.privlet import Privlet
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

POINTS = tuple(map(tuple, np.random.default_rng(0).beta(0.5, 2, (300, 2))))


def release(method, points=POINTS, *, epsilon=Fraction(1), public_size=None, seed=0):
    """A simulated release."""
    budget = Budget(epsilon, bits=simulation_rng(seed), public_size=public_size)
    return method.release(PlainCounter(UNIT_SQUARE, points), budget)


@pytest.mark.parametrize("side", [1, 2, 5, 8, 13])
def test_a_huge_epsilon_gives_back_the_truth(side):
    """For sides that are powers of two and those that are padded."""
    synopsis = release(Privlet(side=side), epsilon=Fraction(10**8))

    assert np.array_equal(synopsis.counts, PlainCounter(UNIT_SQUARE, POINTS).count(synopsis.partition))


@pytest.mark.parametrize(("side", "touched"), [(1, 1), (2, 4), (5, 16), (8, 16), (9, 25), (360, 100)])
def test_coefficients_share_the_budget_of_a_record(side, touched):
    """As many as it touches, exactly; no cell is measured by itself."""
    synopsis = release(Privlet(side=side), (), epsilon=Fraction(1, 3))
    wavelet = synopsis.measurements.wavelet

    assert wavelet.rate == Fraction(1, 3) / touched
    assert [spend.epsilon for spend in synopsis.claim.spends] == [Fraction(1, 3)]
    assert np.isinf(synopsis.measurements.leaves.variances).all()


def test_noise_is_added_to_coefficients_of_the_true_counts():
    """With the variance of its rate, which a rate a fifth higher would not have."""
    synopsis = release(Privlet(side=64), epsilon=Fraction(20))
    true_counts = PlainCounter(UNIT_SQUARE, POINTS).count(synopsis.partition)
    wavelet = synopsis.measurements.wavelet
    noise = wavelet.coefficients.values - transform(true_counts.reshape(64, 64)).ravel()

    assert 0.9 < np.mean(noise**2) / discrete_laplace_variance(wavelet.rate) < 1.1
    assert not 0.9 < np.mean(noise**2) / discrete_laplace_variance(wavelet.rate * Fraction(6, 5)) < 1.1


@pytest.mark.parametrize(("size", "side"), [(10_000, 32), (20_000, 32), (21_000, 64), (166_410, 128), (0, 1)])
def test_the_side_is_the_power_of_two_nearest_to_the_guidelines(size, side):
    """Guideline 1 has 32, 45, 46, 129 and 1: the nearest by ratio, so that nothing is padded."""
    synopsis = release(Privlet(), (), public_size=size)

    assert synopsis.partition.cells == side**2
    assert synopsis.measurements.wavelet.rows == side


def test_a_limit_on_cells_leaves_a_power_of_two():
    """The largest that fits, and a note."""
    budget = Budget(Fraction(1), bits=simulation_rng(0), public_size=10**6, max_cells=40_000)
    synopsis = Privlet().release(PlainCounter(UNIT_SQUARE, ()), budget)

    assert synopsis.partition.cells == 128**2
    assert synopsis.method.notes == ("the guideline's side of 256 was clamped to 128",)


def test_whole_rectangles_have_less_noise_than_their_cells_would():
    """Because it cancels; that is what the transform is for."""
    synopsis = release(Privlet(side=64), ())
    whole = synopsis.answer([0, 0, 1, 1]).noise_std ** 2

    assert whole < 0.01 * synopsis.variances.sum()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"side": 0}, "side must be"), ({"side": 8193}, "over the limit"), ({"c": 0}, "c must be a finite number > 0")],
)
def test_parameters_are_checked_when_given(parameters, words):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match=words):
        Privlet(**parameters)
