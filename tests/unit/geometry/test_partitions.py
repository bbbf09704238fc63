"""Grids and nested grids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.grid import CELL_LIMIT, Grid, NestedGrid
from tests.plain import UNIT_SQUARE, cell_of, coverage, leaf_of
from tests.strategies import domains, partitions, rects


@settings(deadline=None)
@given(partitions())
def test_the_cells_tile_the_domain(partition):
    """Their areas sum to its area, and they reach its bounds exactly."""
    bounds = partition.bounds()
    areas = (bounds[:, 2] - bounds[:, 0]) * (bounds[:, 3] - bounds[:, 1])

    assert np.isclose(areas.sum(), partition.domain.width * partition.domain.height)
    assert (*bounds.min(axis=0)[:2], *bounds.max(axis=0)[2:]) == partition.domain.bounds


@settings(deadline=None)
@given(st.data())
def test_overlaps_of_a_rectangle_sum_to_its_area(data):
    """No cell is counted twice, none is missed."""
    partition = data.draw(partitions())
    query = data.draw(rects(partition.domain))
    sizes = partition.bounds() @ np.array([[-1, 0], [0, -1], [1, 0], [0, 1]])
    whole = Grid(domain=partition.domain, rows=1, columns=1)

    area = coverage(partition, query) @ (sizes[:, 0] * sizes[:, 1])
    assert np.allclose(area, coverage(whole, query)[:, 0] * partition.domain.width * partition.domain.height)


@settings(deadline=None)
@given(partitions(), st.integers(0, 3), st.integers(0, 3))
def test_a_slice_of_the_bounds_is_the_bounds_sliced(partition, skip, drop):
    """Files are written in slices."""
    first, stop = min(skip, partition.cells), max(partition.cells - drop, 0)

    assert np.array_equal(partition.bounds(first, max(first, stop)), partition.bounds()[first : max(first, stop)])


@settings(deadline=None)
@given(domains(), st.integers(1, 4000), st.floats(-0.1, 1.1))
def test_the_cell_of_a_coordinate_is_the_plain_one(domain, count, share):
    """Array and scalar forms of the one expression agree."""
    coordinate = domain.west + share * domain.width
    scale = cells.scale(domain.west, domain.east, count)

    assert cells.cell(coordinate, domain.west, scale, count) == cell_of(coordinate, domain.west, domain.east, count)


@settings(deadline=None)
@given(partitions())
def test_the_middle_of_a_leaf_lies_in_it(partition):
    """Bounds and the assignment of points agree."""
    bounds = partition.bounds()
    middles = (bounds[:, :2] + bounds[:, 2:]) / 2

    assert [leaf_of(partition, *middle) for middle in middles] == list(range(partition.cells))


def test_a_grid_over_the_limit_is_refused():
    """The message says what was asked and what fits."""
    with pytest.raises(ArgumentError, match="70710 by 70710 cells is over the limit of 67,108,864"):
        Grid(domain=UNIT_SQUARE, rows=70710, columns=70710)


def test_a_nested_grid_over_the_limit_is_refused():
    """Even where the number of leaves would overflow an integer."""
    grid = Grid(domain=UNIT_SQUARE, rows=1, columns=2)

    with pytest.raises(ArgumentError, match="over the limit"):
        NestedGrid(grid=grid, sides=np.array([2**40, 1]))
    with pytest.raises(ArgumentError, match="over the limit"):
        NestedGrid(grid=grid, sides=np.array([CELL_LIMIT, 1]))


@pytest.mark.parametrize("sides", [[1], [1, 1, 1], [0, 1], [-1, 1]], ids=["few", "many", "zero", "negative"])
def test_a_nested_grid_needs_one_side_a_cell(sides):
    """At least one leaf in each."""
    with pytest.raises(ArgumentError, match="one side of at least 1"):
        NestedGrid(grid=Grid(domain=UNIT_SQUARE, rows=1, columns=2), sides=np.array(sides))


def test_nested_grids_are_equal_by_value():
    """Same first level, same sides."""
    grid = Grid(domain=UNIT_SQUARE, rows=1, columns=2)

    assert NestedGrid(grid=grid, sides=[1, 2]) == NestedGrid(grid=grid, sides=np.array([1, 2]))
    assert NestedGrid(grid=grid, sides=[1, 2]) != NestedGrid(grid=grid, sides=[2, 1])
