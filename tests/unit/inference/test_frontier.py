"""What is known of a growing quadtree, folded where nothing grows."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.geometry.quadrants import QuadrantNodes, all_cells, join_cells, pick_cells
from hushgrid.inference.frontier import Frontier
from hushgrid.inference.least_squares import measurements_of_nodes, solve
from hushgrid.inference.measurements import NoisyValues
from hushgrid.inference.splits import bayes_masses
from tests.plain import UNIT_SQUARE


def grown(rng, *, rate, survivors, rounds=3):
    """A frontier after some rounds, all cells that were measured, the values, and the cells that have ended."""
    frontier = Frontier(all_cells(UNIT_SQUARE, 2))
    cells, measured, ended = [], [], []
    for _ in range(rounds):
        frontier.divide(rng.integers(0, 3, frontier.live_cells.cells))
        live = frontier.live_cells
        cells.append(live)
        # Points of uniform density: what the boxes of the cells hold of 2**20.
        true_counts = 4 ** (10 - live.levels)
        noise = 0 if rate > 1000 else rng.integers(-20, 20, live.cells)
        measured.append(NoisyValues.at_one_rate(true_counts + noise, rate))
        frontier.observe(measured[-1])
        still = rng.random(live.cells) < survivors
        ended.append(pick_cells(live, ~still))
        frontier.keep(still)
        estimates = frontier.estimates()
    return frontier, estimates, cells, measured, ended


def fit(frontier, cells, measured, ended):
    """Masses of the live cells from the whole tree."""
    whole = QuadrantNodes(join_cells([*ended, frontier.live_cells]))
    tree = whole.tree(frontier.live_cells.domain)
    nodes = np.concatenate([whole.find(part.levels, part.codes) for part in cells])
    masses = bayes_masses(solve(tree, measurements_of_nodes(tree, nodes, NoisyValues.joined(measured)))).masses
    live = frontier.live_cells
    return masses[whole.find(live.levels, live.codes)]


@pytest.mark.parametrize("seed", range(3))
def test_while_all_cells_live_nothing_is_folded(seed):
    """The masses are those of the whole tree."""
    frontier, estimates, *rest = grown(np.random.default_rng(seed), rate=Fraction(1, 10), survivors=1)

    assert np.allclose(estimates, fit(frontier, *rest), rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_precise_stays_precise(seed):
    """True masses come back, however much was folded."""
    frontier, estimates, *_ = grown(np.random.default_rng(seed), rate=Fraction(10**6), survivors=0.4)

    assert np.allclose(estimates, 4.0 ** (10 - frontier.live_cells.levels), rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_folding_changes_little(seed):
    """Neighbours that have been folded count with their mean, and teach the prior nothing."""
    frontier, estimates, *rest = grown(np.random.default_rng(seed), rate=Fraction(1, 10), survivors=0.4)

    assert np.corrcoef(estimates, fit(frontier, *rest))[0, 1] > 0.99


def test_the_cost_is_that_of_the_cells_that_live():
    """A single live cell keeps its siblings and those of its ancestors, and no more."""
    frontier = Frontier(all_cells(UNIT_SQUARE, 5))
    frontier.observe(NoisyValues.at_one_rate(np.ones(4**5, np.int64), Fraction(1)))
    frontier.keep(np.arange(4**5) == 77)
    frontier.estimates()

    assert frontier._cells.cells == 1 + 5 * 3
    assert frontier.live_cells.codes.tolist() == [77]


def test_with_nothing_live_there_is_nothing_to_estimate():
    """Without live cells there are no estimates, and the domain is the one cell left."""
    frontier = Frontier(all_cells(UNIT_SQUARE, 1))
    frontier.observe(NoisyValues.at_one_rate(np.ones(4, np.int64), Fraction(1)))
    frontier.keep(np.zeros(4, bool))

    assert len(frontier.estimates()) == 0
    assert frontier._cells.cells == 1
