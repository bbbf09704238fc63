"""Bayes' rule down a quadtree: masses, priors, neighbours."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hushgrid.geometry.quadrants import QuadrantNodes, all_cells, divide_cells, node_depths, quadrant_tree
from hushgrid.geometry.tree import BOTTOM, LEFT, RIGHT, TOP
from hushgrid.inference import split_loops as kernels
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.least_squares import measurements_of_nodes, solve
from hushgrid.inference.measurements import NoisyValues
from hushgrid.inference.splits import (
    FIRST_WEIGHTS,
    RIDGE,
    SMALLEST_TOTAL,
    WEIGHT_INERTIA,
    bayes_masses,
    fit_coefficients,
    fit_weights,
    log_norms,
)
from tests.plain import UNIT_SQUARE


@st.composite
def quadtrees(draw):
    """Quadtrees of a few levels, divided anywhere."""
    cells = all_cells(UNIT_SQUARE, draw(st.integers(0, 2)))
    for _ in range(draw(st.integers(0, 2))):
        steps = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=cells.cells, max_size=cells.cells))
        cells, _ = divide_cells(cells, np.array(steps))
    return quadrant_tree(cells)


@st.composite
def measured_quadtrees(draw):
    """Quadtrees with every leaf measured, and some other nodes, at any rate."""
    tree = draw(quadtrees())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([0, 1, 1000, 10**9]))
    others = np.flatnonzero(rng.random(tree.nodes) < draw(st.sampled_from([0, 0.5])))
    nodes = np.concatenate([tree.leaves, others])
    values = np.rint(scale * rng.standard_normal(len(nodes)) ** 3).astype(np.int64)
    rates = (Fraction(1, 1000), Fraction(1), Fraction(10**7))
    measured = NoisyValues(values=values, rates=rates, rate_index=rng.integers(0, 3, len(nodes)).astype(np.int32))
    return tree, measurements_of_nodes(tree, nodes, measured)


@settings(max_examples=100, deadline=None)
@given(measured_quadtrees())
def test_masses_add_up_and_are_never_negative(case):
    """At every level, halves and quarters."""
    tree, measurements = case
    fit = bayes_masses(solve(tree, measurements))
    inner = np.flatnonzero(tree.child_counts)
    children = fit.masses[tree.first_children[inner, None] + np.arange(4)]

    assert fit.masses.min() >= 0
    assert fit.half_masses.min() >= 0
    assert fit.masses[0] == max(solve(tree, measurements).sums[0], SMALLEST_TOTAL)
    assert np.allclose(children.sum(axis=1), fit.masses[inner], rtol=1e-12, atol=0)
    assert np.allclose(children[:, :2] + children[:, 2:], fit.half_masses[inner], rtol=1e-12, atol=0)


@settings(max_examples=50, deadline=None)
@given(measured_quadtrees())
def test_priors_are_distributions_with_means_inside(case):
    """On every level, along both axes."""
    tree, measurements = case
    fit = bayes_masses(solve(tree, measurements))

    assert fit.prior_weights.shape == (len(tree.levels) - 1, 2, kernels.COMPONENTS)
    assert fit.prior_weights.min() > 0
    assert np.allclose(fit.prior_weights.sum(axis=2), 1)
    assert fit.prior_means.min() >= 0.01
    assert fit.prior_means.max() <= 0.99


@settings(max_examples=50, deadline=None)
@given(measured_quadtrees())
def test_variances_of_halves_are_sums_over_their_quarters(case):
    """Of what is known from below."""
    tree, measurements = case
    fit = bayes_masses(solve(tree, measurements))
    below = solve(tree, measurements).below_variances

    for node in np.flatnonzero(tree.child_counts):
        south_west, south_east, north_west, north_east = below[tree.first_children[node] + np.arange(4)]
        assert np.allclose(fit.half_variances[node], [south_west + north_west, south_east + north_east])
    assert np.array_equal(fit.variances, below)


def test_precise_measurements_are_kept():
    """Where there is nothing to doubt, least squares and Bayes agree."""
    tree = quadrant_tree(divide_cells(all_cells(UNIT_SQUARE, 2), np.arange(16) % 3)[0])
    counts = np.random.default_rng(0).integers(0, 50, tree.cells)
    measurements = measurements_of_nodes(tree, tree.leaves, NoisyValues.at_one_rate(counts, Fraction(10**7)))

    assert np.allclose(INFERENCES["bayes"].counts(Evidence(tree, measurements)), counts, rtol=1e-9, atol=1e-9)


def test_a_part_that_nothing_is_known_of_gets_what_the_others_leave():
    """Its share is the rest of a known whole; two unknown ones share by the prior mean, here even."""
    tree = quadrant_tree(all_cells(UNIT_SQUARE, 1))
    measured = NoisyValues.at_one_rate(np.array([100, 10, 20]), Fraction(10**7))
    one_unknown = measurements_of_nodes(tree, np.array([0, 1, 2]), measured)
    fit = bayes_masses(solve(tree, one_unknown))

    assert np.allclose(fit.half_masses[0], [50, 50])
    assert np.allclose(fit.masses[1:], [10, 20, 40, 30])


@settings(max_examples=50, deadline=None)
@given(quadtrees())
def test_neighbours_are_the_nodes_that_lie_there(tree):
    """Of the same size or a larger leaf, by looking at all boxes."""
    neighbours = np.empty((tree.nodes, 9), np.int32)
    kernels.find_neighbours(tree.first_children, tree.child_counts, neighbours)
    depths = node_depths(tree)

    for node in range(tree.nodes):
        box = tree.boxes[node]
        for offset, found in enumerate(neighbours[node]):
            column = box[LEFT] + (offset % 3 - 1) * (box[RIGHT] - box[LEFT])
            row = box[BOTTOM] + (offset // 3 - 1) * (box[TOP] - box[BOTTOM])
            here = (tree.boxes[:, LEFT] <= column) & (column < tree.boxes[:, RIGHT])
            here &= (tree.boxes[:, BOTTOM] <= row) & (row < tree.boxes[:, TOP]) & (depths <= depths[node])
            assert found == (np.flatnonzero(here)[-1] if here.any() else kernels.OUTSIDE)


def features_of(tree, masses, half_masses, level, code):
    """Features of the splits of one node: across, then along of the west and the east half."""
    neighbours = np.empty((tree.nodes, 9), np.int32)
    kernels.find_neighbours(tree.first_children, tree.child_counts, neighbours)
    node = tree.find(np.array([level]), np.array([code]))
    across, along = np.empty((1, 2)), np.empty((2, 2))
    layout = (neighbours, node_depths(tree), tree.child_counts, masses, half_masses)
    kernels.foretell_across(node, *layout, across)
    kernels.foretell_along(node, *layout, along)
    return across[0], along


def test_features_compare_the_masses_on_both_sides():
    """Of a cell inside a 4 by 4 grid, in its own row and in the rows beside it."""
    tree = QuadrantNodes(all_cells(UNIT_SQUARE, 2))
    masses, half_masses = np.zeros(tree.nodes), np.zeros((tree.nodes, 2))
    place = tree.find(np.full(16, 2), np.arange(16))
    masses[place] = np.arange(1, 17)
    # Codes in rows from the south: 0 1 4 5 / 2 3 6 7 / 8 9 12 13 / 10 11 14 15; around 3 lie 0 1 4, 2 6, 8 9 12.
    across, along = features_of(tree, masses, half_masses, 2, 3)

    assert across == pytest.approx([(3 - 7) / (3 + 7 + 2 * 4), (1 + 9 - 5 - 13) / (1 + 9 + 5 + 13 + 2 * (2 + 10))])
    # Leaves are even inside: halves of 1 and 9, beside them those of 0 and 8 to the west, and their own others.
    assert along[0] == pytest.approx([(2 - 10) / (2 + 10 + 8), (1 + 2 - 9 - 10) / (1 + 2 + 9 + 10 + 2 * (3 + 4))])
    assert along[1] == pytest.approx([(2 - 10) / (2 + 10 + 8), (2 + 5 - 10 - 13) / (2 + 5 + 10 + 13 + 2 * (4 + 7))])


def test_at_the_border_the_cell_itself_counts_again():
    """In the corner, both ways."""
    tree = QuadrantNodes(all_cells(UNIT_SQUARE, 1))
    masses = np.array([100.0, 10, 20, 30, 40])
    across, along = features_of(tree, masses, np.zeros((5, 2)), 1, 0)

    assert across == pytest.approx([(10 - 20) / (10 + 20 + 20), (10 + 30 - 20 - 40) / (10 + 30 + 20 + 40 + 2 * 40)])
    assert along[0] == pytest.approx([(10 - 30) / (10 + 30 + 20), (10 + 10 - 30 - 30) / (10 + 10 + 30 + 30 + 2 * 20)])


def test_a_larger_leaf_counts_with_the_part_that_has_the_same_size():
    """A sixteenth two levels up; a half of that for a half."""
    cells, _ = divide_cells(all_cells(UNIT_SQUARE, 1), np.array([2, 0, 0, 0]))
    tree = QuadrantNodes(cells)
    masses = np.zeros(tree.nodes)
    east = tree.find(np.array([1]), np.array([1]))
    own, west = tree.find(np.array([3, 3]), np.array([5, 4]))
    masses[[east[0], own, west]] = 1600, 7, 50
    across, _ = features_of(tree, masses, np.zeros((tree.nodes, 2)), 3, 5)

    assert across[0] == pytest.approx((50 - 100) / (50 + 100 + 2 * 7))


def weigh(share, spread, mean):
    """Evidence and moments of one split."""
    evidence, moments = np.empty((2, 1, kernels.COMPONENTS))
    kernels.weigh_components(np.array([share]), np.array([spread]), np.array([mean]), log_norms(), evidence, moments)
    return evidence[0], moments[0]


def integrate(share, spread, mean, *, nodes=20_000):
    """Evidence and moments by the mean over many quantiles of each Beta."""
    levels = (np.arange(nodes) + 0.5) / nodes
    best = np.clip(share, 0, 1)

    def likelihood(s):
        return np.exp(((share - best) ** 2 - (share - s) ** 2) / (2 * spread**2))

    parts = [(np.array([0.0, 1.0]), [1 - mean, mean]), (np.array([mean]), [1.0])]
    for concentration in kernels.CONCENTRATIONS:
        a, b = 2 * concentration * mean, 2 * concentration * (1 - mean)
        parts.append((stats.beta.ppf(levels, a, b), np.full(nodes, 1 / nodes)))
    evidence = np.array([np.dot(weights, likelihood(s)) for s, weights in parts])
    moments = np.array([np.dot(weights, s * likelihood(s)) for s, weights in parts])
    return evidence, moments


OBSERVED = {
    "in-the-middle": (0.5, 0.05, 0.5),
    "off-the-mean": (0.3, 0.1, 0.5),
    "precise": (0.9, 0.01, 0.4),
    "vague": (0.7, 2.0, 0.4),
    "near-zero": (0.05, 0.1, 0.3),
    "below-zero": (-0.1, 0.1, 0.3),
    "above-one": (1.3, 0.1, 0.6),
    "far-below": (-3.0, 0.1, 0.5),
}


@pytest.mark.parametrize(("share", "spread", "mean"), OBSERVED.values(), ids=OBSERVED)
def test_the_posterior_mean_is_that_of_numerical_integration(share, spread, mean):
    """To about a hundredth, which is what twelve points give, and far less than the noise."""
    weights = np.array(FIRST_WEIGHTS)
    evidence, moments = weigh(share, spread, mean)
    true_evidence, true_moments = integrate(share, spread, mean)

    assert moments @ weights / (evidence @ weights) == pytest.approx(
        true_moments @ weights / (true_evidence @ weights), abs=0.012
    )


@pytest.mark.parametrize(("share", "spread", "mean"), OBSERVED.values(), ids=OBSERVED)
def test_integrals_are_those_of_the_midpoint_rule(share, spread, mean):
    """With densities of scipy, but for what interpolation makes of their constants."""
    evidence, moments = weigh(share, spread, mean)
    best = np.clip(share, 0, 1)
    miss = abs(share - best)
    reach = np.sqrt(miss**2 + 16 * spread**2) - miss
    edges = np.linspace(max(0, best - reach), min(1, best + reach), kernels.POINTS + 1)
    points = (edges[1:] + edges[:-1]) / 2
    likelihood = np.exp((miss**2 - (share - points) ** 2) / (2 * spread**2)) * np.diff(edges)
    for place, concentration in enumerate(kernels.CONCENTRATIONS, start=2):
        density = stats.beta.pdf(points, 2 * concentration * mean, 2 * concentration * (1 - mean))
        assert evidence[place] == pytest.approx(likelihood @ density, rel=1e-4)
        assert moments[place] == pytest.approx((likelihood * points) @ density, rel=1e-4)


@pytest.mark.parametrize("share", [-1e90, -1e6, 0.0, 0.5, 1.0, 1e6, 1e90])
@pytest.mark.parametrize("spread", [1e-90, 1e-20, 1e-6, 1.0, 1e6, 1e90, np.inf])
@pytest.mark.parametrize("mean", [0.01, 0.5, 0.99])
def test_extreme_observations_have_a_posterior(share, spread, mean):
    """Nothing overflows, and the mean is a share."""
    weights = np.array(FIRST_WEIGHTS)
    evidence, moments = weigh(share, spread, mean)

    assert evidence @ weights > 0
    assert 0 <= moments @ weights / (evidence @ weights) <= 1 + 1e-12


def test_an_observation_of_nothing_leaves_the_prior():
    """Every component explains it alike, and the mean is the prior's."""
    evidence, moments = weigh(0.5, np.inf, 0.3)

    assert set(evidence) == {1}
    assert set(moments) == {0.3}


