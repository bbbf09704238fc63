"""Belief propagation against the model it stands for, summed up by brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import special, stats

from hushgrid.inference.belief import REACH, belief_masses, bias_power, counts_by_node, path_budget
from hushgrid.inference.belief_loops import GRID, MEANS, PADDED, PLACES, TAIL, pad, read_message
from hushgrid.inference.least_squares import solve
from hushgrid.inference.slopes import refined_means
from hushgrid.inference.split_loops import CONCENTRATIONS
from hushgrid.inference.split_prior import beta_cdfs, cumulative_tables
from hushgrid.inference.splits import SecondLaws, bayes_masses
from tests.quadtrees import complete_quadtree, measured, measured_quadtrees, node_sums, noisy

WEIGHTS = np.array([0.15, 0.05, 0.2, 0.3, 0.15, 0.05, 0.05, 0.05])
SECOND = np.array([0.1, 0.0, 0.1, 0.2, 0.3, 0.2, 0.1, 0.0])  # none exactly at the mean


def prior_points(weights, mean, cells):
    """Shares that stand for a prior, and their probabilities: midpoints of cells, then the atoms."""
    edges = np.sin(np.linspace(0, np.pi / 2, cells + 1)) ** 2
    mass = sum(
        weight * np.diff(stats.beta.cdf(edges, 2 * strength * mean, 2 * strength * (1 - mean)))
        for weight, strength in zip(weights[2:], CONCENTRATIONS, strict=True)
    )
    atoms = weights[0] * (1 - mean), weights[0] * mean, weights[1]
    return np.concatenate([(edges[1:] + edges[:-1]) / 2, [0, 1, mean]]), np.concatenate([mass, atoms])


class Quad:
    """A root and four leaves, all measured: its model, summed over every combination of total and three shares."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.tree = complete_quadtree(1)
        true_counts = rng.multinomial(60, rng.dirichlet([0.7] * 4))
        nodes = np.array([1, 2, 3, 4, 0, 2])
        rates = np.array([0.1, 0.15, 0.2, 0.1, 0.08, 0.1])
        values = np.concatenate([[60], true_counts])[nodes] + np.round(rng.laplace(0, 1 / rates))
        self.measurements = measured(self.tree, nodes, values, map(str, rates))
        self.fit = replace(
            bayes_masses(solve(self.tree, self.measurements)),
            prior_weights=np.tile(WEIGHTS, (2, 2, 1)),
            prior_means=np.array([[0.4, 0.63, 0.3], *[[0.5] * 3] * 4]),
        )
        self.counts = counts_by_node(self.tree, self.measurements)
        self.kappa = bias_power(self.fit.masses[0] * path_budget(self.tree, self.counts))
        self.deviation = np.sqrt(self.fit.variances[0])
        self.half_deviations = np.sqrt(self.fit.half_variances[0])

    def likelihood(self, node, mass):
        """Of a node's own counts."""
        own = range(*self.counts.offsets[node : node + 2])
        return np.exp(-sum(self.counts.rates[i] * np.abs(self.counts.values[i] - mass) for i in own))

    def posterior(self, totals, *, kappa, weights=WEIGHTS):
        """Probabilities of all combinations up to a constant, and masses of the root and of its west half."""
        means = self.fit.prior_means[0]
        (s1, p1), (s2, p2), (s3, p3) = (prior_points(weights, mean, 36) for mean in means)
        total = totals[:, None, None, None]
        west = total * s1[:, None, None]
        east = total - west
        southwest, southeast = west * s2[:, None], east * s3
        chance = p1[:, None, None] * p2[:, None] * p3 * self.likelihood(0, total)
        parts = (southwest, southeast, west - southwest, east - southeast)
        for node, mass in enumerate(parts, start=1):
            chance = chance * self.likelihood(node, mass)
        for mass, deviation in zip((total, west, east), (self.deviation, *self.half_deviations), strict=True):
            chance = chance * (mass + deviation) ** kappa
        return chance, total, west

    def root_mean(self, **model):
        """Posterior mean of the root."""
        low = max(self.fit.masses[0] - 6 * self.deviation, 0)
        chance, total, _ = self.posterior(np.linspace(low, self.fit.masses[0] + 8 * self.deviation, 40), **model)
        return (chance * total).sum() / chance.sum()

    def west_mean(self, total, **model):
        """Posterior mean of the west half, given the root's mass."""
        chance, _, west = self.posterior(np.array([total]), **model)
        return (chance * west).sum() / chance.sum()

    def southwest_mean(self, west, *, weights=WEIGHTS):
        """Posterior mean of the south-western leaf, given the west half's mass."""
        share, prior = prior_points(weights, self.fit.prior_means[0, 1], 2000)
        chance = prior * self.likelihood(1, west * share) * self.likelihood(3, west * (1 - share))
        return west * (chance * share).sum() / chance.sum()


