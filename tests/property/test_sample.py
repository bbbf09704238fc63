"""Synthetic points on partitions of any kind."""

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.boxes import BoxTree
from hushgrid.sampling.points import leaf_masses
from tests.plain import leaf_of
from tests.strategies import partitions, rects
from tests.synopses import some_values, synopsis_on

SIZE = 300


def by_leaf(partition, points):
    """Points in every leaf, one after the other."""
    leaves = [leaf_of(partition, *point) for point in points.tolist()]
    return np.bincount(leaves, minlength=partition.cells)


@settings(max_examples=40, deadline=None)
@given(partition=partitions(), seed=st.integers(0, 99))
def test_every_run_of_leaves_has_its_points_within_one(partition, seed):
    """In the order of blocks, which leaves no gap inside any of them."""
    synopsis = synopsis_on(partition, values=some_values(partition.cells, seed))
    order, masses = leaf_masses(BoxTree.of(partition), synopsis.counts, np.ones(partition.cells))
    found = by_leaf(partition, synopsis.sample(SIZE, seed=seed))[order]
    excess = np.concatenate([[0.0], np.cumsum(found - SIZE * masses)])

    assert found.sum() == SIZE
    assert np.ptp(excess) < 1 + 1e-6


@settings(max_examples=40, deadline=None)
@given(data=st.data(), partition=partitions())
def test_land_holds_every_point(data, partition):
    """Whatever rectangles it is made of, as long as some of it is in the domain."""
    domain = partition.domain
    middle = [(low + high) / 2 for low, high in ((domain.west, domain.east), (domain.south, domain.north))]
    boxes = [*shapely.box(*data.draw(rects(domain)).T), shapely.box(domain.west, domain.south, *middle)]
    points = synopsis_on(partition).sample(SIZE, seed=1, within=boxes)
    # A point that lies on the edge of two boxes' union is in one of them, to the last bit but one.
    distance = shapely.distance(shapely.points(points), shapely.union_all(boxes))

    assert len(points) == SIZE
    assert distance.max() <= 1e-12 * max(domain.width, domain.height)
