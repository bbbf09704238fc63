"""Intervals as wide as a release needs them, from released values alone."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hushgrid as hg
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.errors import ArgumentError
from hushgrid.inference.pooled import AKIN
from hushgrid.inference.split_loops import CONCENTRATIONS
from hushgrid.inference.splits import FIRST_WEIGHTS
from hushgrid.methods import METHODS
from hushgrid.priors.sharpen import sharpened
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.release import calibrate
from hushgrid.release.calibrate import (
    BESIDE_A_RELEASE,
    EVEN_WIDENING,
    LEAST_FACTOR,
    MOST_LEARNED,
    REAL_UNEVENNESS,
    RECTS_PER_SIDE,
    WIDENING,
    _found,
    _likeness,
    _widened,
    _widened_in_version_2,
    calibrated,
)
from hushgrid.sampling.likeness import Replica, draw_share, even_laws
from hushgrid.synopsis.answer import CONFIDENCES, SIDES, UNCALIBRATED, Calibration, normal_reach
from tests.plain import UNIT_SQUARE
from tests.priors import PointsPrior, clustered, good_prior

UNEVEN = Calibration(factors=tuple((0.7 + side, 0.8 + side, 1.0 + side, 1.3 + side, 2.0 + side) for side in range(6)))


def town(size, seed=0):
    """Points in streets: many on few lines, the rest anywhere."""
    rng = np.random.default_rng(seed)
    points = rng.random((size, 2))
    street = rng.random(size) < 0.8
    points[street, 0] = rng.integers(1, 20, size)[street] / 20 + 0.001 * rng.random(size)[street]
    return points


def release(name, *, size=20_000, epsilon=Fraction(1), seed=1):
    """What a method publishes of a town."""
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(town(size)))
    return METHODS[name]().release(counter, Budget(epsilon, bits=simulation_rng(seed)))


class TestCalibration:
    """Factors between and beyond the confidences they are known for."""

    def test_factors_are_met_at_their_sides_and_confidences(self):
        """The reach there is the normal one times the factor."""
        for side, factors in zip(SIDES, UNEVEN.factors, strict=True):
            for confidence, factor in zip(CONFIDENCES, factors, strict=True):
                reach = UNEVEN.reach(confidence, np.array([side**2]))[0]
                assert reach == pytest.approx(factor * normal_reach(confidence))

    def test_beyond_the_sides_factors_are_level(self):
        """Below the smallest side and above the largest, factors stay the same; an area of nothing has one too."""
        shares = np.array([0, SIDES[0] ** 2, SIDES[-1] ** 2, 1])
        nothing, smallest, largest, everything = UNEVEN.reach(0.95, shares)

        assert nothing == pytest.approx(smallest)
        assert everything == pytest.approx(largest)

    @pytest.mark.parametrize("confidence", [0, 1, np.nan, 1 - 2**-53], ids=["none", "all", "no number", "nearly all"])
    def test_what_is_no_confidence_is_refused(self, confidence):
        """A confidence outside 0 to 1 is refused, and one too near 1 for doubles."""
        with pytest.raises(ArgumentError, match="confidence"):
            normal_reach(confidence)

    def test_the_reach_grows_with_the_confidence(self):
        """The reach grows with the confidence, beyond the known confidences too."""
        reaches = [UNEVEN.reach(confidence, np.array([0.01]))[0] for confidence in np.linspace(0.01, 0.9999, 200)]

        assert np.all(np.diff(reaches) > 0)


class TestReplica:
    """Made-up points that follow a release."""

    @pytest.mark.parametrize("name", ["ug", "ag", "staq", "kd"])
    def test_leaves_hold_what_the_counts_say(self, name):
        """To within one point each, scaled to the size asked for."""
        synopsis = release(name)
        points = Replica(synopsis).points(5_000, seed=1)
        masses = np.maximum(synopsis.counts, 0)
        found = PointCounter(UNIT_SQUARE, ArrayPoints(points)).count(synopsis.partition)

        assert np.all(np.abs(found - 5_000 * masses / masses.sum()) < 1 + 1e-9)

    def test_points_clump_as_learned(self):
        """Halves of full leaves share their points far more unevenly than a coin would."""
        synopsis = release("ug", size=200_000, epsilon=Fraction(1, 50))
        points = Replica(synopsis).points(200_000, seed=1)
        west, south, east, north = synopsis.partition.bounds().T
        fullest = int(np.argmax(synopsis.counts))
        inside = points[
            ((points >= (west[fullest], south[fullest])) & (points < (east[fullest], north[fullest]))).all(1)
        ]
        halves = np.histogram(inside[:, 0], bins=8, range=(west[fullest], east[fullest]))[0]

        assert halves.var() > 5 * halves.mean()

    def test_unevenness_tells_streets_from_fields(self):
        """Streets are more uneven than fields; where nothing is learned, points are widened as real ones."""
        fields = np.random.default_rng(1).beta(2, 3, (20_000, 2))
        even = hg.publish(fields, domain=UNIT_SQUARE, epsilon=1, method="staq", calibrate=False, rng=simulation_rng(1))

        assert 0 < Replica(even).unevenness < 0.1 < Replica(release("staq")).unevenness < 1
        assert REAL_UNEVENNESS < Replica(release("ug")).unevenness < 1

    def test_another_seed_makes_other_points(self):
        """A seed makes the same points each time, and another seed others."""
        replica = Replica(release("staq"))

        assert np.array_equal(replica.points(5_000, seed=1), replica.points(5_000, seed=1))
        assert not np.array_equal(replica.points(5_000, seed=1)[:1000], replica.points(5_000, seed=2)[:1000])

    def test_threads_change_no_point(self, monkeypatch):
        """Every box has draws of its own."""
        replica = Replica(release("identity"))
        found = []
        for threads in ("1", "3"):
            monkeypatch.setenv("HUSHGRID_THREADS", threads)
            found.append(replica.points(20_000, seed=1))

        assert np.array_equal(*found)

    def test_a_last_digit_moves_hardly_a_point(self):
        """Of the counts or of the learned weights; other processors round otherwise."""
        synopsis = release("staq")
        nudged = replace(synopsis, counts=synopsis.counts * (1 + 1e-13))
        points, others = (Replica(one).points(20_000, seed=1) for one in (synopsis, nudged))

        assert len(points) == len(others)
        assert np.mean(np.any(np.abs(points - others) > 1e-12, axis=1)) < 1e-3

    def test_shares_follow_the_prior(self):
        """Variance of a share: a quarter times the mean of 1 / (2 A + 1), more for one-sided, none for even splits."""
        weights = np.array(FIRST_WEIGHTS)
        keys = np.random.default_rng(1).integers(2**63, size=40_000, dtype=np.uint64)
        tabulated, of_laws = even_laws()
        shares = [draw_share(key, np.cumsum(weights), of_laws, tabulated) for key in keys]
        laws = [1, 0, *(1 / (2 * strength + 1) for strength in CONCENTRATIONS)]

        assert np.mean(shares) == pytest.approx(0.5, abs=0.01)
        assert 4 * np.var(shares) == pytest.approx(weights @ laws, rel=0.03)


class TestLikeness:
    """How many points are made up, with which epsilon, how often."""

    @pytest.mark.parametrize(
        ("total", "epsilon", "expected"),
        [
            (0.4, 1, (0, 1, 0)),
            (10_000, 1, (10_000, 1, 4)),
            (100_000, 1, (50_000, 1, 2)),
            (1_000_000, 1, (50_000, 1, 1)),
            (1_000_000, 0.1, (500_000, 0.1, 2)),
            (1e9, 1, (25_000, 2, 1)),
            (1e9, 0.001, (100_000, 0.5, 1)),
            (1e9, 10, (5_000, 10, 1)),
        ],
    )
    def test_evidence_is_that_of_the_release_up_to_a_limit(self, total, epsilon, expected):
        """For releases of any size."""
        assert _likeness(total, Fraction(epsilon).limit_denominator(10**6), most=50_000) == pytest.approx(expected)


class TestCalibrated:
    """A release with the width its intervals need."""

    def test_it_is_the_same_release(self):
        """Nothing changes but the factors, and they come out the same again."""
        synopsis = release("ag")
        first, second = (calibrated(synopsis) for _ in range(2))

        assert first.calibration == second.calibration != UNCALIBRATED
        assert replace(first, calibration=UNCALIBRATED).counts is synopsis.counts

    def test_nothing_to_be_seen_leaves_it_as_it_is(self):
        """A release with no point, as far as its counts tell, has nothing to make points up from."""
        synopsis = release("ug")
        empty = replace(synopsis, counts=np.zeros_like(synopsis.counts))

        assert calibrated(empty).calibration == UNCALIBRATED

    def test_publish_calibrates_unless_told_not_to(self):
        """Factors are found with a release and change no count; calibrate=False leaves them out."""
        arguments = {"domain": UNIT_SQUARE, "epsilon": 1, "method": "ag"}
        points = town(5_000)
        with_factors = hg.publish(points, **arguments, rng=simulation_rng(1))
        without = hg.publish(points, **arguments, calibrate=False, rng=simulation_rng(1))

        assert without.calibration == UNCALIBRATED != with_factors.calibration
        assert np.array_equal(without.counts, with_factors.counts)

    def test_the_file_keeps_the_factors(self, tmp_path):
        """Factors read from a file are those written, bit for bit."""
        synopsis = hg.publish(town(5_000), domain=UNIT_SQUARE, epsilon=1, method="ag", rng=simulation_rng(1))
        synopsis.save(tmp_path / "town.dp.parquet", allow_simulation=True)

        assert hg.read(tmp_path / "town.dp.parquet").calibration == synopsis.calibration


@pytest.mark.slow
def test_a_likeness_is_small_for_inferences_that_learn(monkeypatch):
    """They cost most, and come out alike on small sets; other methods get a likeness of their own size."""
    sizes = {}

    def points(replica, size, *, seed):
        sizes[name] = size
        return made_up(replica, size, seed=seed)

    made_up = Replica.points
    monkeypatch.setattr(Replica, "points", points)
    for name in ("ag", "staq"):
        counter = PointCounter(UNIT_SQUARE, ArrayPoints(town(50_000)))
        calibrated(METHODS[name]().release(counter, Budget(Fraction(1), bits=simulation_rng(1))))

    assert sizes["staq"] == MOST_LEARNED
    assert sizes["ag"] == pytest.approx(50_000, rel=0.01)


class TestWidened:
    """How much wider intervals are than those of made-up points had to be."""

    found = np.exp(np.random.default_rng(1).normal(-0.2, 0.5, (len(SIDES), len(CONFIDENCES))))
    as_real = np.array(WIDENING) * np.maximum(found, found**0.75)

    def test_what_would_have_been_wide_enough_is_found(self):
        """Made-up answers that were off by half as much as foreseen, at every confidence."""
        normal = np.abs(np.random.default_rng(1).standard_normal((1, len(SIDES) * RECTS_PER_SIDE)))

        assert np.median(_found(0.5 * normal)) == pytest.approx(0.5, rel=0.05)

    @given(unevenness=st.floats(0, 1))
    def test_factors_lie_between_those_for_even_and_for_real_points(self, unevenness):
        """None is narrower than the smaller of both widenings has it, and none wider than the larger."""
        even, widened = EVEN_WIDENING * self.found, _widened(self.found, unevenness)

        assert np.all(widened >= np.minimum(even, self.as_real) * (1 - 1e-12))
        assert np.all(widened <= np.maximum(even, self.as_real) * (1 + 1e-12))
        assert np.all(widened >= np.minimum(WIDENING, EVEN_WIDENING) * self.found * (1 - 1e-12))

    def test_both_ends_are_met(self):
        """Even points have one widening at every confidence; real ones have that of version 2."""
        assert np.array_equal(_widened(self.found, 0), EVEN_WIDENING * self.found)
        for unevenness in (REAL_UNEVENNESS, 0.9):
            assert np.array_equal(_widened(self.found, unevenness), _widened_in_version_2(self.found, 1e5))

    @pytest.mark.parametrize(("evidence", "power"), [(7e5, 0.75), (9e5, 1)])
    def test_version_2_narrows_fully_where_much_is_known(self, evidence, power):
        """Its files verify with the power that they were released with."""
        narrowed = _widened_in_version_2(np.full((len(SIDES), len(CONFIDENCES)), 0.5), evidence)

        assert np.allclose(narrowed, np.array(WIDENING) * 0.5**power)


def test_a_method_whose_variances_say_too_little_gets_wider_intervals():
    """The kd tree's own variances cover far less than they should; calibrated, its intervals cover the more of it."""
    points = town(50_000)
    rng = np.random.default_rng(3)
    low = rng.random((500, 2)) * 0.7
    rects = np.hstack([low, low + 0.05 + 0.25 * rng.random((500, 1))])
    true_counts = np.array([np.all((points >= r[:2]) & (points <= r[2:]), axis=1).sum() for r in rects])
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(points))
    synopsis = METHODS["kd"]().release(counter, Budget(Fraction(1), bits=simulation_rng(1)))

    def coverage(one):
        answer = one.answer(rects)
        return np.mean((answer.low <= true_counts) & (true_counts <= answer.high))

    assert coverage(synopsis) < 0.85
    assert coverage(calibrated(synopsis)) > coverage(synopsis) + 0.03


