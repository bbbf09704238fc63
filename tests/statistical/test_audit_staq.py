"""STAQ audited where its structure is most sensitive: neighbours that differ in a cell on the edge of splitting."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit.estimator import epsilon_lower_bound
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.inference.measurements import NoisyValues
from hushgrid.methods.staq import Staq
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.paths import PathBudget
from tests.plain import UNIT_SQUARE

pytestmark = pytest.mark.slow

EPSILON = Fraction(2)
PLACE = (0.1, 0.1)
STAQ = Staq(inference="least-squares", first_level=1, deepest=3)
RUNS, TRIES, MOST_POINTS = 800, 60, 10


class SmallNoise(PathBudget):
    """Counts get a tenth of the noise claimed, and so does whatever is decided by them."""

    def measure(self, true_counts, units):
        """Noisy counts at ten times their rates."""
        claimed = super().measure(true_counts, units)
        noise = np.rint((claimed.values - true_counts) / 10).astype(np.int64)
        return NoisyValues(values=true_counts + noise, rates=claimed.rates, rate_index=claimed.rate_index)


class Peeking(Budget):
    """A budget whose paths have too little noise."""

    def paths(self, share, cells, *, purpose):
        """Such paths."""
        return SmallNoise(self.charge(share, purpose=purpose, measured=True), cells, bits=self._bits)


def leaf_sides(points, *, runs, budget=Budget):
    """Side of the leaf around the place, and the number of leaves, in each of many releases: structure alone."""
    bits = simulation_rng(11)
    counter = PointCounter(UNIT_SQUARE, open_points([PLACE] * points, crs=UNIT_SQUARE.crs))
    found = []
    for _ in range(runs):
        tree = STAQ.release(counter, budget(EPSILON, bits=bits, public_size=100)).partition
        west, south, east, north = tree.bounds().T
        here = (west <= PLACE[0]) & (PLACE[0] < east) & (south <= PLACE[1]) & (PLACE[1] < north)
        found.append(((east - west)[here][0], tree.cells))
    return np.array(found)


@pytest.fixture(scope="module")
def edge():
    """Number of points at which the cell around them is divided about every other time."""
    divided = [np.mean(leaf_sides(points, runs=TRIES)[:, 0] < 0.5) for points in range(MOST_POINTS)]
    edge = int(np.argmin(np.abs(np.array(divided) - 0.5)))
    assert 0.2 < divided[edge] < 0.8
    return edge


def test_the_structure_gives_away_no_more_than_is_claimed(edge):
    """One record more or less around the place where a cell is divided every other time."""
    for fewer in (edge - 1, edge):
        bound = epsilon_lower_bound(leaf_sides(fewer, runs=RUNS), leaf_sides(fewer + 1, runs=RUNS))
        assert bound.epsilon <= EPSILON


def test_a_structure_from_counts_with_too_little_noise_is_noticed(edge):
    """Negative control, by the structure alone: at some of the neighbouring sizes the bound is above the claim."""
    bounds = [
        epsilon_lower_bound(
            leaf_sides(fewer, runs=RUNS, budget=Peeking), leaf_sides(fewer + 1, runs=RUNS, budget=Peeking)
        ).epsilon
        for fewer in (edge - 2, edge - 1, edge)
    ]

    assert max(bounds) > EPSILON
