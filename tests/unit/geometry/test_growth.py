"""Trees that grow: divided leaves, and boxes divided each in its own way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.tree import Lattice, divide, divide_each, grow, places_in, seedling
from tests.plain import UNIT_SQUARE

LATTICE = Lattice(domain=UNIT_SQUARE, columns=16, rows=16)


@st.composite
def divided_boxes(draw):
    """Boxes, and columns and rows that they have lattice lines for."""
    corner, length = st.integers(0, 50), st.integers(1, 20)
    boxes = []
    for _ in range(draw(st.integers(0, 6))):
        left, bottom = draw(corner), draw(corner)
        boxes.append((left, bottom, left + draw(length), bottom + draw(length)))
    splits = [(draw(st.integers(1, box[2] - box[0])), draw(st.integers(1, box[3] - box[1]))) for box in boxes]
    return np.array(boxes, dtype=np.int64).reshape(-1, 4), np.array(splits, dtype=np.int64).reshape(-1, 2)


@settings(deadline=None)
@given(divided_boxes())
def test_every_box_is_divided_as_it_would_be_alone(given):
    """Box after box, whatever the others are divided into."""
    boxes, splits = given
    alone = [divide(box[None], *split) for box, split in zip(boxes, splits.tolist(), strict=True)]

    assert np.array_equal(divide_each(boxes, splits), np.concatenate([np.empty((0, 4), np.int64), *alone]))


@settings(deadline=None)
@given(divided_boxes())
def test_children_are_listed_row_by_row(given):
    """The order of a tree's children."""
    _, splits = given
    expected = [
        (box, column, row)
        for box, (columns, rows) in enumerate(splits.tolist())
        for row in range(rows)
        for column in range(columns)
    ]

    assert list(zip(*places_in(splits), strict=True)) == expected


def test_nodes_keep_their_numbers():
    """Later levels come after all that was there."""
    splits = np.array([[2, 2]])
    first = grow(seedling(LATTICE), np.array([0]), splits, divide_each(LATTICE.box, splits))
    nodes, splits = np.array([1, 4]), np.array([[3, 1], [1, 2]])
    second = grow(first, nodes, splits, divide_each(first.boxes[nodes], splits))

    assert np.array_equal(second.boxes[: first.nodes], first.boxes)
    assert second.levels.tolist() == [0, 1, 5, 10]
    assert second.cells == 2 + 5


def test_nothing_divided_is_the_same_tree():
    """A level at which everything stops."""
    tree = seedling(LATTICE)

    assert grow(tree, np.empty(0, np.int64), np.empty((0, 2), np.int64), np.empty((0, 4), np.int64)) is tree


def test_only_the_last_level_grows():
    """Children of an earlier leaf would be out of order."""
    halves = np.array([[2, 1]])
    tree = grow(seedling(LATTICE), np.array([0]), halves, divide_each(LATTICE.box, halves))
    tree = grow(tree, np.array([2]), halves, divide_each(tree.boxes[[2]], halves))

    with pytest.raises(ArgumentError, match="tile"):
        grow(tree, np.array([1]), halves, divide_each(tree.boxes[[1]], halves))
