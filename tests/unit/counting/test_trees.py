"""Counts on trees and on quadtree cells, by going down, by bisection and by sorting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting import counter as counters
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.quadrants import DEEPEST, Quadrants, gather_bits, scatter_bits
from tests.plain import UNIT_SQUARE, PlainCounter
from tests.strategies import trees


def points_around(domain, size=200, seed=0):
    """Points in and around a domain, some on lines of every lattice."""
    shares = np.random.default_rng(seed).uniform(-0.1, 1.1, (size, 2))
    shares[::4] = shares[::4].round(2)
    corners = [[0, 0], [1, 1], [0, 1], [1, 0]]
    return (domain.west, domain.south) + np.vstack([shares, corners]) * (domain.width, domain.height)


@settings(deadline=None, max_examples=30)
@given(trees())
def test_leaves_of_a_tree_hold_what_a_plain_loop_finds(tree):
    """Points on lines and corners included."""
    points = points_around(tree.domain)
    counter = PointCounter(tree.domain, open_points(points, crs=tree.domain.crs))

    assert np.array_equal(counter.count(tree), PlainCounter(tree.domain, tuple(map(tuple, points))).count(tree))


@pytest.mark.parametrize("most", [0, 10**6], ids=["in-passes", "sorted"])
def test_quadtree_cells_hold_what_a_plain_loop_finds(most, monkeypatch):
    """Cells of several levels, with gaps between them, from passes or from the sorted curve."""
    monkeypatch.setattr(counters, "MOST_POINTS", most)
    cells = Quadrants(domain=UNIT_SQUARE, levels=[2, 2, 3, 3, 1], codes=[0, 1, 8, 11, 3])
    points = points_around(UNIT_SQUARE)
    counter = PointCounter(UNIT_SQUARE, open_points(points, crs=UNIT_SQUARE.crs))

    assert np.array_equal(counter.count(cells), PlainCounter(UNIT_SQUARE, tuple(map(tuple, points))).count(cells))


@pytest.mark.parametrize("level", [0, 1, 5, 8])
def test_a_level_of_the_curve_is_a_grid(level):
    """All quadtree cells of a level have the counts of a grid, because one expression places points in both."""
    points = points_around(UNIT_SQUARE, size=5000)
    counter = PointCounter(UNIT_SQUARE, open_points(points, crs=UNIT_SQUARE.crs))
    side = 2**level
    cells = Quadrants(domain=UNIT_SQUARE, levels=np.full(side**2, level), codes=np.arange(side**2))
    by_row = counter.count(Grid(domain=UNIT_SQUARE, rows=side, columns=side)).reshape(side, side)

    left, bottom = cells.boxes().T[:2] >> (DEEPEST - level)
    assert np.array_equal(counter.count(cells), by_row[bottom, left])


def test_no_cells_are_counted_in_no_time():
    """An empty frontier of a tree."""
    counter = PointCounter(UNIT_SQUARE, open_points(points_around(UNIT_SQUARE), crs=UNIT_SQUARE.crs))

    assert counter.count(Quadrants(domain=UNIT_SQUARE, levels=[], codes=[])).shape == (0,)


@given(st.lists(st.integers(0, 2**16 - 1), min_size=1))
def test_bits_come_back_from_the_code(numbers):
    """Interleaved with any other number."""
    codes = scatter_bits(np.array(numbers)) | scatter_bits(np.array(numbers[::-1])) << 1

    assert gather_bits(codes).tolist() == numbers
    assert gather_bits(codes >> 1).tolist() == numbers[::-1]


@pytest.mark.parametrize(
    ("levels", "codes"),
    [([1], [4]), ([17], [0]), ([-1], [0]), ([1], [-1]), ([1, 2], [0, 3]), ([1, 1], [2, 1])],
    ids=["code-too-large", "too-deep", "negative-level", "negative-code", "overlap", "out-of-order"],
)
def test_what_are_no_quadtree_cells_is_refused(levels, codes):
    """Disjoint cells in the order of the curve."""
    with pytest.raises(ArgumentError, match="quadtree cell"):
        Quadrants(domain=UNIT_SQUARE, levels=levels, codes=codes)
