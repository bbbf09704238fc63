"""Counts as masses: none negative, the total kept, blocks halved."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.boxes import BoxTree
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.sampling.points import leaf_masses
from tests.plain import UNIT_SQUARE
from tests.strategies import partitions


def plain_masses(hierarchy, counts, areas):
    """Leaves in order and their masses, by recursion over blocks of children."""
    leaf_of_node = {node: leaf for leaf, node in enumerate(hierarchy.leaves.tolist())}
    order, masses = [], []

    def leaves_in(block):
        node, left, bottom, right, top = block
        children = [
            int(hierarchy.first_children[node] + row * hierarchy.splits[node, 0] + column)
            for row in range(bottom, top)
            for column in range(left, right)
        ]
        return [leaf for child in children for leaf in leaves_of(child)]

    def leaves_of(node):
        columns, rows = hierarchy.splits[node].tolist()
        return leaves_in((node, 0, 0, columns, rows)) if columns else [leaf_of_node[node]]

    def hand_down_node(node, mass):
        columns, rows = hierarchy.splits[node].tolist()
        if columns:
            hand_down((node, 0, 0, columns, rows), mass)
        else:
            order.append(leaf_of_node[node])
            masses.append(mass)

    def hand_down(block, mass):
        node, left, bottom, right, top = block
        if (right - left, top - bottom) == (1, 1):
            hand_down_node(int(hierarchy.first_children[node] + bottom * hierarchy.splits[node, 0] + left), mass)
            return
        if right - left >= top - bottom:
            middle = (left + right) // 2
            halves = [(node, left, bottom, middle, top), (node, middle, bottom, right, top)]
        else:
            middle = (bottom + top) // 2
            halves = [(node, left, bottom, right, middle), (node, left, middle, right, top)]
        land = [areas[leaves_in(half)].sum() for half in halves]
        weights = [
            max(counts[leaves_in(half)].sum(), 0) if area else 0 for half, area in zip(halves, land, strict=True)
        ]
        if sum(weights) <= 0:
            weights = land
        for half, weight in zip(halves, weights, strict=True):
            hand_down(half, mass * weight / sum(weights) if sum(weights) else 0.0)

    hand_down_node(0, 1.0)
    return order, masses


@settings(max_examples=60, deadline=None)
@given(data=st.data(), partition=partitions())
def test_masses_are_those_of_a_plain_recursion(data, partition):
    """Whole counts of any sign, and leaves with no room; sums of whole numbers are exact in any order."""
    sizes = {"min_size": partition.cells, "max_size": partition.cells}
    counts = np.array(data.draw(st.lists(st.integers(-20, 50), **sizes)), float)
    areas = np.array(data.draw(st.lists(st.integers(0, 2), **sizes)), float)
    areas[data.draw(st.integers(0, partition.cells - 1))] = 1.0
    hierarchy = BoxTree.of(partition)
    order, masses = leaf_masses(hierarchy, counts, areas)
    plain_order, plain = plain_masses(hierarchy, counts, areas)

    assert order.tolist() == plain_order
    assert np.allclose(masses, plain, rtol=1e-12, atol=1e-15)
    assert masses.min() >= 0
    assert np.isclose(masses.sum(), 1)
    assert not masses[areas[order] == 0].any()


def test_counts_that_are_not_negative_stay_as_they_are():
    """Masses times the total are the counts, where none is negative."""
    partition = NestedGrid(grid=Grid(domain=UNIT_SQUARE, rows=2, columns=3), sides=[1, 2, 3, 1, 4, 1])
    counts = np.random.default_rng(0).integers(0, 9, partition.cells).astype(float)
    order, masses = leaf_masses(BoxTree.of(partition), counts, np.ones(partition.cells))

    assert np.allclose(masses * counts.sum(), counts[order])


def test_negative_counts_are_made_up_for_by_neighbours():
    """Neighbours lose what a negative count lacks; the far half of the domain keeps its sum."""
    grid = Grid(domain=UNIT_SQUARE, rows=1, columns=8)
    counts = np.array([-3.0, 5.0, 4.0, 4.0, 10.0, 0.0, 20.0, 10.0])
    order, masses = leaf_masses(BoxTree.of(grid), counts, np.ones(8))

    assert order.tolist() == list(range(8))
    assert np.allclose(masses * 50, [0, 2, 4, 4, 10, 0, 20, 10])


@pytest.mark.parametrize("counts", [np.zeros(6), np.full(6, -2.0)], ids=["zeros", "negative"])
def test_without_a_positive_count_areas_share(counts):
    """Evenly over what there is room for."""
    grid = Grid(domain=UNIT_SQUARE, rows=2, columns=3)
    order, masses = leaf_masses(BoxTree.of(grid), counts, np.array([1.0, 1, 2, 0, 1, 0]))

    assert np.allclose(masses[np.argsort(order)], [0.2, 0.2, 0.4, 0, 0.2, 0])
