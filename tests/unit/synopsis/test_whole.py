"""Whole numbers that add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from shapely import box

from hushgrid.geometry.grid import Grid
from hushgrid.geometry.nesting import Nesting, branches_of
from hushgrid.synopsis.whole import nearest_with_sum, rounded_to_sum, whole_apart, whole_numbers
from tests.plain import UNIT_SQUARE
from tests.synopses import synopsis_on

COUNTS = st.floats(-50, 500)
SPREADS = st.floats(0.1, 100)


@given(st.lists(st.tuples(COUNTS, SPREADS, st.integers(0, 3)), min_size=1, max_size=15))
def test_all_levels_add_up_and_nothing_is_negative(areas):
    """Each number lies within one of the nearest that are not negative and sum to the parent's."""
    counts, variances = (np.array(column) for column in list(zip(*areas, strict=True))[:2])
    nesting = Nesting.of(list(map(str, range(len(areas)))), {"state": [str(state) for *_, state in areas]})
    tree = branches_of(nesting.levels, len(areas))
    runs = list(zip(*tree.runs, strict=True))
    of_nodes = [
        np.array([each[nesting.order][first:stop].sum() for first, stop in runs]) for each in (counts, variances)
    ]
    whole = whole_numbers(tree, *of_nodes)

    assert whole.dtype == np.int64
    assert (whole >= 0).all()
    assert whole[0] == max(round(of_nodes[0][0]), 0)
    for node in np.flatnonzero(tree.child_counts):
        children = slice(tree.first_children[node], tree.first_children[node] + tree.child_counts[node])
        fitted = nearest_with_sum(of_nodes[0][children], of_nodes[1][children], float(whole[node]))
        assert whole[children].sum() == whole[node]
        assert np.abs(whole[children] - fitted).max() < 1 + 1e-6


@given(st.lists(st.tuples(COUNTS, SPREADS), min_size=1, max_size=6), st.floats(0, 300))
def test_the_nearest_numbers_are_those_an_optimiser_finds(values, total):
    """Of all that sum to the total and are not negative."""
    z, v = map(np.array, zip(*values, strict=True))
    found = nearest_with_sum(z, v, total)
    constraint = {"type": "eq", "fun": lambda x: x.sum() - total}
    start = np.full(len(z), total / len(z))
    best = minimize(lambda x: ((x - z) ** 2 / v).sum(), start, bounds=[(0, None)] * len(z), constraints=[constraint])

    assert found.sum() == pytest.approx(total, abs=1e-6)
    assert (found >= 0).all()
    assert ((found - z) ** 2 / v).sum() <= best.fun * (1 + 1e-4) + 1e-4


def test_largest_remainders_are_rounded_up():
    """As many as are missing."""
    assert rounded_to_sum(np.array([0.2, 0.9, 2.9]), 4).tolist() == [0, 1, 3]
    assert rounded_to_sum(np.array([2.0, 3.0]), 5).tolist() == [2, 3]


@given(st.lists(st.tuples(COUNTS, st.one_of(st.just(0.0), SPREADS)), max_size=15))
def test_areas_apart_keep_their_sum(areas):
    """None is negative, each is within one of the nearest such, and what has no variance is zero."""
    counts, variances = np.array(areas, float).reshape(-1, 2).T
    counts = np.where(variances > 0, counts, 0.0)
    whole = whole_apart(counts, variances)

    assert (whole >= 0).all()
    assert (whole[variances == 0] == 0).all()
    assert whole.sum() == max(round(counts.sum()), 0)
    if (variances > 0).any():
        some = variances > 0
        fitted = nearest_with_sum(counts[some], variances[some], float(whole.sum()))
        assert np.abs(whole[some] - fitted).max() < 1 + 1e-6


def test_one_polygon_has_one_whole_number():
    """Rounded, and not below zero."""
    synopsis = synopsis_on(Grid(domain=UNIT_SQUARE, rows=2, columns=2), values=[5, -9, 3, 4])
    answers = [
        synopsis.answer_polygons(box(*place), whole=True).estimate for place in ((0, 0, 0.5, 0.4), (0.5, 0, 1, 0.5))
    ]

    assert answers == [4, 0]
    assert {type(answer) for answer in answers} == {int}
