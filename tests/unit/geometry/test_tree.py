"""Trees of boxes: runs of leaves, and what is no tree."""

import numpy as np
import pytest
from hypothesis import given, settings

from hushgrid.errors import ArgumentError
from hushgrid.geometry.tree import Lattice, Tree
from tests.plain import UNIT_SQUARE
from tests.strategies import trees

LATTICE = Lattice(domain=UNIT_SQUARE, columns=4, rows=4)
HALVES = {"boxes": [[0, 0, 4, 4], [0, 0, 2, 4], [2, 0, 4, 4]], "splits": [[2, 1], [0, 0], [0, 0]]}


def leaves_under(tree, node):
    """Leaves below a node, by walking down to them."""
    if tree.child_counts[node] == 0:
        return [node]
    first = tree.first_children[node]
    return [leaf for child in range(first, first + tree.child_counts[node]) for leaf in leaves_under(tree, child)]


@settings(deadline=None)
@given(trees())
def test_every_node_is_one_run_of_leaves(tree):
    """The one that walking down finds."""
    first, stop = tree.runs

    assert all(tree.leaves[first[node] : stop[node]].tolist() == leaves_under(tree, node) for node in range(tree.nodes))


@settings(deadline=None)
@given(trees())
def test_parents_and_levels_follow_from_the_splits(tree):
    """Each child names its parent, and lies one level below it."""
    level = np.searchsorted(tree.levels, np.arange(tree.nodes), side="right") - 1

    assert tree.parents[0] == -1
    for node in range(1, tree.nodes):
        parent = tree.parents[node]
        assert tree.first_children[parent] <= node < tree.first_children[parent] + tree.child_counts[parent]
        assert level[node] == level[parent] + 1


def test_one_node_is_a_tree():
    """The whole domain as a leaf."""
    tree = Tree(lattice=LATTICE, boxes=LATTICE.box, splits=[[0, 0]])

    assert tree.bounds().tolist() == [[0, 0, 1, 1]]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"boxes": [[0, 0, 4, 4], [0, 0, 2, 4], [1, 0, 4, 4]]}, id="overlap"),
        pytest.param({"boxes": [[0, 0, 4, 4], [0, 0, 1, 4], [2, 0, 4, 4]]}, id="gap"),
        pytest.param({"boxes": [[0, 0, 4, 4], [0, 0, 2, 4], [2, 0, 4, 3]]}, id="short-of-the-top"),
        pytest.param({"boxes": [[0, 0, 4, 4], [0, 0, 4, 4], [4, 0, 4, 4]]}, id="no-width"),
        pytest.param({"boxes": [[0, 0, 3, 4], [0, 0, 2, 4], [2, 0, 3, 4]]}, id="root-is-not-the-lattice"),
        pytest.param({"splits": [[1, 1], [0, 0], [0, 0]]}, id="one-child"),
        pytest.param({"splits": [[3, 1], [0, 0], [0, 0]]}, id="too-few-nodes"),
        pytest.param({"splits": [[0, 0], [2, 1], [0, 0]]}, id="nodes-nobody-owns"),
        pytest.param({"splits": [[-2, -1], [0, 0], [0, 0]]}, id="negative"),
        pytest.param({"splits": [[2**40, 2**40], [0, 0], [0, 0]]}, id="overflow"),
        pytest.param({"splits": [[2, 1]]}, id="splits-missing"),
        pytest.param({"boxes": np.empty((0, 4))}, id="no-nodes"),
    ],
)
def test_what_is_no_tree_is_refused(change):
    """Children tile their parent, from the lattice down."""
    with pytest.raises(ArgumentError, match="tree"):
        Tree(lattice=LATTICE, **{**HALVES, **change})


def test_trees_are_equal_by_value():
    """Trees of the same boxes and splits are equal, and others are not."""
    assert Tree(lattice=LATTICE, **HALVES) == Tree(lattice=LATTICE, **HALVES)
    assert Tree(lattice=LATTICE, **HALVES) != Tree(lattice=LATTICE, boxes=LATTICE.box, splits=[[0, 0]])
