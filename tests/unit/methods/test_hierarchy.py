"""H_{b,d}: its grids, its budget, and sides that do not divide."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.geometry.guidelines import guideline_side
from hushgrid.methods.hierarchy import Hierarchy, round_up
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

POINTS = tuple(map(tuple, np.random.default_rng(0).beta(0.5, 2, (300, 2))))


def release(method, points=POINTS, *, epsilon=Fraction(1), public_size=None):
    """A simulated release."""
    budget = Budget(epsilon, bits=simulation_rng(0), public_size=public_size)
    return method.release(PlainCounter(UNIT_SQUARE, points), budget)


def level_sides(tree):
    """Cells per side of the levels below the root."""
    return [int(np.sqrt(nodes)) for nodes in np.diff(tree.levels)[1:]]


def test_the_papers_hierarchy_has_the_papers_grids():
    """H_{2,3} on 360: grids of 90, 180 and 360, each with a third of the budget, under a root that is not measured."""
    synopsis = release(Hierarchy(side=360, branching=2, levels=3), ())

    assert level_sides(synopsis.partition) == [90, 180, 360]
    assert len(synopsis.measurements.region_values.values) == 90**2 + 180**2
    assert [spend.epsilon for spend in synopsis.claim.spends] == [Fraction(1, 3)] * 3


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 3), st.integers(2, 3), st.integers(1, 3))
def test_any_hierarchy_spends_its_budget_exactly_and_keeps_the_truth(coarsest, branching, levels):
    """The coarsest grid may be the whole domain, and there may be one grid only."""
    method = Hierarchy(side=coarsest * branching ** (levels - 1), branching=branching, levels=levels)
    synopsis = release(method, epsilon=Fraction(10**8))

    assert sum(spend.epsilon for spend in synopsis.claim.spends) == 10**8
    assert np.allclose(synopsis.counts, PlainCounter(UNIT_SQUARE, POINTS).count(synopsis.partition), rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [0, 10, 999, 20_000])
def test_the_guideline_is_rounded_up_to_what_the_grids_divide(size):
    """By less than one cell of the coarsest grid."""
    synopsis = release(Hierarchy(branching=3, levels=3), public_size=size)
    side = level_sides(synopsis.partition)[-1]

    assert side % 9 == 0
    assert 0 <= side - guideline_side(size, Fraction(1)) < 9


@pytest.mark.parametrize("unit", [1, 4, 100, 2500, 4096])
def test_a_guideline_beyond_the_limit_is_clamped_and_noted(unit):
    """To the largest side that the grids still divide."""
    side, notes = round_up(10**6, unit)

    assert side % unit == 0
    assert side**2 <= GUIDELINE_CELL_LIMIT < (side + unit) ** 2
    assert f"clamped to {side:,}" in notes[0]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"side": 361}, r"multiple of branching \*\* \(levels - 1\) = 4, such as 360 or 364; got 361"),
        ({"side": 3, "levels": 3}, "such as 4; got 3"),
        ({"side": 8192, "levels": 2}, "Hierarchy of 83,886,081 cells is over the limit"),
        ({"branching": 1}, "branching must be a whole number from 2"),
        ({"branching": 2.0}, "branching=2.0"),
        ({"levels": 0}, "levels must be a whole number from 1 to 13"),
        ({"branching": 17, "levels": 4}, r"must be at most 4,096, got 4,913"),
        ({"side": 0}, "side must be a whole number of at least 1"),
        ({"c": -1}, "c must be a finite number > 0"),
    ],
)
def test_parameters_are_checked_when_given(parameters, words):
    """Before any data is seen, and with what would do."""
    with pytest.raises(ArgumentError, match=words):
        Hierarchy(**parameters)
