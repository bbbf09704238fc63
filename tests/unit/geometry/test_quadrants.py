"""Quadtree cells as the leaves of a tree."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.geometry.quadrants import (
    QuadrantNodes,
    all_cells,
    divide_cells,
    join_cells,
    node_depths,
    pick_cells,
    quadrant_tree,
)
from tests.plain import UNIT_SQUARE


@st.composite
def tilings(draw):
    """Cells of a few levels that tile the domain."""
    cells = all_cells(UNIT_SQUARE, draw(st.integers(0, 2)))
    for _ in range(draw(st.integers(0, 3))):
        steps = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=cells.cells, max_size=cells.cells))
        cells, _ = divide_cells(cells, np.array(steps))
    return cells


@settings(max_examples=50, deadline=None)
@given(tilings())
def test_the_leaves_are_the_cells_in_their_order(cells):
    """Box by box; all inner nodes are quartered."""
    tree = quadrant_tree(cells)

    assert np.array_equal(tree.boxes[tree.leaves], cells.boxes())
    assert set(map(tuple, tree.splits.tolist())) <= {(0, 0), (2, 2)}


@settings(max_examples=50, deadline=None)
@given(tilings())
def test_every_node_is_found_by_its_level_and_code(cells):
    """There and back; levels are steps from the root."""
    nodes, tree = QuadrantNodes(cells), quadrant_tree(cells)

    assert np.array_equal(nodes.find(nodes.depths, nodes.codes), np.arange(tree.nodes))
    assert np.array_equal(nodes.find(cells.levels, cells.codes), tree.leaves)
    assert nodes.depths[0] == 0
    assert np.array_equal(nodes.depths[1:], nodes.depths[tree.parents[1:]] + 1)
    assert np.array_equal(nodes.depths, node_depths(tree))


@settings(max_examples=50, deadline=None)
@given(tilings(), st.randoms(use_true_random=False))
def test_parts_lie_within_the_cell_they_name(cells, random):
    """Parts lie within their cell, and every level divides it by four."""
    steps = np.array([random.randrange(3) for _ in range(cells.cells)])
    parts, whole = divide_cells(cells, steps)
    outer, inner = cells.boxes()[whole], parts.boxes()

    assert np.array_equal(np.bincount(whole), 4**steps)
    assert np.all((outer[:, :2] <= inner[:, :2]) & (inner[:, 2:] <= outer[:, 2:]))


@settings(max_examples=50, deadline=None)
@given(tilings(), st.integers(0, 2**20))
def test_cells_picked_apart_join_again(cells, mask):
    """In the order of the curve."""
    chosen = np.array([mask >> place % 20 & 1 for place in range(cells.cells)], bool)
    joined = join_cells([pick_cells(cells, chosen), pick_cells(cells, ~chosen)])

    assert np.array_equal(joined.levels, cells.levels)
    assert np.array_equal(joined.codes, cells.codes)
