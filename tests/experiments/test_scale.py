"""Coverage at scale, on few points."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.datasets import LAWS
from experiments.datasets.laws import BLOCK
from experiments.figures.coverage import scale_table
from experiments.scale import COVERAGES, RECTS_PER_SIZE, ScaleTrial, counts_between, rectangles
from experiments.suites import SUITES
from experiments.trial import QUERIES
from experiments.workload import QUERY_SIZES, true_counts
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.geometry.domain import Domain


def test_points_follow_a_law_that_more_of_them_do_not_change():
    """A larger set begins with the same blocks."""
    law = replace(LAWS["towns"], size=BLOCK + 1000)
    larger = replace(law, size=2 * BLOCK).points()

    assert law.points().shape == (BLOCK + 1000, 2)
    assert np.array_equal(law.points()[:BLOCK], larger[:BLOCK])
    assert not np.array_equal(larger[:BLOCK], larger[BLOCK:])


def test_one_law_is_far_clumpier_than_the_other():
    """By the share of points in the fullest hundredth of equal cells."""
    shares = {}
    for name, law in LAWS.items():
        west, south, east, north = law.domain.bounds
        cells = np.histogram2d(*law.points().T, bins=100, range=[(west, east), (south, north)])[0].ravel()
        shares[name] = np.sort(cells)[-100:].sum() / law.size

    assert shares["towns"] > 3 * shares["plains"]


def test_true_counts_are_those_of_a_second_way():
    """By sorting, which knows of no lines; no point lies on one."""
    domain = Domain(west=-3, south=1, east=4, north=3)
    points = np.random.default_rng(0).uniform((-3, 1), (4, 3), (10_000, 2))
    rects, lines = rectangles(domain, seed=1)

    assert np.array_equal(counts_between(PointCounter(domain, ArrayPoints(points)), lines), true_counts(points, rects))


def test_rectangles_lie_inside_and_halve_from_size_to_size():
    """Rectangles lie in the domain, and each size is half of the next."""
    rects, lines = rectangles(Domain(west=0, south=0, east=1, north=1), seed=2)
    sides = (rects[:, 2:] - rects[:, :2]).reshape(QUERY_SIZES, RECTS_PER_SIZE, 2)

    assert (lines >= 0).all()
    assert rects.max() <= 1
    assert np.allclose(sides.mean(axis=(1, 2)), 0.5 / 2.0 ** np.arange(QUERY_SIZES - 1, -1, -1), rtol=0.02)


@pytest.fixture(scope="module")
def rows():
    """Rows of the smallest trial."""
    return SUITES["scale"].quick[0].run()


def test_rows_tell_the_coverage_of_every_confidence(rows):
    """The wider the interval, the more often it holds the truth, and about as often as it says."""
    *by_size, everything = rows
    found = [everything[name] for name in COVERAGES]

    assert [row["queries"] for row in rows] == list(QUERIES)
    assert found == sorted(found)
    assert found[-2] > 0.85
    for name in COVERAGES:
        assert np.mean([row[name] for row in by_size]) == pytest.approx(everything[name], abs=1e-4)


def test_the_table_has_a_line_for_each_law_and_evidence(rows):
    """With means over runs, and rows of other kinds left aside."""
    again = [
        {**row, "key": "again", "seed": row["seed"] + 1, "coverage_95": 2 * 0.9 - row["coverage_95"]} for row in rows
    ]
    made = scale_table([*rows, *again, {"key": "other", "queries": "all"}])

    assert len(made.lines) == 1
    assert made.lines[0][:3] == ("towns", "1e5", "1e4")
    assert made.lines[0][made.headings.index("95%")].startswith("90.0 ± ")


def test_no_two_trials_share_noise():
    """Seeds differ by law, number of points, evidence and run."""
    trials = [*SUITES["scale"].full, *SUITES["scale"].quick]

    assert len({trial.noise_seed for trial in trials}) == len(trials)
    assert ScaleTrial(dataset="towns", points=10**7, evidence=1e5, seed=0).epsilon == 0.01
