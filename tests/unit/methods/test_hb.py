"""HB: its criterion against dense algebra, its choice against brute force."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.methods.hierarchy import OptimalHierarchy, dividing_grids, mean_energy, mean_variance, nearest_grids
from hushgrid.methods.pyramids import grid_sides, pyramid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

POINTS = tuple(map(tuple, np.random.default_rng(0).beta(0.5, 2, (300, 2))))


def release(method, points=POINTS, *, epsilon=Fraction(1), public_size=None):
    """A simulated release."""
    budget = Budget(epsilon, bits=simulation_rng(0), public_size=public_size)
    return method.release(PlainCounter(UNIT_SQUARE, points), budget)


def mean_products(cells, ends=400):
    """Mean over all intervals of the products of the shares that they cover of two cells, shape (cells, cells)."""
    places = (np.arange(ends) + 0.5) / ends
    low, high = (end.ravel() for end in np.meshgrid(places, places))
    edges = np.arange(cells + 1) / cells
    low, high = np.minimum(low, high)[:, None], np.maximum(low, high)[:, None]
    shares = np.clip(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0, None) * cells
    return shares.T @ shares / len(shares)


def dense_mean_variance(side, branching, levels):
    """Mean variance of rectangles, by inverting the normal equations of all measured cells."""
    tree = pyramid(UNIT_SQUARE, grid_sides(side, branching, levels))
    first, stop = tree.runs
    measured = np.arange(tree.levels[-1 - levels], tree.nodes)
    leaf = np.arange(tree.cells)
    design = ((first[measured, None] <= leaf) & (leaf < stop[measured, None])).astype(float)
    covariance = levels**2 * np.linalg.inv(design.T @ design)
    along_axis = mean_products(side)
    column, row = tree.boxes[tree.leaves, :2].T
    products = along_axis[np.ix_(column, column)] * along_axis[np.ix_(row, row)]
    return float(np.sum(covariance * products))


@pytest.mark.parametrize("cells", [1, 2, 5, 12])
def test_the_mean_energy_is_the_mean_over_intervals(cells):
    """By trying many of them."""
    assert np.isclose(np.trace(mean_products(cells)), mean_energy(cells), rtol=1e-3)


@pytest.mark.parametrize(
    "hierarchy", [(12, 1, 1), (12, 2, 2), (12, 3, 2), (12, 12, 2), (12, 2, 3), (8, 2, 4), (9, 3, 3)], ids=str
)
def test_the_criterion_is_the_mean_variance_after_least_squares(hierarchy):
    """Over all rectangles, with every covariance; the coarsest grid may be the whole domain."""
    assert np.isclose(mean_variance(*hierarchy), dense_mean_variance(*hierarchy), rtol=2e-3)


def shape(sides):
    """Branching and number of grids."""
    return (sides[-1] // sides[-2] if len(sides) > 1 else 1), len(sides)


def by_brute_force(side, allowed):
    """Lowest mean variance over every branching and number of grids, level by level as the derivation has it."""
    found = []
    for levels in range(1, 14):
        for branching in range(2, side + 1) if levels > 1 else [1]:
            if branching ** (levels - 1) > side or not allowed(branching ** (levels - 1)):
                continue
            sides = [side / branching**above for above in range(levels - 1, -1, -1)]
            variances = [float(levels**2)]
            for _ in sides[1:]:
                variances.insert(0, 1 / (levels**-2 + 1 / (branching**2 * variances[0])))
            energies = [((cells - 1) / 3 + 1 / (6 * cells)) ** 2 for cells in sides]
            above = [0.0, *energies[:-1]]
            found.append(sum(v * (e - branching**2 * a) for v, e, a in zip(variances, energies, above, strict=True)))
    return min(found)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 500))
def test_no_hierarchy_is_better_than_the_one_chosen(side):
    """Of all, and of those that divide a side given."""
    nearest, dividing = nearest_grids(side)[0], dividing_grids(side)

    assert dividing[-1] == side
    assert np.isclose(mean_variance(side, *shape(nearest)), by_brute_force(side, lambda unit: True))
    assert np.isclose(mean_variance(side, *shape(dividing)), by_brute_force(side, lambda unit: side % unit == 0))


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 4096))
@example(4096)
def test_the_finest_grid_is_about_as_fine_as_wanted(wanted):
    """Within half a cell of the coarsest grid, short of the limit; and every grid divides the next."""
    sides, notes = nearest_grids(wanted)
    unit, fine = sides[-1] // sides[0], sides[-1]

    assert all(finer % coarser == 0 for coarser, finer in pairwise(sides))
    assert abs(fine - wanted) <= unit / 2 or (fine + unit) ** 2 > GUIDELINE_CELL_LIMIT
    assert fine**2 <= GUIDELINE_CELL_LIMIT
    assert notes == ()


@pytest.mark.parametrize("side", [1, 2, 5, 10, 20])
def test_a_small_grid_stays_flat(side):
    """There a hierarchy does not pay."""
    assert nearest_grids(side) == ([side], ())


def test_a_large_grid_has_a_hierarchy():
    """Larger grids have deeper hierarchies."""
    assert [len(nearest_grids(side)[0]) for side in (10, 100, 1000)] == [1, 2, 3]


@pytest.mark.parametrize("side", [7, 30, 36])
def test_a_huge_epsilon_gives_back_the_truth(side):
    """Flat or not, and the budget is spent exactly."""
    synopsis = release(OptimalHierarchy(side=side), epsilon=Fraction(10**8))

    assert sum(spend.epsilon for spend in synopsis.claim.spends) == 10**8
    assert np.allclose(synopsis.counts, PlainCounter(UNIT_SQUARE, POINTS).count(synopsis.partition), rtol=0, atol=1e-9)


def test_the_release_says_which_grids_it_has():
    """One after the other, coarsest first."""
    synopsis = release(OptimalHierarchy(), (), public_size=100_000)

    assert synopsis.partition.cells == 100**2
    assert synopsis.method.notes == ("cells a side, grid by grid: 20, 100",)


def test_a_guideline_beyond_the_limit_is_clamped_and_noted():
    """A side beyond the limit is clamped, and a note says from what to what."""
    sides, notes = nearest_grids(10**6)

    assert sides[-1] ** 2 <= GUIDELINE_CELL_LIMIT
    assert notes == ("the guideline's side of 1,000,000 was clamped to 4,096",)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"side": 0}, "side must be a whole number of at least 1"),
        ({"side": 8192}, "Hierarchy of .* cells is over the limit"),
        ({"c": float("nan")}, "c must be a finite number > 0"),
    ],
)
def test_parameters_are_checked_when_given(parameters, words):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match=words):
        OptimalHierarchy(**parameters)
