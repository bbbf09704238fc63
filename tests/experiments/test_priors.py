"""What public priors gain, on made-up points."""

import numpy as np
import pytest

from experiments import priors
from experiments.datasets import DATASETS, SMALL_CLUSTERS
from experiments.figures.exhibit import DASH
from experiments.figures.priors import gain_table, interval_table, user_table
from experiments.priors import PRIORS, PriorTrial, Records
from experiments.suites import SUITES
from experiments.trial import QUERIES
from hushgrid.geometry.domain import Domain
from tests.experiments.made_rows import trial_rows

WIDE = Domain(west=10, south=0, east=42, north=16)


def points_of(domain, number=400, seed=1):
    """Points anywhere in a domain."""
    shares = np.random.default_rng(seed).random((number, 2))
    return shares * (domain.width, domain.height) + (domain.west, domain.south)


def rows_of(*, prior=priors.PLACES, dataset="us_chains", epsilon=1.0, errors=(1, 3), **more):
    """Two runs of a case, whose errors without the prior are twice as large."""
    return [
        {
            "key": f"{prior}{dataset}{epsilon}{seed}{queries}{more}",
            "dataset": dataset,
            "prior": prior,
            "epsilon": epsilon,
            "seed": seed,
            "queries": queries,
            "points": 1234,
            "nats": 5.0,
            "used": seed == 0,
            "relative": error,
            "absolute": error,
            "plain_relative": 2 * error,
            "plain_absolute": 4 * error,
            **more,
        }
        for seed, error in enumerate(errors)
        for queries in QUERIES
    ]


@pytest.mark.parametrize("move", [priors.mirrored, priors.permuted, priors.half_right])
def test_points_are_moved_inside_the_domain(move):
    """All stay inside, and most lie elsewhere; half of them where half is right."""
    points = points_of(WIDE)
    moved = move(points, WIDE)

    assert moved.shape == points.shape
    assert (moved >= WIDE.bounds[:2]).all()
    assert (moved <= WIDE.bounds[2:]).all()
    stayed = len(set(map(tuple, points.round(6))) & set(map(tuple, moved.round(6)))) / len(points)
    assert stayed < 0.6
    assert (stayed > 0.4) == (move is priors.half_right)


def test_a_permutation_moves_whole_blocks():
    """Points of one block stay together: what they are apart stays."""
    block = points_of(Domain(west=10, south=0, east=12, north=1))
    moved = priors.permuted(block, WIDE)

    np.testing.assert_allclose(moved - moved[0], block - block[0])


def test_halves_share_no_record_and_no_user():
    """Each record is published or public; with users, each user's are on one side."""
    points, users = points_of(WIDE), np.repeat(np.arange(40), 10)
    alone, together = (Records(dataset="places", true_points=points, true_users=each) for each in (None, users))

    for records in (alone, together):
        mine, others = records.halves()
        assert (mine ^ others).all()
        assert abs(mine.sum() - others.sum()) <= 10
    assert not set(users[mine]) & set(users[others])


def test_a_prior_that_helps_and_one_that_does_not():
    """Points of the same clusters lower both errors; moved ones leave the release as it is."""
    good, useless = (
        PriorTrial(dataset=SMALL_CLUSTERS, prior=prior, epsilon=0.1, seed=0, calibrate=True).run()
        for prior in (priors.OTHER_HALF, priors.MOVED)
    )

    assert [row["queries"] for row in good] == list(QUERIES)
    assert good[-1]["used"]
    assert good[-1]["relative"] < 0.8 * good[-1]["plain_relative"]
    assert good[-1]["absolute"] < 0.9 * good[-1]["plain_absolute"]
    assert 0.8 < good[-1]["held"] <= 1
    assert not useless[-1]["used"]
    assert all(row["relative"] == row["plain_relative"] and row["held"] == row["plain_held"] for row in useless)


def test_the_suite_has_what_is_said_of_priors():
    """Good, weak and misleading ones on four sets have intervals; users have three bounds."""
    trials = SUITES["priors"].full
    covered = {(trial.dataset, trial.prior) for trial in trials if trial.calibrate}

    assert {trial.prior for trial in trials} == set(PRIORS)
    for prior in (priors.OTHER_HALF, priors.FEW_OTHERS, priors.HALF_RIGHT, priors.MOVED):
        assert {dataset for dataset, of in covered if of == prior} == {
            *("us_chains", "checkin_gowalla_nyc", "uk_postcodes", "towns")
        }
    assert {trial.max_per_user for trial in trials} == {None, 5, 10, 20}
    assert all(trial.dataset in DATASETS for trial in trials)


def test_gains_are_shares_of_the_errors_without():
    """Means over runs; rows of other kinds are passed over."""
    made = [*rows_of(), *trial_rows("us_chains", 1.0, "staq"), *rows_of(max_per_user=5)]
    [line] = gain_table(made).lines

    assert line == (priors.PLACES, "us_chains", "1,234", "1 of 2", "0.50 ± .00 / 0.25 ± .00")
    assert user_table(made).lines == ((priors.PLACES, "5", "1 of 2", "0.50 ± .00 / 0.25 ± .00"),)


def test_intervals_are_averaged_over_sets_and_budgets():
    """Each case has a line, and all together have two; a case without intervals has none."""
    made = [
        *rows_of(held=0.9, plain_held=0.8),
        *rows_of(dataset="towns", epsilon=0.1, held=1.0, plain_held=0.9),
        *rows_of(prior=priors.EARLIER),
    ]
    first, second, with_prior, without = interval_table(made).lines

    assert first[:4] == (priors.PLACES, "us_chains", DASH, "90.0 ± .0")
    assert second[:4] == (priors.PLACES, "towns", "100.0 ± .0", DASH)
    assert with_prior[2:5] == ("100.0 ± .0", "90.0 ± .0", "95.0 ± .0")
    assert without[-1] == "85.0 ± .0"