@pytest.fixture(scope="module")
def quads():
    return [Quad(seed) for seed in range(8)]


def misses(quads, **model):
    """How far the root and the west half of belief propagation lie from a model's, in standard deviations."""
    found = []
    for quad in quads:
        masses = belief_masses(quad.tree, quad.measurements, quad.fit)
        used = {"kappa": quad.kappa, **model}
        root = (masses[0] - quad.root_mean(**used)) / quad.deviation
        west = (masses[1] + masses[3] - quad.west_mean(masses[0], **used)) / quad.half_deviations[0]
        found.append((root, west))
    return np.sqrt(np.mean(np.square(found), axis=0))


def test_means_are_those_of_the_model(quads):
    """Of the root, and of a half given the root; messages of twenty masses cost a few per cent of the noise."""
    assert np.all(misses(quads) < 0.04)


@pytest.mark.parametrize(
    "wrong", [{"kappa": 0}, {"kappa": 0.8}, {"weights": np.eye(8)[7]}, {"weights": np.eye(8)[0]}], ids=str
)
def test_means_are_not_those_of_another_model(quads, wrong):
    """Without the power of the mass, with too high a power, with every split sure, with all mass in one part."""
    assert np.max(misses(quads, **wrong)) > 0.08


def test_leaves_are_those_of_the_model(quads):
    """Given the mass of their half."""
    for quad in quads:
        masses = belief_masses(quad.tree, quad.measurements, quad.fit)
        west = masses[1] + masses[3]
        expected = quad.southwest_mean(west)
        assert abs(masses[1] - expected) < 0.05 * np.sqrt(quad.fit.variances[1])


def with_second_laws(quad, *, others):
    """The same quad whose splits follow second laws, too, in one of two bins."""
    weights = np.zeros((2, 2, 2, 8))
    weights[..., 1, :] = (1 - others) * SECOND
    weights[..., 1, 1] = others
    weights[..., 0, 0] = 1  # a bin that no split is in
    second = SecondLaws(
        means=np.array([[0.2, 0.85, 0.6], *[[0.5] * 3] * 4]), bins=np.ones((5, 3), np.int64), weights=weights
    )
    return replace(quad.fit, second=second)


@pytest.mark.parametrize("others", [0.0, 0.4])
def test_second_laws_are_those_of_the_model(quads, others):
    """A leaf given the mass of its half: both families together, and the second alone."""
    for quad in quads:
        fit = with_second_laws(quad, others=others)
        masses = belief_masses(quad.tree, quad.measurements, fit)
        west = masses[1] + masses[3]
        first, chance = prior_points(WEIGHTS, quad.fit.prior_means[0, 1], 2000)
        second, other_chance = prior_points(SECOND, fit.second.means[0, 1], 2000)
        share, prior = np.concatenate([first, second]), np.concatenate([others * chance, (1 - others) * other_chance])
        likely = prior * quad.likelihood(1, west * share) * quad.likelihood(3, west * (1 - share))
        expected = west * (likely * share).sum() / likely.sum()
        assert abs(masses[1] - expected) < 0.05 * np.sqrt(quad.fit.variances[1])
        assert abs(masses[1] - belief_masses(quad.tree, quad.measurements, quad.fit)[1]) > 1e-3


def test_second_laws_without_weight_change_nothing(quads):
    """The masses are the same up to rounding."""
    for quad in quads:
        alone = belief_masses(quad.tree, quad.measurements, quad.fit)
        both = belief_masses(quad.tree, quad.measurements, with_second_laws(quad, others=1.0))
        np.testing.assert_allclose(both, alone, rtol=1e-12)


