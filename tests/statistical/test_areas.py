"""Counts on areas: the noise has its law, and one user in every area shows no more than epsilon."""

from fractions import Fraction

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.audit.estimator import epsilon_lower_bound
from hushgrid.audit.laws import discrete_laplace_p_value
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.districts import mosaic
from tests.plain import UNIT_SQUARE

pytestmark = pytest.mark.slow

ACCEPT, REJECT = 1e-3, 1e-6
EPSILON, K, RUNS = Fraction(2), 3, 500
TILES = mosaic(64, step=1.0)
AREAS = hg.Areas(TILES)
INSIDE = shapely.get_coordinates(shapely.point_on_surface(TILES))
CROWD = [(f"user {number}", INSIDE[(number + step) % 64]) for number in range(24) for step in range(K)]
EVERYWHERE = [("eve", place) for place in INSIDE for _ in range(2)]


def noise(*, unit):
    """What releases add to the counts of areas, over many of them."""
    users, places = zip(*CROWD, strict=True)
    true_counts = np.bincount([(number + step) % 64 for number in range(24) for step in range(K)], minlength=64)
    options = {"user": list(users), "max_per_user": K, "distinct": True} if unit == "user" else {}
    drawn = [
        hg.publish(
            np.array(places), domain=UNIT_SQUARE, epsilon=EPSILON, method=AREAS, rng=simulation_rng(seed), **options
        )
        for seed in range(80)
    ]
    return np.concatenate([release.measurements.leaves.values - true_counts for release in drawn])


@pytest.fixture(scope="module")
def noise_on_users():
    """Noise of distinct users; everyone has as many areas as may be kept, so that the truth is known."""
    return noise(unit="user")


def test_distinct_users_get_noise_of_a_kth_of_epsilon(noise_on_users):
    """Each count, by its exact law."""
    assert discrete_laplace_p_value(noise_on_users, EPSILON / K) > ACCEPT


def test_records_get_noise_of_epsilon():
    """A record lies in one area, so its noise has rate epsilon."""
    assert discrete_laplace_p_value(noise(unit="record"), EPSILON) > ACCEPT


@pytest.mark.parametrize("rate", [EPSILON, EPSILON / K * Fraction(6, 5)], ids=["of record level", "20 % small"])
def test_the_check_would_notice_too_little_noise(noise_on_users, rate):
    """Negative control: the check rejects noise of record level, and noise 20 % too small."""
    assert discrete_laplace_p_value(noise_on_users, rate) < REJECT


def samples(records, *, most=K, kept=K, seed=5):
    """What an attacker looks at, over many releases: an area, the total, and how many counts are above the crowd's."""
    bits, areas = simulation_rng(seed), AREAS.public_partition(UNIT_SQUARE)
    users, places = zip(*records, strict=True)
    index = AreaIndex.of(areas)
    out = []
    for _ in range(RUNS):
        key = bits.integer(256).to_bytes(32)
        rule = KeyedRule(key=key, domain=UNIT_SQUARE, most=kept, areas=index, distinct_areas=True)
        budget = Budget(EPSILON, bits=bits, unit="user", max_per_unit=most)
        source = open_points(np.array(places), crs=UNIT_SQUARE.crs, user=list(users))
        with bounded_points(source, rule) as bounded:
            counts = AREAS.release(PointCounter(UNIT_SQUARE, bounded.source), budget).counts
        out.append((counts[0], counts.sum(), np.sum(counts > np.median(counts) + 1), counts.max()))
    return np.array(out, float)


def test_a_user_in_every_area_shows_no_more_than_epsilon():
    """With and without all records of one user, two in each area."""
    bound = epsilon_lower_bound(samples(CROWD), samples(CROWD + EVERYWHERE, seed=6))

    assert bound.epsilon <= EPSILON


def test_the_audit_would_notice_that_areas_were_not_bounded():
    """Negative control: noise for K areas, and the user counted in all sixty-four."""
    bound = epsilon_lower_bound(samples(CROWD, kept=64), samples(CROWD + EVERYWHERE, kept=64, seed=6))

    assert bound.epsilon > EPSILON
