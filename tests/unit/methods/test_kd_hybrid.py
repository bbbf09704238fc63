"""KD-hybrid: two kinds of levels, in either order."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.methods.kd import KdHybrid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

HUGE = Fraction(10**7)
DATA = tuple(map(tuple, np.random.default_rng(1).random((512, 2)) ** 2))


def release(method, data=DATA, epsilon=HUGE):
    """A simulated release."""
    return method.release(PlainCounter(UNIT_SQUARE, data), Budget(epsilon, bits=simulation_rng(0)))


def level_splits(tree):
    """Columns and rows that the inner nodes of each level are divided into."""
    level = np.searchsorted(tree.levels, np.arange(tree.nodes), side="right") - 1
    inner = tree.child_counts > 0
    return [sorted(set(map(tuple, tree.splits[inner & (level == at)].tolist()))) for at in range(level.max())]


CUT = [[(2, 1)], [(1, 2)]]
QUARTER = [[(2, 2)]]


@pytest.mark.parametrize(
    ("first", "expected"),
    [("kd", CUT + QUARTER * 2), ("quadtree", QUARTER + CUT * 2)],
    ids=["kd-first", "quadtree-first"],
)
def test_the_kinds_change_at_the_switch(first, expected):
    """Two halvings of the one, four of the other."""
    synopsis = release(KdHybrid(first=first, switch=2, height=6, stop_below=0))

    assert level_splits(synopsis.partition) == expected
    assert synopsis.partition.cells == 2**6


@pytest.mark.parametrize(
    ("method", "cuts"),
    [
        pytest.param(KdHybrid(switch=4, height=10), 4, id="kd-first"),
        pytest.param(KdHybrid(first="quadtree", switch=4, height=10), 6, id="quadtree-first"),
    ],
)
def test_medians_are_paid_for_where_there_are_any(method, cuts):
    """A twentieth of the budget, the same for every level of cuts."""
    claim = release(method, epsilon=Fraction(1)).claim

    assert [spend.epsilon for spend in claim.spends if spend.purpose == "selection"] == [Fraction(1, 20) / cuts] * cuts
    assert claim.epsilon == 1


@pytest.mark.parametrize(("first", "switch"), [("kd", 0), ("quadtree", 6)])
def test_a_quadtree_alone_spends_nothing_on_medians(first, switch):
    """All of the budget goes to counts."""
    claim = release(KdHybrid(first=first, switch=switch, height=6), epsilon=Fraction(1)).claim

    assert [(spend.purpose, spend.epsilon) for spend in claim.spends] == [("counts", 1)]


def test_the_height_follows_from_the_noisy_size():
    """It is asked for first, and paid for; twelve halvings for a thousand points, two of them cuts."""
    synopsis = release(KdHybrid(stop_below=0), DATA * 2, epsilon=Fraction(1))

    assert synopsis.claim.spends[0].purpose == "size"
    assert len(synopsis.partition.levels) - 2 == 2 + 5


@pytest.mark.parametrize(("given", "cuts", "quarters"), [((), 6, 5), ((20, 10), 10, 5)])
def test_the_papers_trees_are_those_of_its_authors_programs(given, cuts, quarters):
    """Eight levels of fan-out four and three before the switch, or ten and five."""
    stacked = release(KdHybrid.paper(*given), ((0.7, 0.2),) * 1000)

    assert level_splits(stacked.partition) == CUT * (cuts // 2) + QUARTER * quarters


def test_few_points_make_a_tree_lower_than_the_switch():
    """Cuts alone, two of them if there is nothing."""
    budget = Budget(HUGE, bits=simulation_rng(0), public_size=0)
    tree = KdHybrid(switch=4, stop_below=0).release(PlainCounter(UNIT_SQUARE, ()), budget).partition

    assert level_splits(tree) == CUT


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"first": "octree"}, "first must be 'kd' or 'quadtree'"),
        ({"switch": 3}, "switch must be even"),
        ({"height": 7}, "height must be even"),
        ({"height": 4, "switch": 6}, "switch must be a whole number from 0 to 4"),
        ({"height": 22}, "height"),
        ({"median_share": 0}, "median_share"),
        ({"stop_below": 2.5}, "stop_below"),
    ],
)
def test_parameters_are_checked(parameters, words):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match=words):
        KdHybrid(**parameters)