def test_two_levels_are_those_of_the_model():
    """The root's mean through 15 splits, against draws from the prior weighted by the likelihood."""
    rng = np.random.default_rng(5)
    tree = complete_quadtree(2)
    true_counts = rng.multinomial(200, rng.dirichlet([0.5] * 16))
    measurements = noisy(tree, true_counts, "0.02", rng)
    fit = bayes_masses(solve(tree, measurements))
    fit = replace(fit, prior_weights=np.tile(WEIGHTS, (3, 2, 1)), prior_means=np.full((tree.nodes, 3), 0.45))
    counts = counts_by_node(tree, measurements)
    kappa = bias_power(fit.masses[0] * path_budget(tree, counts))

    draws = 400_000
    masses = np.empty((tree.nodes, draws))
    deviation = np.sqrt(fit.variances[0])
    masses[0] = rng.uniform(max(fit.masses[0] - REACH * deviation, 0), fit.masses[0] + REACH * deviation, draws)
    log_weight = kappa * np.log(masses[0] + deviation)
    for node in range(5):
        west = masses[node] * draw_shares(rng, draws)
        for side, half in enumerate((west, masses[node] - west)):
            log_weight += kappa * np.log(half + np.sqrt(fit.half_variances[node, side]))
            child = tree.first_children[node] + side
            masses[child] = half * draw_shares(rng, draws)
            masses[child + 2] = half - masses[child]
        if node > 0:
            log_weight += kappa * np.log(masses[node] + np.sqrt(fit.variances[node]))
    for node in range(tree.nodes):
        for i in range(*counts.offsets[node : node + 2]):
            log_weight -= counts.rates[i] * np.abs(counts.values[i] - masses[node])
    weight = np.exp(log_weight - log_weight.max())

    effective = weight.sum() ** 2 / (weight**2).sum()
    assert effective > 1000
    assert abs(belief_masses(tree, measurements, fit)[0] - np.average(masses[0], weights=weight)) < (
        (0.05 + 4 / np.sqrt(effective)) * deviation
    )


def draw_shares(rng, size, mean=0.45):
    """Draws from the prior."""
    component = rng.choice(8, size, p=WEIGHTS)
    strength = np.array([1, 1, *CONCENTRATIONS])[component]
    shares = rng.beta(2 * strength * mean, 2 * strength * (1 - mean))
    shares = np.where(component == 0, rng.random(size) < mean, shares)
    return np.where(component == 1, mean, shares)


@settings(deadline=None, max_examples=60)
@given(measured_quadtrees())
def test_masses_add_up_and_are_never_negative(given):
    """At every node, whatever was measured, or nothing."""
    tree, measurements = given
    masses = belief_masses(tree, measurements, bayes_masses(solve(tree, measurements)))

    inner = np.flatnonzero(tree.child_counts)
    assert masses.shape == (tree.nodes,)
    assert np.all(np.isfinite(masses))
    assert np.all(masses >= 0)
    children = masses[tree.first_children[inner, None] + np.arange(4)]
    assert np.allclose(children.sum(axis=1), masses[inner], rtol=1e-12, atol=0)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    """One thread and three give the same masses, bit for bit."""
    rng = np.random.default_rng(3)
    tree = complete_quadtree(6)
    measurements = noisy(tree, rng.poisson(rng.gamma(0.3, 20, tree.cells)), "0.3", rng, from_level=3)
    fit = bayes_masses(solve(tree, measurements))

    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("HUSHGRID_THREADS", threads)
        found.append(belief_masses(tree, measurements, fit))
    assert np.array_equal(*found)


def test_masses_are_nearer_the_truth_than_those_of_single_passes():
    """On clumped points, cells larger than leaves: least squares, then Bayes, then belief, then with refined means."""
    tree = complete_quadtree(6)
    left, bottom = tree.boxes[tree.leaves, :2].T // 2**10
    larger = slice(tree.levels[3], tree.levels[6])
    errors = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        places = np.concatenate([rng.normal(rng.random(2), 0.05, (400, 2)) for _ in range(12)])
        true_grid, _, _ = np.histogram2d(places[:, 1], places[:, 0], bins=64, range=[(0, 1), (0, 1)])
        true_counts = true_grid[bottom, left]
        measurements = noisy(tree, true_counts, "0.3", rng, from_level=3)
        known, fit = solve(tree, measurements), bayes_masses(solve(tree, measurements))
        estimates = (
            known.counts,
            fit.masses,
            belief_masses(tree, measurements, fit),
            belief_masses(tree, measurements, replace(fit, prior_means=refined_means(known, fit.masses))),
        )
        truth = node_sums(tree, true_counts)
        errors.append([np.square(masses - truth)[larger].sum() for masses in estimates])
    assert np.all(np.diff(np.mean(errors, axis=0)) < 0)


