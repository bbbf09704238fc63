"""Change over many simulated releases: false alarms, power and coverage, each with a control that must fail."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from scipy.stats import binom

import hushgrid as hg
from hushgrid.change.blocks import block_grid
from hushgrid.change.evidence import AskedPlaces, NamedAreas
from tests.plain import UNIT_SQUARE

pytestmark = pytest.mark.slow

ACCEPT = 1e-3  # how rarely a good build fails
RUNS, RATE, SIDE, EPSILON = 200, 0.05, 20, 0.5
BLOCKS = block_grid(replace(UNIT_SQUARE, crs="EPSG:32618"), SIDE).bounds()
LANDS = 20
AREAS = {
    "geometry": [shapely.box(*block) for block in BLOCKS],
    "land": [f"land {number // LANDS}" for number in range(len(BLOCKS))],
    "county": [f"county {number}" for number in range(len(BLOCKS))],
}
METHODS = {"grid": hg.UniformGrid(side=SIDE), "ag": "ag", "areas": hg.Areas(AREAS, levels=["land", "county"])}


def made_up(seed, number=6000):
    """Points of a town, and others everywhere."""
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(0.4, 0.1, (number // 2, 2)), rng.random((number // 2, 2))])
    return points[((points >= 0) & (points <= 1)).all(axis=1)]


def true_counts(points):
    """Points in each block."""
    return np.histogram2d(points[:, 1], points[:, 0], bins=SIDE, range=[[0, 1], [0, 1]])[0].ravel()


def compared(before, after, method, run, *, rects=BLOCKS):
    """What two releases of one run say about rectangles, or about counties."""
    releases = (
        hg.publish(
            points,
            domain=UNIT_SQUARE,
            epsilon=EPSILON,
            method=METHODS[method],
            calibrate=False,
            rng=hg.simulation_rng(2 * run + side),
        )
        for side, points in enumerate((before, after))
    )
    change = hg.compare(*releases, rate=RATE)
    return change.areas()[1] if method == "areas" else change.answer(rects)


@pytest.fixture(scope="module", params=METHODS)
def nothing_changed(request):
    """Many comparisons of two releases of the same points."""
    points = made_up(1)
    return [compared(points, points, request.param, run) for run in range(RUNS)]


def too_many(alarms):
    """Whether a rate of false alarms that is kept would give as many less than once in a thousand times."""
    return binom.sf(sum(alarms) - 1, len(alarms), RATE) < ACCEPT


def test_false_discoveries_stay_at_the_rate(nothing_changed):
    """Where nothing changed every discovery is false, and its rate is how often there is one."""
    assert not too_many([found.significant.any() for found in nothing_changed])


def test_control_without_a_correction_there_are_false_discoveries(nothing_changed):
    """In nearly every run."""
    assert too_many([(found.p_value <= RATE).any() for found in nothing_changed])


@pytest.mark.parametrize("method", ["grid", "areas"])
def test_control_with_half_the_variance_there_are_false_discoveries(method, monkeypatch):
    """As if one of the two releases had no noise."""
    kind = NamedAreas if method == "areas" else AskedPlaces
    widths = kind.half_widths
    monkeypatch.setattr(kind, "half_widths", lambda self, left_out: widths(self, left_out) / math.sqrt(2))
    points = made_up(1)

    assert too_many([compared(points, points, method, run).significant.any() for run in range(RUNS // 4)])


@pytest.fixture(scope="module", params=["grid", "areas"])
def much_changed(request):
    """Comparisons of releases of two months, what truly changed in each block, and the months."""
    before, after = made_up(1), made_up(2, 9000)
    true_differences = true_counts(after) - true_counts(before)
    return [compared(before, after, request.param, run) for run in range(RUNS // 2)], true_differences


def coverage(found, true_differences, narrower=1.0):
    """How often an interval, made narrower, holds the true difference."""
    errors = np.array([np.abs(each.difference - true_differences) for each in found])
    halves = np.array([(each.high - each.low) / 2 for each in found])
    return (errors <= halves / narrower).mean()


def test_intervals_of_differences_hold_the_truth(much_changed):
    """Between 93 and 97 times in a hundred, at 95 % confidence."""
    assert 0.93 <= coverage(*much_changed) <= 0.97


def test_control_intervals_of_half_the_variance_do_not(much_changed):
    """They are too narrow to."""
    assert coverage(*much_changed, narrower=math.sqrt(2)) < 0.93


def test_intervals_that_cut_cells_hold_the_truth_no_less():
    """How points lie in cells that a block cuts is much alike in both months, so that these are on the wide side."""
    before, after = made_up(1), made_up(2, 9000)
    found = [compared(before, after, "ag", run) for run in range(RUNS // 4)]

    assert coverage(found, true_counts(after) - true_counts(before)) >= 0.93


QUIET = np.array([0.8, 0.8, 1.0, 1.0])  # a district of some 120 points
DISTRICTS = block_grid(replace(UNIT_SQUARE, crs="EPSG:32618"), 5).bounds()


def discoveries(share):
    """How often the quiet district is found when its points grow by a share, and how often others are."""
    before = made_up(1)
    inside = before[((before >= QUIET[:2]) & (before <= QUIET[2:])).all(axis=1)]
    after = np.concatenate([before, inside[: round(share * len(inside))]])
    quiet = np.isclose(DISTRICTS, QUIET).all(axis=1)
    found = [compared(before, after, "grid", run, rects=DISTRICTS).significant for run in range(RUNS // 2)]
    return np.mean([each[quiet].all() for each in found]), np.mean([each[~quiet].any() for each in found])


def test_a_district_that_doubled_is_found():
    """Nearly always, and hardly ever another."""
    power, others = discoveries(1.0)

    assert power > 0.9
    assert others < 0.15


def test_control_a_district_that_grew_a_little_is_not():
    """What noise explains is not called a change."""
    assert discoveries(0.1)[0] < 0.3
