"""User level: the choice of records is uniform, and nothing about one user shows beyond epsilon."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from hushgrid.audit.estimator import epsilon_lower_bound
from hushgrid.audit.laws import chi_square_p_value
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KEY_BYTES, KeyedRule
from hushgrid.counting.by_user.ids import Ids
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.staq import Staq
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE

pytestmark = pytest.mark.slow

ACCEPT, REJECT = 1e-3, 1e-6
RECORDS, MOST = 6, 2
SUBSETS = list(combinations(range(RECORDS), MOST))


def choices(places, *, runs=6000):
    """How often each pair of six records of a user was kept, over many keys."""
    bits = simulation_rng(11)
    users = Ids.of(pa.array([b"ann"] * RECORDS, pa.large_binary()))
    longitudes, latitudes = np.array(places, np.float64).T.copy()
    found = dict.fromkeys(SUBSETS, 0)
    for _ in range(runs):
        key = bits.integer(8 * KEY_BYTES).to_bytes(KEY_BYTES)
        rule = KeyedRule(key=key, domain=UNIT_SQUARE, most=MOST)
        found[tuple(rule.keep(users, longitudes, latitudes).rows.tolist())] += 1
    return np.array(list(found.values()))


def p_value(observed):
    """Of all pairs being equally likely."""
    return chi_square_p_value(observed, np.full(len(SUBSETS), observed.sum() / len(SUBSETS)))


def test_all_subsets_of_a_users_records_are_equally_likely():
    """Fifteen pairs of six records at six places."""
    assert p_value(choices(np.random.default_rng(1).random((RECORDS, 2)))) > ACCEPT


def test_records_at_one_place_are_chosen_like_any_others():
    """Three of the six coincide: which of them is kept matters to nobody, that they are kept as often does."""
    places = np.random.default_rng(2).random((RECORDS, 2))
    places[1] = places[2] = places[0]
    kept_there = np.array([sum(record < 3 for record in pair) for pair in SUBSETS])
    observed = np.bincount(kept_there, weights=choices(places), minlength=3).astype(np.int64)
    expected = np.bincount(kept_there, minlength=3) / len(SUBSETS) * observed.sum()

    assert chi_square_p_value(observed, expected) > ACCEPT


def test_the_check_would_notice_a_choice_that_is_not_uniform():
    """Negative control: one record that is kept a tenth more often."""
    observed = choices(np.random.default_rng(1).random((RECORDS, 2)))
    favoured = np.array([0 in pair for pair in SUBSETS])

    assert p_value(np.where(favoured, observed + observed // 3, observed)) < REJECT


EPSILON, K, RUNS = Fraction(2), 3, 1000
SPOT = (0.1, 0.1)
CROWD = [(f"user {number % 8}", (0.05 + 0.9 * number / 40, 0.55)) for number in range(40)]
# Far more records than K: stacked on one spot, and over many cells.
HEAVY = {
    "stacked": [("eve", SPOT)] * 60,
    "over many cells": [("eve", (0.02 + 0.96 * x / 8, 0.02 + 0.96 * y / 8)) for x in range(8) for y in range(8)],
}
METHODS = {"ug": UniformGrid(side=4), "ag": AdaptiveGrid(first_side=2), "staq": Staq(first_level=1)}


def samples(method, records, *, most=K, kept=K, seed=5):
    """What an attacker looks at, over many releases: counts here and there, sums, the structure, the total."""
    bits = simulation_rng(seed)
    users, points = zip(*records, strict=True)
    out = []
    for _ in range(RUNS):
        rule = KeyedRule(key=bits.integer(256).to_bytes(32), domain=UNIT_SQUARE, most=kept, most_for_total=10 * kept)
        budget = Budget(EPSILON, bits=bits, unit="user", max_per_unit=most)
        source = open_points(list(points), crs=UNIT_SQUARE.crs, user=list(users))
        with bounded_points(source, rule) as bounded:
            total = budget.noisy_total(bounded.true_capped_total, cap=10 * most)
            release = method.release(PointCounter(UNIT_SQUARE, bounded.source), budget)
        corner, half = release.count([0, 0, 0.25, 0.25]), release.count([0, 0, 1, 0.5])
        out.append((corner, half, release.total, release.counts.max(), release.partition.cells, total))
    return np.array(out, float)


@pytest.mark.parametrize(
    ("method", "heavy"),
    [("ug", "stacked"), ("ug", "over many cells"), ("ag", "stacked"), ("staq", "over many cells")],
)
def test_a_heavy_user_shows_no_more_than_epsilon(method, heavy):
    """With and without all records of one user, of which there are twenty times K."""
    bound = epsilon_lower_bound(samples(METHODS[method], CROWD), samples(METHODS[method], CROWD + HEAVY[heavy], seed=6))

    assert bound.epsilon <= EPSILON


def test_the_audit_would_notice_that_records_were_not_bounded():
    """Negative control: noise for K records, and all sixty of them counted."""
    method = METHODS["ug"]
    bound = epsilon_lower_bound(
        samples(method, CROWD, kept=1000), samples(method, CROWD + HEAVY["stacked"], kept=1000, seed=6)
    )

    assert bound.epsilon > EPSILON


def test_the_audit_would_notice_noise_for_one_record_only():
    """Negative control: K records kept and the noise of record level."""
    method = METHODS["ug"]
    bound = epsilon_lower_bound(
        samples(method, CROWD, most=1), samples(method, CROWD + HEAVY["stacked"], most=1, seed=6)
    )

    assert bound.epsilon > EPSILON
