"""The trial of an estimator of all records."""

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import all_records as trial
from experiments.all_records import STARTS, Histogram, Score, Total, all_records, scaled
from experiments.crowds import CROWDS, log_normal, made_up, two_kinds

CERTAIN = 1e6
SIZES = {"log-normal": log_normal(4000), "two kinds": two_kinds()}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_without_noise_the_histogram_is_that_of_the_users(sizes):
    """Whatever law was fitted: bins that do not follow it are believed."""
    found = Histogram.of(sizes, CERTAIN, np.random.default_rng(1)).counts
    expected, _ = np.histogram(sizes, [*STARTS, np.inf])

    np.testing.assert_allclose(found, expected, atol=0.01)


def test_without_noise_the_total_is_that_of_the_records():
    """The cap is then so high that nothing is cut off."""
    sizes, rng = log_normal(4000), np.random.default_rng(1)
    total = Total.of(sizes, Histogram.of(sizes, CERTAIN, rng), CERTAIN, rng)

    assert total.value == pytest.approx(sizes.sum(), abs=1)
    assert total.cap > np.quantile(sizes, 0.999)


def test_unevenness_is_what_keeping_few_records_does():
    """Against the same sum over users; within bins, they are taken as alike."""
    sizes, bound = log_normal(4000), 5
    kept = np.minimum(sizes, bound)
    expected = np.sum((sizes - sizes.sum() / kept.sum() * kept) ** 2) / sizes.sum()
    found = Histogram.of(sizes, CERTAIN, np.random.default_rng(1)).unevenness(bound, sizes.sum())

    assert found == pytest.approx(expected, rel=0.2)


@pytest.fixture(scope="module")
def crowd():
    """Users of towns that differ much in what they record."""
    return made_up(log_normal(3000), name="regions differ", regional=1.0)


def test_a_user_keeps_no_more_than_the_bound(crowd):
    """Chosen among their own records, and all of whoever has few."""
    kept = crowd.kept(4, np.random.default_rng(3))
    places = {tuple(point) for point in crowd.records.true_points}

    assert len(kept) == np.minimum(crowd.sizes, 4).sum()
    assert all(tuple(point) in places for point in kept)


def test_regions_mend_what_one_factor_cannot(crowd):
    """With little noise: a smaller error, and intervals that hold the truth where those by noise alone do not."""
    by_regions = Score.of(crowd, [all_records(crowd, 200.0, 1, private=False)])
    by_factor = Score.of(crowd, [scaled(crowd, 50, 200.0, 1, private=False)])

    assert by_regions.absolute < by_factor.absolute
    assert by_regions.coverage.mean() > 0.9 > by_factor.coverage.mean()


def test_the_command_compares_all_estimates(crowd, monkeypatch):
    """With either total, by regions and by the best K."""
    monkeypatch.setitem(CROWDS, "few users", lambda: crowd)
    monkeypatch.setattr(trial, "BOUNDS", (5,))
    result = CliRunner().invoke(trial.main, ["--crowd", "few users", "--epsilon", "5", "--runs", "1"])

    assert result.exit_code == 0
    for words in ("public total, regions", "public total, K = 5", "private total, regions", "private total, K = 5"):
        assert words in result.output
