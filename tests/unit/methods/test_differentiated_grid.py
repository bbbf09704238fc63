"""DAG: its groups, its two levels, and the variances that follow."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import DIVIDED, Grid, GroupedGrid, NestedGrid
from hushgrid.inference.measurements import NoisyValues
from hushgrid.methods.differentiated_grid import (
    DifferentiatedGrid,
    arrange,
    connected_groups,
    group_sparse_cells,
    second_level,
)
from hushgrid.synopsis.claim import Claim, MethodRecord
from hushgrid.synopsis.synopsis import Synopsis
from tests.plain import UNIT_SQUARE, coverage
from tests.strategies import nested_grids, rects


def flood(chosen):
    """Groups by walking from cell to cell."""
    labels, number = np.full(chosen.shape, -1), 0
    for start in np.argwhere(chosen):
        if labels[tuple(start)] == -1:
            stack = [tuple(start)]
            while stack:
                row, column = stack.pop()
                inside = 0 <= row < chosen.shape[0] and 0 <= column < chosen.shape[1]
                if inside and chosen[row, column] and labels[row, column] == -1:
                    labels[row, column] = number
                    stack += [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
            number += 1
    return labels


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 12), st.floats(0, 1))
def test_connected_groups_are_those_that_walking_finds(seed, rows, columns, density):
    """Groups are those of a flood fill, with the same numbers."""
    chosen = np.random.default_rng(seed).random((rows, columns)) < density

    assert np.array_equal(connected_groups(chosen), flood(chosen))


@settings(deadline=None)
@given(nested_grids(), st.booleans())
def test_every_block_is_one_run_of_leaves(nested, adjacent):
    """A divided cell, or all cells of a group."""
    grouped = group_sparse_cells(nested, adjacent=adjacent)
    cell_of_leaf = np.repeat(np.arange(len(nested.sides)), nested.sides**2)[grouped.leaf_order]

    assert sorted(grouped.leaf_order) == list(range(nested.cells))
    for first, stop, group in zip(grouped.offsets[:-1], grouped.offsets[1:], grouped.block_groups, strict=True):
        cells = np.unique(cell_of_leaf[first:stop])
        assert set(grouped.groups[cells]) == {group}
        assert len(cells) == 1 if group == DIVIDED else len(cells) == np.sum(grouped.groups == group)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_counts_and_variances_are_those_of_dense_least_squares(data):
    """With first-level cells, leaves and groups as rows of the design."""
    nested = data.draw(nested_grids())
    grouped = group_sparse_cells(nested, adjacent=data.draw(st.booleans()))
    query = data.draw(rects(nested.domain))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    cells = NoisyValues.at_one_rate(rng.integers(-9, 99, len(nested.sides)), Fraction(1, 4))
    size = len(second_level(grouped, np.zeros(grouped.cells, np.int64)))
    second = NoisyValues.at_one_rate(rng.integers(-9, 99, size), Fraction(3, 4))
    measurements = arrange(grouped, cells, second)
    synopsis = Synopsis.infer(
        grouped, measurements, inference="two-level", claim=Claim(epsilon=Fraction(1)), method=MethodRecord(name="dag")
    )

    cell_of_leaf = np.repeat(np.arange(len(nested.sides)), nested.sides**2)[grouped.leaf_order]
    of_cells = cell_of_leaf == np.arange(len(nested.sides))[:, None]
    of_second = np.array([second_level(grouped, unit) for unit in np.eye(grouped.cells, dtype=np.int64)]).T
    design = np.vstack([of_cells, of_second])
    precision = 1 / np.concatenate([cells.variances, second.variances])
    covariance = np.linalg.inv(design.T @ (precision[:, None] * design))
    counts = covariance @ design.T @ (precision * np.concatenate([cells.values, second.values]))
    weights = coverage(grouped, query)
    answer = synopsis.answer(query)
    assert np.allclose(synopsis.counts, counts)
    assert np.allclose(synopsis.variances, np.diag(covariance))
    assert np.allclose(answer.estimate, weights @ counts, atol=1e-6)
    assert np.allclose(answer.noise_std**2, np.einsum("qi,ij,qj->q", weights, covariance, weights), atol=1e-6)


@pytest.mark.parametrize("groups", [[0, 0], [-1, -1], [0, 5], [0, -2]], ids=["divided", "missing", "far", "negative"])
def test_groups_must_fit_the_cells(groups):
    """Every undivided cell has one, no divided cell has."""
    nested = NestedGrid(grid=Grid(domain=UNIT_SQUARE, rows=1, columns=2), sides=[1, 2])

    with pytest.raises(ArgumentError, match="group"):
        GroupedGrid(nested=nested, groups=groups)


def test_groups_are_named():
    """Groups other than 'adjacent' and 'all' are refused."""
    with pytest.raises(ArgumentError, match="'adjacent' or 'all'"):
        DifferentiatedGrid(groups="some")