def test_counts_by_node_hold_every_measurement_once():
    """Several of one node side by side, none of others."""
    tree = complete_quadtree(1)
    counts = counts_by_node(tree, measured(tree, [3, 0, 3, 1], [30, 100, 31, -5], ["1", "2", "3", "4"]))

    own = [
        sorted(zip(counts.values[low:high], counts.rates[low:high], strict=True))
        for low, high in zip(counts.offsets[:-1], counts.offsets[1:], strict=True)
    ]
    assert own == [[(100, 2)], [(-5, 4)], [], [(30, 1), (31, 3)], []]
    assert path_budget(tree, counts) == 6


@pytest.mark.parametrize(("size", "power"), [(1, 0.3), (3000, 0.235), (1e9, 0.08)])
def test_the_power_falls_with_the_size_between_bounds(size, power):
    """By .035 for every doubling of points times budget."""
    assert bias_power(size) == pytest.approx(power)


def test_tables_are_cumulative_probabilities_of_beta_laws():
    """Against scipy, for every prior mean, law and share that is tabulated."""
    shares = np.linspace(0, 1, PLACES)
    for number, strength in enumerate(CONCENTRATIONS):
        table = cumulative_tables(np.eye(8)[2 + number])
        for row, mean in enumerate(np.arange(1, MEANS + 1) / (MEANS + 1)):
            expected = special.betainc(2 * strength * mean, 2 * strength * (1 - mean), shares)
            assert np.allclose(table[row], expected, rtol=0, atol=1e-11)


def test_tables_of_mixtures_are_mixtures_of_tables():
    """Level and axis ahead; atoms have no part in them."""
    weights = np.random.default_rng(0).dirichlet(np.ones(8), (3, 2))
    tables = cumulative_tables(weights)

    assert tables.shape[:3] == (3, 2, MEANS)
    assert np.allclose(tables[..., -1], weights[..., 2:].sum(axis=-1)[..., None])
    assert np.allclose(tables[2, 1], sum(weights[2, 1, 2 + j] * cumulative_tables(np.eye(8)[2 + j]) for j in range(6)))


@pytest.mark.parametrize(("mass", "value"), [(-300, 0), (10, 1), (10.5, 1.5), (11, 2), (23, 14), (24, 14 / np.e)])
def test_messages_are_read_linearly_and_fall_off_beyond_their_ends(mass, value):
    """Between their masses, and by a factor of e a step behind them."""
    message = np.empty(PADDED + 1)
    pad(np.arange(1.0, GRID + 1)[None], 0, message)
    assert read_message(message, mass - 10.0 + TAIL) == pytest.approx(value, abs=1e-6)


def test_beta_laws_far_from_even_are_right():
    """Steep at one end, narrow, nearly sure."""
    first, second = np.array([0.01, 5, 300, 1000.0, 1]), np.array([1, 0.02, 100, 1000.0, 1])
    at = np.array([0, 1e-12, 0.01, 0.5, 0.749, 0.99, 1 - 1e-12, 1])
    out = np.empty((5, 8))
    beta_cdfs(first, second, at, out)
    assert np.allclose(out, special.betainc(first[:, None], second[:, None], at), rtol=1e-9, atol=1e-13)


def test_a_tree_of_one_leaf_is_its_own_message():
    """Masses around the count, which is their mean."""
    tree = complete_quadtree(0)
    measurements = measured(tree, [0], [1000], ["1"])
    masses = belief_masses(tree, measurements, bayes_masses(solve(tree, measurements)))
    assert masses == pytest.approx([1000], abs=1 / GRID)
    assert np.array_equal(node_sums(tree, masses), masses)
