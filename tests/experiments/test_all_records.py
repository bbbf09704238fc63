"""The trial of estimates of all records."""

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import all_records as trial
from experiments.all_records import Truth, scores
from experiments.crowds import CROWDS, log_normal, made_up


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


@pytest.mark.parametrize("cap", [None, 7])
def test_the_truth_counts_at_most_the_cap_of_each_user(crowd, cap):
    """Against a sum over all records, each with its weight."""
    records, truth = crowd.records, Truth(crowd=crowd)
    sizes = dict(zip(*np.unique(records.true_users, return_counts=True), strict=True))
    weights = np.array([1 if cap is None else min(1, cap / sizes[user]) for user in records.true_users])
    x, y = records.true_points.T

    assert truth.total(cap) == pytest.approx(weights.sum())
    for number in range(0, len(records.rects), 97):
        west, south, east, north = records.rects[number]
        inside = (west <= x) & (x <= east) & (south <= y) & (y <= north)
        assert truth.answers(cap)[number] == pytest.approx(weights[inside].sum())


def test_regions_mend_what_one_factor_cannot(crowd):
    """With little noise: a smaller error, and intervals that hold the truth where those by noise alone do not."""
    options = {"runs": 1, "epsilon": 100, "max_per_user": 10, "scale_to_total": len(crowd.records.true_points)}
    truth = Truth(crowd=crowd)
    (by_regions,) = scores(truth, estimate="all-records", **options)
    (by_factor,) = scores(truth, estimate="kept-records", **options)

    assert by_regions.absolute < by_factor.absolute
    assert by_regions.held.mean() > 0.9 > by_factor.held.mean()


def test_the_command_compares_both_estimates_with_either_total(crowd, monkeypatch):
    """One row each."""
    monkeypatch.setitem(CROWDS, "few users", lambda: crowd)
    result = CliRunner().invoke(trial.main, ["--crowd", "few users", "--epsilon", "5", "--runs", "1"])

    assert result.exit_code == 0
    for words in ("private  all records", "private  scaled", "public   all records", "public   scaled"):
        assert words in result.output
