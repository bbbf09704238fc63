"""Least squares on trees, against a dense solver."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.surface import spread
from hushgrid.answering.trees import TreeSurface
from hushgrid.errors import ArgumentError
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.least_squares import measurements_of_nodes, nodes_of_runs, solve
from hushgrid.inference.measurements import NoisyValues
from tests.plain import coverage
from tests.strategies import rects, trees

RATES = (Fraction(1, 10), Fraction(1, 3), Fraction(2))


def dense_solution(tree, nodes, measured):
    """Least-squares estimate of smallest norm, and covariance, of the leaves."""
    first, stop = tree.runs
    design = np.zeros((len(nodes), tree.cells))
    for row, node in enumerate(nodes):
        design[row, first[node] : stop[node]] = 1
    precision = 1 / measured.variances
    covariance = np.linalg.pinv(design.T @ (precision[:, None] * design), rcond=1e-12)
    return design, covariance @ design.T @ (precision * measured.values), covariance


@st.composite
def measured_trees(draw, *, all_leaves):
    """A tree, nodes measured any number of times in any order, and their values."""
    tree = draw(trees(most=12))
    nodes = draw(st.lists(st.integers(0, tree.nodes - 1), max_size=30))
    nodes = np.array([*nodes, *tree.leaves] if all_leaves else nodes, dtype=np.int64)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    index = rng.integers(0, len(RATES), len(nodes)).astype(np.int32)
    return tree, nodes, NoisyValues(values=rng.integers(-50, 500, len(nodes)), rates=RATES, rate_index=index)


@settings(deadline=None, max_examples=40)
@given(measured_trees(all_leaves=True))
def test_counts_and_variances_are_those_of_the_dense_solution(given):
    """With several measurements of a node, and inner nodes without any."""
    tree, nodes, measured = given
    _, counts, covariance = dense_solution(tree, nodes, measured)

    estimates = solve(tree, measurements_of_nodes(tree, nodes, measured))
    assert np.allclose(estimates.counts[tree.leaves], counts, atol=1e-6)
    assert np.allclose(estimates.variances[tree.leaves], np.diag(covariance), atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(measured_trees(all_leaves=False))
def test_missing_measurements_leave_the_fit_unchanged(given):
    """Where leaves are undetermined, every measured sum is still fitted as well as it can be."""
    tree, nodes, measured = given
    design, counts, _ = dense_solution(tree, nodes, measured)

    estimates = solve(tree, measurements_of_nodes(tree, nodes, measured))
    assert np.allclose(design @ estimates.counts[tree.leaves], design @ counts, atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(measured_trees(all_leaves=False))
def test_children_add_up_to_their_parents(given):
    """The counts of children add up to their parent's, at every node."""
    tree, nodes, measured = given
    counts = solve(tree, measurements_of_nodes(tree, nodes, measured)).counts

    inner = np.flatnonzero(tree.child_counts)
    sums = np.array([counts[tree.parents == node].sum() for node in inner])
    assert np.allclose(counts[inner], sums, atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_answers_on_trees_are_those_of_dense_algebra(data):
    """Counts, noise with all covariances, spread in cut leaves."""
    tree, nodes, measured = data.draw(measured_trees(all_leaves=True))
    query = data.draw(rects(tree.domain))
    _, counts, covariance = dense_solution(tree, nodes, measured)
    weights = coverage(tree, query)
    surface = TreeSurface(Evidence(tree, measurements_of_nodes(tree, nodes, measured)), counts)

    noise, spreads = surface.variances(query)
    assert np.allclose(surface.counts(query), weights @ counts, atol=1e-6)
    assert np.allclose(noise, np.einsum("qi,ij,qj->q", weights, covariance, weights), atol=1e-5)
    assert np.allclose(spreads, (weights * (1 - weights)) @ spread(counts), atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(measured_trees(all_leaves=False))
def test_a_release_keeps_every_measurement_once(given):
    """The last of a leaf as its own, the others by their runs."""
    tree, nodes, measured = given
    kept = measurements_of_nodes(tree, nodes, measured)
    regions = nodes_of_runs(tree, kept.regions.first, kept.regions.stop)
    own = [
        (leaf, value)
        for leaf, value, rate in zip(tree.leaves, kept.leaves.values, kept.leaves.rate_index, strict=True)
        if rate >= 0
    ]
    last = {node: value for node, value in zip(nodes, measured.values, strict=True) if tree.child_counts[node] == 0}

    assert sorted([*own, *zip(regions, kept.region_values.values, strict=True)]) == sorted(
        zip(nodes, measured.values, strict=True)
    )
    assert dict(own) == last


@settings(deadline=None, max_examples=40)
@given(trees())
def test_a_run_that_is_no_node_is_refused(tree):
    """A file that claims one contradicts itself."""
    with pytest.raises(ArgumentError, match="not a node"):
        nodes_of_runs(tree, np.array([0]), np.array([tree.cells + 1]))
