"""Synthetic points of the release of every method in METHODS."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

from hushgrid.answering.boxes import BoxTree
from hushgrid.geometry.tree import Tree
from hushgrid.methods import METHODS
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.sampling.points import leaf_masses
from tests.conformance.test_methods import EXPLICIT, clustered, release

# Sizes given, for speed; and those whose leaves slope.
FORMS = {**EXPLICIT, "ag, smooth": AdaptiveGrid(first_side=4, smooth=True), "staq, by default": METHODS["staq"]()}
SIZE = 20_000
LAND = shapely.Point(0.4, 0.6).buffer(0.5)


def inside(points, rects):
    """Points in every rectangle, half-open."""
    x, y = points.T
    west, south, east, north = rects.T[:, :, None]
    return np.count_nonzero((x >= west) & (x < east) & (y >= south) & (y < north), axis=1)


def in_leaves(points, partition):
    """Points in every leaf."""
    bounds = partition.bounds()
    return np.concatenate([inside(points, part) for part in np.array_split(bounds, max(1, len(bounds) // 50))])


@pytest.mark.parametrize("form", FORMS)
def test_every_leaf_and_node_has_its_points_within_one(form):
    """The points of every leaf and node are within one of its share of the masses."""
    synopsis = release(FORMS[form], clustered())
    partition = synopsis.partition
    points = synopsis.sample(SIZE, seed=1)
    order, masses = leaf_masses(BoxTree.of(partition), synopsis.counts, np.ones(partition.cells))
    expected = np.empty(partition.cells)
    expected[order] = SIZE * masses
    found = in_leaves(points, partition)

    assert found.sum() == SIZE
    assert np.all(np.abs(found - expected) < 1 + 1e-6)
    if isinstance(partition, Tree):
        runs = np.stack(partition.runs, axis=1)
        sums = [np.concatenate([[0], np.cumsum(values)]) for values in (found, expected)]
        nodes, shares = (values[runs[:, 1]] - values[runs[:, 0]] for values in sums)
        assert np.all(np.abs(nodes - shares) < 1 + 1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_range_counts_are_those_of_the_synopsis(form):
    """None of them negative, to four deviations of the points inside the leaves that are cut."""
    synopsis = release(FORMS[form], clustered())
    synopsis = replace(synopsis, counts=np.abs(synopsis.counts) + 0.1)
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 0.7, (50, 2))
    rects = np.hstack([low, low + rng.uniform(0.05, 0.3, (50, 2))])
    found, expected = inside(synopsis.sample(SIZE, seed=1), rects), synopsis.count(rects) * SIZE / synopsis.total

    assert np.all(np.abs(found - expected) < 1 + 4 * np.sqrt(expected + 1))


@pytest.mark.parametrize("form", FORMS)
def test_land_holds_all_points(form):
    """As many points as were asked for lie on land."""
    synopsis = release(FORMS[form], clustered())
    points = synopsis.sample(5000, seed=1, within=LAND)

    assert len(points) == 5000
    assert shapely.intersects_xy(LAND, *points.T).all()
