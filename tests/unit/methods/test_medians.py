"""Private medians: their candidates, their scores, and the cuts that come of them."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.geometry.tree import Lattice, divide_each, grow, seedling
from hushgrid.methods.trees import CELLS_A_NODE, MOST_CELLS, MedianCuts, candidate_cells, candidates
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

CERTAIN = Fraction(10**6)  # a selection at this rate takes one of the best
LATTICE = Lattice(domain=UNIT_SQUARE, columns=64, rows=64)
EITHER = pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)], ids=["columns", "rows", "both"])


def points(size=200, seed=0):
    """Points denser toward a corner."""
    return tuple(map(tuple, np.random.default_rng(seed).random((size, 2)) ** 2))


def halves():
    """A tree of two nodes, one narrow."""
    return grow(seedling(LATTICE), np.array([0]), np.array([[2, 1]]), np.array([[0, 0, 3, 64], [3, 0, 64, 64]]))


def cut(tree, data, axes, epsilon=CERTAIN):
    """Cuts of all nodes of the last level."""
    counter = PlainCounter(UNIT_SQUARE, data)
    nodes = np.arange(*tree.levels[-2:])
    budget = Budget(epsilon, bits=simulation_rng(0))
    cuts = MedianCuts(axes=axes, share=Fraction(1))
    return cuts.divide(counter, budget, tree, nodes, counter.count(tree)), budget


def lattice_points(data):
    """Columns and rows of points."""
    return np.minimum(np.floor(np.array(data).reshape(-1, 2) * 64), 63).astype(int)


@EITHER
def test_the_best_candidate_is_taken_where_noise_is_none(axes):
    """No line between strips of the node leaves the halves more equal."""
    data, tree = points(), halves()
    division, _ = cut(tree, data, axes)
    cells = candidate_cells(tree.boxes[[1, 2]], axes)
    for place, node in enumerate((1, 2)):
        low, high = tree.boxes[node, :2], tree.boxes[node, 2:]
        inside = lattice_points(data)
        inside = inside[((inside >= low) & (inside < high)).all(axis=1)]
        imbalance = [
            abs(2 * np.sum(inside[:, axis] < low[axis] + (high - low)[axis] * line // cells[place, axis]) - len(inside))
            for axis in axes
            for line in range(1, cells[place, axis])
        ]
        left, right = division.true_counts[2 * place : 2 * place + 2]

        assert abs(left - right) == min(imbalance)


@EITHER
def test_children_hold_the_points_they_are_said_to_hold(axes):
    """Counted again on the tree that grew."""
    division, _ = cut(halves(), points(), axes)
    grown = grow(halves(), division.nodes, division.splits, division.children)

    assert division.true_counts.tolist() == PlainCounter(UNIT_SQUARE, points()).count(grown).tolist()


@EITHER
def test_one_record_changes_one_row_of_scores_by_one(axes):
    """The sensitivity that the selection is charged for, wherever the record lies."""
    tree, nodes = halves(), np.array([1, 2])
    cells = candidate_cells(tree.boxes[nodes], axes)

    def scores(data):
        counter = PlainCounter(UNIT_SQUARE, data)
        true_lefts, allowed = candidates(counter, tree, nodes, cells, axes)
        return np.where(allowed, -np.abs(2 * true_lefts - counter.count(tree)[:, None]), 0), allowed

    before, allowed = scores(points(60))
    for extra in points(20, seed=1):
        change = np.abs(scores((*points(60), extra))[0] - before)
        touched = change.any(axis=1)

        assert touched.sum() == 1
        assert np.all(change[touched] == allowed[touched])


def test_a_node_without_a_line_inside_stays_whole():
    """One column wide: it can be cut across rows alone."""
    splits = np.array([[64, 1]])
    columns = grow(seedling(LATTICE), np.array([0]), splits, divide_each(LATTICE.box, splits))

    assert len(cut(columns, points(), (0,))[0].nodes) == 0
    assert len(cut(columns, points(), (1,))[0].nodes) == 64
    assert np.all(cut(columns, points(), (0, 1))[0].splits == [1, 2])


@EITHER
def test_the_share_is_charged_even_if_nothing_is_cut(axes):
    """What a release claims may not depend on how it went."""
    budget = Budget(Fraction(1), bits=simulation_rng(0))
    nothing = np.empty(0, np.int64)
    cuts = MedianCuts(axes=axes, share=Fraction(1, 3))
    division = cuts.divide(PlainCounter(UNIT_SQUARE, ()), budget, seedling(LATTICE), nothing, nothing)

    assert len(division.children) == 0
    assert budget.claim().epsilon == Fraction(1, 3)


@EITHER
def test_points_on_one_coordinate_are_never_separated(axes):
    """All of them go to one side."""
    division, _ = cut(seedling(LATTICE), ((0.3, 0.3),) * 50, axes)

    assert sorted(division.true_counts) == [0, 50]


@pytest.mark.parametrize("nodes", [1, 64, 1000, MOST_CELLS])
def test_candidates_are_bounded(nodes):
    """By node and by level, but for four cells a node."""
    boxes = np.repeat([[0, 0, 2**20, 2**20]], nodes, axis=0)
    for axes in ((0,), (1,), (0, 1)):
        cells = candidate_cells(boxes, axes).prod(axis=1)

        assert 2 <= cells.min() <= cells.max() <= CELLS_A_NODE
        assert cells.sum() <= max(MOST_CELLS, 4 * nodes)


def test_candidates_of_two_axes_lie_equally_far_apart():
    """A long node has more of them along its length."""
    columns, rows = candidate_cells(np.array([[0, 0, 2**18, 2**14]]), (0, 1))[0]

    assert columns == 16 * rows