def test_weights_follow_the_evidence():
    """Of many splits that only one component explains; of none, or of none that is known, they stay."""
    before = np.array(FIRST_WEIGHTS)
    evidence = np.full((10_000, kernels.COMPONENTS), 1e-12)
    evidence[:, 3] = 1
    informed = np.ones(len(evidence), bool)

    assert fit_weights(before, evidence, informed)[3] > 0.99
    assert np.allclose(fit_weights(before, evidence[:0], informed[:0]), before)
    assert np.allclose(fit_weights(before, evidence, ~informed), before)
    one = fit_weights(before, evidence[:1], informed[:1])
    assert one[3] == pytest.approx(1 - (1 - before[3]) * (WEIGHT_INERTIA / (1 + WEIGHT_INERTIA)) ** 2)


def test_coefficients_are_those_of_ridge_regression():
    """Solved as least squares with the ridge as two more rows; of few splits, they stay."""
    rng = np.random.default_rng(0)
    before, features = np.array([0.7, 0.2]), rng.uniform(-1, 1, (50, 2))
    shares, spreads = rng.random(50), rng.uniform(0.01, 2, 50)
    roots = np.sqrt(0.15 / (4 * spreads**2 + 0.15))
    rows = np.vstack([features * roots[:, None], np.sqrt(RIDGE) * np.eye(2)])
    wanted = np.concatenate([(2 * shares - 1) * roots, np.sqrt(RIDGE) * before])

    assert fit_coefficients(before, features, shares, spreads) == pytest.approx(np.linalg.lstsq(rows, wanted)[0])
    assert fit_coefficients(before, features[:29], shares[:29], spreads[:29]) is before
    spreads[40:] = np.inf
    of_the_known = fit_coefficients(before, features[:40], shares[:40], spreads[:40])
    assert fit_coefficients(before, features, shares, spreads) == pytest.approx(of_the_known)
