"""The rectangles of the paper and their true answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.datasets import DATASETS
from experiments.workload import QUERY_SIZES, RECTS_PER_SIZE, true_counts, workload
from hushgrid.geometry.domain import Domain

# Smallest queries as the data folder's index states them.
SMALLEST = {
    "uk_postcodes": (0.2, 0.2),
    "checkin_gowalla_sub": (6, 3),
    "us_chains": (1.25, 0.625),
    "us_cvs": (1.25, 0.625),
    "checkin_gowalla_nyc": (0.01125, 0.00875),
}


def brute_force(points, rects):
    """Points in each closed rectangle, one comparison at a time."""
    return [sum(w <= x <= e and s <= y <= n for x, y in points.tolist()) for w, s, e, n in rects.tolist()]


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=DATASETS)
def test_rectangles_lie_in_the_domain_and_double_in_size(dataset):
    """Six sizes, the largest as the data set says."""
    rects = workload(dataset.domain, dataset.largest_query, seed=3)
    west, south, east, north = dataset.domain.bounds
    sizes = rects[..., 2:] - rects[..., :2]
    expected = [np.array(dataset.largest_query) / 2**halvings for halvings in range(QUERY_SIZES - 1, -1, -1)]

    assert rects.shape == (QUERY_SIZES, RECTS_PER_SIZE, 4)
    assert (rects[..., :2] >= (west, south)).all()
    assert (rects[..., 2:] <= (east, north)).all()
    assert np.allclose(sizes, np.array(expected)[:, None, :], rtol=1e-9)


@pytest.mark.parametrize(("name", "smallest"), SMALLEST.items(), ids=SMALLEST)
def test_the_smallest_query_is_the_one_of_the_index(name, smallest):
    """Five halvings down from the largest."""
    rects = workload(DATASETS[name].domain, DATASETS[name].largest_query, seed=0)

    assert np.allclose(rects[0, :, 2:] - rects[0, :, :2], smallest)


def test_places_are_uniform():
    """Their mean is that of a uniform law, in every size, within five standard errors."""
    domain = Domain(west=-126, south=17, east=-66, north=57)
    rects = workload(domain, (40, 20), seed=11)
    room = np.array([domain.width, domain.height]) - (rects[..., 2:] - rects[..., :2])
    share = (rects[..., :2] - (domain.west, domain.south)) / room

    assert (abs(share.mean(axis=1) - 0.5) < 5 / np.sqrt(12 * RECTS_PER_SIZE)).all()
    assert share.min() < 0.02
    assert share.max() > 0.98


def test_a_seed_fixes_the_workload():
    """A seed fixes the workload, and another seed changes it."""
    domain = Domain(west=0, south=0, east=1, north=1)
    first, again, other = (workload(domain, (0.5, 0.5), seed=seed) for seed in (1, 1, 2))

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("points", [np.empty((0, 2)), np.full((7, 2), 0.5), np.random.default_rng(0).random((300, 2))])
def test_true_counts_agree_with_brute_force(points):
    """For no points, stacked ones and scattered ones."""
    rects = workload(Domain(west=0, south=0, east=1, north=1), (0.7, 0.6), seed=5).reshape(-1, 4)[::7]

    assert true_counts(points, rects).tolist() == brute_force(points, rects)


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_rectangles_are_closed(data):
    """Points and edges on a lattice of few values, so that they meet often."""
    lattice = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
    points = np.array(data.draw(st.lists(st.tuples(lattice, lattice), min_size=1, max_size=12)))
    corners = np.array(data.draw(st.lists(st.tuples(lattice, lattice, lattice, lattice), min_size=1, max_size=6)))
    rects = np.hstack([np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:])])

    assert true_counts(points, rects).tolist() == brute_force(points, rects)
