"""Scale and budget exchanged at a fixed product."""

import numpy as np
import pytest

from experiments.datasets import DATASETS, SMALL_CLUSTERS
from experiments.exchangeability import LEAST_POINTS, WAYS, ExchangeTrial, copied, drawn
from experiments.suites import SUITES

POINTS = DATASETS[SMALL_CLUSTERS].points()
SCALE = 3 * LEAST_POINTS


def trial(**fields):
    """A small trial, some of its fields given."""
    own = {"dataset": SMALL_CLUSTERS, "method": "ug", "way": "copied", "scale": LEAST_POINTS, "product": 2e3, "seed": 0}
    return ExchangeTrial(**{**own, **fields})


@pytest.mark.parametrize("way", WAYS)
def test_there_are_as_many_points_as_the_scale_says(way):
    """All of them points of the shape."""
    made = WAYS[way](POINTS, SCALE, np.random.default_rng(1))

    assert made.shape == (SCALE, 2)
    assert {*map(tuple, made)} <= {*map(tuple, POINTS)}


def test_copies_keep_the_shape_and_draws_do_not():
    """A copied set holds every point of the smallest one three times; a drawn one does not."""
    smallest = copied(POINTS, LEAST_POINTS, np.random.default_rng(1))
    _, once = np.unique(smallest, axis=0, return_counts=True)
    for way, kept in ((copied, True), (drawn, False)):
        _, thrice = np.unique(way(POINTS, SCALE, np.random.default_rng(1)), axis=0, return_counts=True)
        assert np.array_equal(thrice, 3 * once) is kept


def test_the_product_is_fixed():
    """Ten times the points have a tenth of the budget."""
    small, large = trial(), trial(scale=10 * LEAST_POINTS)

    assert small.epsilon * small.scale == pytest.approx(large.epsilon * large.scale)
    assert small.epsilon == pytest.approx(10 * large.epsilon)


@pytest.mark.parametrize("method", ["ug", "ag"])
def test_copies_err_alike_at_one_product_and_not_at_one_budget(method):
    """Relative errors agree within a tenth over many runs; at the same budget, more points err far less."""
    runs = range(6)

    def error(**fields):
        return np.mean([trial(method=method, seed=seed, **fields).run()[0]["relative"] for seed in runs])

    few, exchanged = error(), error(scale=10 * LEAST_POINTS)
    at_one_budget = error(scale=10 * LEAST_POINTS, product=2e4)

    assert exchanged == pytest.approx(few, rel=0.1)
    assert at_one_budget < 0.6 * few


def test_no_two_exchanges_share_noise():
    """Seeds differ by every field."""
    trials = [*SUITES["exchangeability"].full, *SUITES["exchangeability"].quick]

    assert len({each.noise_seed for each in trials}) == len(trials)
    assert all(each.scale % LEAST_POINTS == 0 for each in trials)
