"""Pooled means: what neighbours and a public prior say together."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from hushgrid.inference.least_squares import node_sums, solve
from hushgrid.inference.pooled import (
    BINS,
    FOREIGN,
    PooledLesson,
    PriorShares,
    leans_of,
    lesson_of_nodes,
    means_of,
    nats_gained,
)
from hushgrid.inference.slopes import SplitLesson
from hushgrid.inference.splits import FIRST_WEIGHTS, bayes_masses
from tests.quadtrees import complete_quadtree, noisy, random_quadtree

TRUTH = np.array([0.3, 0.1, -0.2, 0.4, 0.0, 0.2, 0.5, 0.7, 0.9])  # of features, then of bins


def drawn_lesson(size, seed, *, spread=0.05, truth=TRUTH):
    """Splits whose shares follow given coefficients, measured with noise."""
    rng = np.random.default_rng(seed)
    features = rng.uniform(-0.8, 0.8, (size, 3, 4))
    prior = PriorShares(logits=rng.normal(0, 1.5, (size, 3)), bins=rng.integers(0, BINS, (size, 3)))
    trusts = np.broadcast_to(truth[4:], (size, 3, BINS))
    means = means_of(leans_of(features, truth), trusts, prior)
    shares = means + rng.normal(0, spread, means.shape)
    return PooledLesson(splits=SplitLesson(features, shares, np.full(means.shape, spread)), prior=prior)


def test_prior_shares_are_those_of_the_quarters():
    """With half a point on either side, as logits; bins by the evidence there is."""
    quarters = 32.0 * np.array([[[3, 1], [5, 0]], [[0, 0], [0, 0]], [[500, 0], [0, 0]]])
    shares = PriorShares.of(quarters)
    expected = np.log([[9 / 2, 4 / 6, 2 / 1], [1, 1, 1], [501, 501, 1]])
    np.testing.assert_allclose(shares.logits, np.clip(expected, -6, 6))
    np.testing.assert_array_equal(shares.bins, [[1, 1, 0], [0, 0, 0], [4, 4, 0]])


def test_coefficients_are_those_the_shares_follow():
    """Where much is measured."""
    lesson = drawn_lesson(5000, seed=1)
    everything = slice(None), slice(None)
    found = lesson.coefficients(np.full(9, 0.3), everything, ridge=0.125, steps=6)
    np.testing.assert_allclose(found, TRUTH, atol=0.02)


def test_a_step_is_that_of_gauss_and_newton():
    """Against the dense normal equations, and their solution by another solver."""
    lesson, before, ridge = drawn_lesson(40, seed=2, spread=0.2), np.full(9, 0.1), 0.5
    features, shares, spreads = (array.reshape(120, -1).squeeze() for array in lesson.splits)
    columns = np.zeros((120, 9))
    columns[:, :4] = 2 * features
    columns[np.arange(120), 4 + lesson.prior.bins.ravel()] = lesson.prior.logits.ravel()
    mean = 1 / (1 + np.exp(-columns @ before))
    slope = mean * (1 - mean)
    root = np.sqrt(0.15 / (spreads**2 + 0.15 * np.maximum(slope, 0.02)))

    def misses(step):
        return np.concatenate([root * (shares - mean - slope * (columns @ step)), np.sqrt(ridge) * step])

    expected = optimize.least_squares(misses, np.zeros(9)).x
    found = lesson.coefficients(before, (slice(None), slice(None)), ridge=ridge, steps=1) - before
    np.testing.assert_allclose(found, expected / max(1, np.abs(expected).max()), atol=1e-6)


def test_few_splits_teach_nothing():
    """Coefficients stay where splits are few, or nothing is known of them."""
    before = np.full(9, 0.3)
    everything = slice(None), slice(None)
    few = drawn_lesson(9, seed=3)
    assert few.coefficients(before, everything, ridge=0.5) is before
    many = drawn_lesson(1000, seed=3)
    unknown = many.splits._replace(spreads=np.full((1000, 3), np.inf))
    assert replace(many, splits=unknown).coefficients(before, everything, ridge=0.5) is before


@pytest.mark.parametrize("size", [200, 2000])
def test_only_a_prior_that_fits_gains(size):
    """One that the shares follow gains much; the same in another order gains nothing to speak of."""
    lesson, weights = drawn_lesson(size, seed=4, spread=0.3), np.array(FIRST_WEIGHTS)
    order = np.random.default_rng(5).permutation(size)
    shuffled = replace(lesson, prior=PriorShares(logits=lesson.prior.logits[order], bins=lesson.prior.bins[order]))
    assert nats_gained(lesson, lesson.first_coefficients(), weights) > 20
    assert nats_gained(shuffled, shuffled.first_coefficients(), weights) < 2 + 0.001 * 3 * size


def test_levels_without_splits_have_the_coefficients_above():
    """All levels have some, the last as well."""
    rng = np.random.default_rng(6)
    tree = random_quadtree(rng, depth=5, chance=0.8)
    leaf_counts = rng.poisson(20, tree.cells)
    known = solve(tree, noisy(tree, leaf_counts, "0.5", rng))
    lesson, features = lesson_of_nodes(known, bayes_masses(known).masses, node_sums(tree, leaf_counts), FOREIGN)
    found = lesson.by_level(tree)
    assert found.shape == (len(tree.levels) - 1, 2, 4 + BINS)
    np.testing.assert_array_equal(found[-1], found[-2])
    assert features.shape == (tree.cells, 2, 4)


def test_sums_of_nodes_are_those_of_their_leaves():
    """Exactly, for whole numbers."""
    tree = complete_quadtree(3)
    values = np.random.default_rng(7).integers(0, 2**40, tree.cells)
    first, stop = tree.runs
    expected = [int(values[low:high].sum()) for low, high in zip(first, stop, strict=True)]
    assert node_sums(tree, values).tolist() == expected
