"""Choices of medians and decisions to divide follow their exact laws; the same checks reject laws 20 % off."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from hushgrid.geometry.quadrants import Quadrants
from hushgrid.geometry.tree import LEFT, RIGHT, Lattice, divide_each, grow, seedling
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.trees import MedianCuts
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE

pytestmark = pytest.mark.slow

ACCEPT, REJECT = 1e-4, 1e-6
off = pytest.mark.parametrize("factor", [0.8, 1.2], ids=["too random", "too sharp"])

STRIPS = np.array([[0, 3, 1, 4, 2, 0], [1, 9, 0, 2, 6, 0], [0, 0, 0, 0, 0, 5]])  # points in the strips of three nodes
NODES, REPEATS, MEDIAN_EPSILON = 3000, 10, Fraction(3, 4)


class StripCounter:
    """Counts a tree whose nodes are cut into six strips each, the nodes alike in turn."""

    def count(self, partition):
        """Points in every strip."""
        return np.tile(STRIPS.ravel(), partition.cells // STRIPS.size)


@pytest.fixture(scope="module")
def medians():
    """How often each line of each kind of node was chosen, shape (kinds, lines)."""
    lattice = Lattice(domain=UNIT_SQUARE, columns=6 * NODES, rows=1)
    splits = np.array([[NODES, 1]])
    tree = grow(seedling(lattice), np.array([0]), splits, divide_each(lattice.box, splits))
    nodes, cuts = np.arange(1, NODES + 1), MedianCuts(axes=(0,), share=Fraction(1))
    chosen = np.zeros((len(STRIPS), 5), np.int64)
    for seed in range(REPEATS):
        budget = Budget(MEDIAN_EPSILON, bits=simulation_rng(seed))
        division = cuts.divide(StripCounter(), budget, tree, nodes, np.tile(STRIPS.sum(axis=1), NODES // 3))
        line = division.children[::2, RIGHT] - tree.boxes[nodes, LEFT] - 1
        np.add.at(chosen, (np.arange(NODES) % 3, line), 1)
    return chosen


def permute_and_flip_law(scores, rate):
    """Probability of each candidate: heads, and then one of all heads; by the law of the number of other heads."""
    heads = np.exp(-rate * (scores.max() - scores))
    law = np.empty(len(scores))
    for candidate, own in enumerate(heads):
        others = np.ones(1)
        for probability in np.delete(heads, candidate):
            others = np.convolve(others, [1 - probability, probability])
        law[candidate] = own * np.sum(others / np.arange(1, len(others) + 1))
    return law


def median_p_values(chosen, factor):
    """Of each kind of node, against permute-and-flip at half the rate charged, times a factor."""
    p_values = []
    for strips, observed in zip(STRIPS, chosen, strict=True):
        scores = -np.abs(2 * np.cumsum(strips)[:-1] - strips.sum())
        law = permute_and_flip_law(scores, float(MEDIAN_EPSILON / 2) * factor)
        p_values.append(stats.chisquare(observed, observed.sum() * law).pvalue)
    return p_values


def test_medians_are_chosen_by_permute_and_flip(medians):
    """At half of what is charged, because a record may raise one score and lower another."""
    assert min(median_p_values(medians, 1)) > ACCEPT


@off
def test_the_check_would_notice_another_rate_of_medians(medians, factor):
    """Negative control; the third kind of node has no preference, so no rate shows on it."""
    assert max(median_p_values(medians, factor)[:2]) < REJECT


LEVEL, STRUCTURE_EPSILON = 5, Fraction(1)
RATE = float(STRUCTURE_EPSILON) * 3 / 7  # the paper's 1 / lambda, for four children
BIAS = int(np.ceil(np.log(4) / RATE))
COUNTS = np.array([0, 1, 4 * BIAS + 1, 5 * BIAS - 2, 5 * BIAS, 5 * BIAS + 1, 5 * BIAS + 2, 5 * BIAS + 5])


class LevelCounter:
    """Cells that are surely divided above one level, and hold known numbers of points on it."""

    domain = UNIT_SQUARE

    def count(self, partition):
        """Points in every cell, by its level and its place."""
        assert isinstance(partition, Quadrants)
        return np.where(partition.levels < LEVEL, 10**6, COUNTS[partition.codes % len(COUNTS)])


EVIDENCE = np.maximum(COUNTS - LEVEL * BIAS, -BIAS)
RELEASES, CELLS = 100, 4**LEVEL


@pytest.fixture(scope="module")
def divided():
    """How many cells of each count were divided."""
    found = np.zeros(len(COUNTS), np.int64)
    for seed in range(RELEASES):
        budget = Budget(2 * STRUCTURE_EPSILON, bits=simulation_rng(seed))
        tree = PrivTree(depth=LEVEL + 1).release(LevelCounter(), budget).partition
        # All cells of the level are there, along the curve.
        inner = tree.child_counts[slice(*tree.levels[LEVEL : LEVEL + 2])] > 0
        found += inner.reshape(-1, len(COUNTS)).sum(axis=0)
    return found


def decision_p_values(divided, evidence, rate):
    """Of each count, against the probability that evidence and noise of this rate are above zero together."""
    q = np.exp(-rate)
    chance = np.where(evidence > 0, 1 - q ** np.abs(evidence) / (1 + q), q ** (1 + np.abs(evidence)) / (1 + q))
    cells = RELEASES * CELLS // len(COUNTS)
    return np.array([stats.binomtest(int(n), cells, p).pvalue for n, p in zip(divided, chance, strict=True)])


def test_cells_are_divided_with_the_probability_of_the_rule(divided):
    """Below, at and above the threshold, and on the floor of the bias."""
    assert decision_p_values(divided, EVIDENCE, RATE).min() > ACCEPT


@off
def test_the_check_would_notice_another_rate_of_decisions(divided, factor):
    """Negative control: everywhere but next to the threshold, where the rate hardly matters."""
    assert decision_p_values(divided, EVIDENCE, RATE * factor)[np.abs(EVIDENCE) > 1].max() < REJECT


@pytest.mark.parametrize("shift", [-1, 1], ids=["too strict", "too lax"])
def test_the_check_would_notice_a_threshold_off_by_one(divided, shift):
    """Negative control: evidence of one less or more."""
    assert decision_p_values(divided, EVIDENCE + shift, RATE).max() < REJECT