def test_intervals_beside_an_earlier_release_are_wider():
    """Made-up points follow its noise as if it were true; what is public without noise widens nothing."""
    plain = hg.publish(
        clustered(3000, seed=4), domain=UNIT_SQUARE, epsilon=1, method="staq", prior="none", calibrate=False
    )
    widths = {
        kind: np.array(calibrated(sharpened(plain, replace(good_prior(), kind=kind))).calibration.factors)
        for kind in ("points", "release", "total")
    }

    above_the_least = slice(1, None)  # of the confidences
    np.testing.assert_allclose(
        widths["release"][:, above_the_least], BESIDE_A_RELEASE * widths["points"][:, above_the_least]
    )
    np.testing.assert_array_equal(widths["total"], widths["points"])


@pytest.mark.parametrize("others", [300, 3000, 30_000])
def test_intervals_beside_few_others_are_wider(others, monkeypatch):
    """Of a slice that has as many points as all others by a fifth; the more they have, the less."""
    options = {"domain": UNIT_SQUARE, "epsilon": 1, "method": "staq", "prior": "none", "calibrate": False}
    plain = hg.publish(clustered(3000, seed=4), **options)
    prior = PointsPrior(clustered(others, seed=5), trust=AKIN)
    sharper = sharpened(plain, prior)
    wide = np.array(calibrated(sharper).calibration.factors)
    monkeypatch.setattr(calibrate, "BESIDE_A_SLICE", 1.0)
    plainly = np.array(calibrated(sharper).calibration.factors)

    expected = 1 + 0.4 * 3000 / (3000 + others)
    above_the_least = plainly > LEAST_FACTOR
    np.testing.assert_allclose(wide[above_the_least], expected * plainly[above_the_least], rtol=0.01)
