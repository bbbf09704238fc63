"""Grids over grids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT, Grid
from hushgrid.geometry.guidelines import clamp_side
from hushgrid.methods.pyramids import base_cells, base_grid, grid_sides, nodes_of_pyramid, pyramid
from tests.plain import UNIT_SQUARE

ratios = st.lists(st.integers(2, 3), max_size=3)


def sides_of(first, factors):
    """Sides that grow by factors."""
    return [first * int(np.prod(factors[:place], dtype=int)) for place in range(len(factors) + 1)]


@settings(deadline=None)
@given(st.integers(1, 4), ratios)
def test_every_level_is_a_grid(first, factors):
    """With all its cells, and the whole domain on top."""
    sides = sides_of(first, factors)
    tree = pyramid(UNIT_SQUARE, sides)
    levels = [tree.node_bounds(np.arange(a, b)) for a, b in zip(tree.levels[:-1], tree.levels[1:], strict=True)]

    assert tree.nodes == nodes_of_pyramid(sides)
    assert len(levels) == len({1, *sides})
    for side, bounds in zip(sorted({1, *sides}), levels, strict=True):
        expected = Grid(domain=UNIT_SQUARE, rows=side, columns=side).bounds()
        assert np.allclose(sorted(bounds.tolist()), sorted(expected.tolist()))


@settings(deadline=None)
@given(st.integers(1, 4), ratios)
def test_leaves_are_the_cells_of_the_base_grid(first, factors):
    """Each once, with the same bounds."""
    tree = pyramid(UNIT_SQUARE, sides_of(first, factors))
    cells = base_cells(tree)

    assert np.array_equal(np.sort(cells), np.arange(base_grid(tree).cells))
    assert np.array_equal(tree.bounds(), base_grid(tree).bounds()[cells])


@given(st.integers(1, 50), st.integers(2, 6), st.integers(1, 4))
def test_sides_grow_by_the_branching(coarsest, branching, levels):
    """From the coarsest to the side given."""
    sides = grid_sides(coarsest * branching ** (levels - 1), branching, levels)

    assert sides == [coarsest * branching**level for level in range(levels)]


@pytest.mark.parametrize("multiple", [1, 4, 100, 4095, 4096])
@pytest.mark.parametrize("wanted", [4096, 4100, 10**9])
def test_sides_from_released_values_stay_within_their_limit(wanted, multiple):
    """As the largest multiple that does, with a note."""
    side, notes = clamp_side(wanted, multiple_of=multiple)

    assert side % multiple == 0 or side == wanted
    assert side**2 <= GUIDELINE_CELL_LIMIT < (side + multiple) ** 2
    assert bool(notes) == (side != wanted)
