"""UG and AG audited as black boxes on neighbouring data sets, and broken builds that must be flagged."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from hushgrid.audit.estimator import epsilon_lower_bound
from hushgrid.audit.laws import discrete_laplace_p_value
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.geometry.guidelines import guideline_side, leaf_sides
from hushgrid.inference.measurements import Measurements, NoisyValues, Regions
from hushgrid.methods.adaptive_grid import AdaptiveGrid, guideline_first_side
from hushgrid.methods.method import record
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.laplace import add_noise
from hushgrid.synopsis.synopsis import Synopsis
from tests.plain import UNIT_SQUARE, PlainCounter, leaf_of

SEED = 1
RUNS = 8_000
HALF = Fraction(1, 2)
PLACE = (0.1, 0.1)  # of the record that one data set has more
FAR = (0.9, 0.9)


class RememberingCounter(PlainCounter):
    """A plain counter that counts a partition once."""

    @cached_property
    def _known(self):
        return {}

    def count(self, partition):
        """Points in every cell."""
        key = (partition.grid, partition.sides.tobytes()) if isinstance(partition, NestedGrid) else partition
        if key not in self._known:
            self._known[key] = super().count(partition)
        return self._known[key].copy()


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """A method, its budget, and data that a record at PLACE is added to."""

    method: object
    points: tuple
    epsilon: Fraction = Fraction(1)
    grant: dict = field(default_factory=dict)

    def bound(self, *, budget=Budget, runs=RUNS):
        """Lower bound on epsilon from releases of both data sets."""
        bits = simulation_rng(SEED)
        counter = RememberingCounter(UNIT_SQUARE, self.points)
        samples = []
        for source in (counter, RememberingCounter(UNIT_SQUARE, (*self.points, PLACE))):
            budgets = (budget(self.epsilon, bits=bits, **self.grant) for _ in range(runs))
            releases = (self.method.release(source, granted) for granted in budgets)
            samples.append([statistics(release, counter) for release in releases])
        return epsilon_lower_bound(*map(np.array, samples))


def statistics(release, counter):
    """What an attacker would look at: structure, the cell of the record, sums, differences, and the privacy loss."""
    measurements = release.measurements
    size = release.claim.size.value if release.claim.size else 0
    leaf = leaf_of(release.partition, *PLACE)
    leaves = measurements.leaves.values
    own = leaves[leaf]
    cell = cell_at(release.partition, leaf)
    above = 0 if cell is None else measurements.region_values.values[cell]
    return (
        *(release.partition.cells, size, own, leaves.sum(), own - leaves[leaf - 1], leaves[0] - leaves[-1]),
        *(above, own + above, own - above, min(own, above), release.counts[leaf], release.total),
        privacy_loss(release, counter, leaf=leaf, cell=cell),
    )


def cell_at(partition, leaf):
    """First-level cell of a leaf, if there are two levels."""
    return (
        int(np.searchsorted(partition.offsets, leaf, side="right")) - 1 if isinstance(partition, NestedGrid) else None
    )


def privacy_loss(release, counter, *, leaf, cell):
    """Log of how much likelier the release is without the record than with it, if the noise is as claimed."""
    leaves, regions = release.measurements.leaves, release.measurements.region_values
    pairs = [(leaves.values[leaf], counter.count(release.partition)[leaf], leaves.rates[0])]
    if cell is not None:
        pairs.append((regions.values[cell], counter.count(release.partition.grid)[cell], regions.rates[0]))
    pairs += [
        (release.claim.size.value, counter.rows(), spend.epsilon)
        for spend in release.claim.spends
        if spend.purpose == "size"
    ]
    return sum(float(rate) * (abs(value - true - 1) - abs(value - true)) for value, true, rate in pairs)


CROWD = ((0.2, 0.2), (0.1, 0.15), (0.7, 0.3), (0.6, 0.8)) * 10
NEIGHBOURS = {
    "ug-dense-spot": Neighbours(method=UniformGrid(side=2), points=CROWD),
    "ug-empty-spot": Neighbours(method=UniformGrid(side=2), points=(FAR,), epsilon=HALF),
    "ug-stacked-duplicate": Neighbours(method=UniformGrid(side=3), points=(PLACE,) * 25),
    "ug-public-size": Neighbours(method=UniformGrid(), points=CROWD, grant={"public_size": 40}),
    # sqrt(22 * 0.99 / 10) rounds to 1, sqrt(23 * 0.99 / 10) to 2.
    "ug-size-on-an-edge": Neighbours(method=UniformGrid(), points=(FAR,) * 22),
    # Half for the size: sqrt(44 * 0.5 / 10) rounds to 1, sqrt(45 * 0.5 / 10) to 2.
    "ug-size-on-an-edge-and-half-the-budget-for-it": Neighbours(
        method=UniformGrid(), points=(FAR,) * 44, grant={"size_share": HALF, "size_from": "domain"}
    ),
    "ag-dense-spot": Neighbours(method=AdaptiveGrid(first_side=2), points=CROWD),
    "ag-empty-spot": Neighbours(method=AdaptiveGrid(first_side=1), points=(FAR,), epsilon=HALF),
    "ag-stacked-duplicate": Neighbours(method=AdaptiveGrid(first_side=2), points=(PLACE,) * 25),
    # A cell of 10 is not divided; one of 11 is, in both cases.
    "ag-cell-on-an-edge": Neighbours(method=AdaptiveGrid(first_side=1), points=(PLACE,) * 10),
    "ag-cell-on-an-edge-and-most-of-the-budget-for-it": Neighbours(
        method=AdaptiveGrid(first_side=1, alpha=0.8, c2=2.0), points=(PLACE,) * 10
    ),
    "ag-public-size": Neighbours(method=AdaptiveGrid(), points=(PLACE,) * 10, grant={"public_size": 100}),
    # ceil(sqrt(88 * 0.5 / 0.0262)) is 41, a quarter of which rounds to 10; with 89 it is 42, which gives 11.
    "ag-size-on-an-edge": Neighbours(
        method=AdaptiveGrid(c=0.0262), points=(FAR,) * 88, grant={"size_share": HALF, "size_from": "domain"}
    ),
}


class TooQuiet(Budget):
    """Noise of 0.8 times the scale that is claimed."""

    def measure(self, true_counts, share, *, purpose="counts"):
        """Noisy counts at 1.25 times the rate."""
        claimed = super().measure(true_counts, share, purpose=purpose)
        values = add_noise(true_counts, rate=claimed.rates[0] * Fraction(5, 4), bits=self._bits)
        return NoisyValues.at_one_rate(values, claimed.rates[0])


class SpendingTwice(Budget):
    """Every level gets the whole budget and says it had its share."""

    def measure(self, true_counts, share, *, purpose="counts"):
        """Noisy counts at the full rate."""
        claimed = super().measure(true_counts, share, purpose=purpose)
        return NoisyValues.at_one_rate(add_noise(true_counts, rate=self.epsilon, bits=self._bits), claimed.rates[0])


class ReusingDraws(Budget):
    """One draw for all the cells of a measurement."""

    def measure(self, true_counts, share, *, purpose="counts"):
        """Counts, all with the noise of the first."""
        claimed = super().measure(true_counts, share, purpose=purpose)
        return NoisyValues.at_one_rate(true_counts + (claimed.values[0] - true_counts[0]), claimed.rates[0])


class KnowingTheSize(Budget):
    """The true number of points sizes the grid, where the noisy one was paid for."""

    def noisy_size(self, counter):
        """True number of points."""
        super().noisy_size(counter)
        return counter.total()


class KnowingTheCells(AdaptiveGrid):
    """An adaptive grid whose second level is sized by true counts."""

    def release(self, counter, budget):
        """Publish an adaptive grid that tells too much."""
        grid = Grid(domain=counter.domain, rows=self.first_side, columns=self.first_side)
        true_counts = counter.count(grid)
        cells = budget.measure(true_counts, HALF)
        sides = leaf_sides(true_counts, HALF * budget.epsilon)
        nested = NestedGrid(grid=grid, sides=sides)
        leaves = budget.measure(counter.count(nested), HALF)
        measurements = Measurements(leaves=leaves, regions=Regions.between(nested.offsets), region_values=cells)
        return Synopsis.infer(nested, measurements, inference="two-level", claim=budget.claim(), method=record(self))


MANY, FEW = 20_000, 2_000  # runs: for noise of a slightly wrong scale, for what any run may tell
BROKEN = {
    "ug-noise-a-fifth-too-small": (NEIGHBOURS["ug-dense-spot"], TooQuiet, MANY),
    "ug-noise-a-fifth-too-small-at-guideline-size": (NEIGHBOURS["ug-size-on-an-edge"], TooQuiet, MANY),
    "ag-noise-a-fifth-too-small": (NEIGHBOURS["ag-stacked-duplicate"], TooQuiet, MANY),
    "ag-levels-that-spend-it-all": (NEIGHBOURS["ag-dense-spot"], SpendingTwice, FEW),
    "ug-one-draw-for-all-cells": (NEIGHBOURS["ug-empty-spot"], ReusingDraws, FEW),
    "ug-true-size": (NEIGHBOURS["ug-size-on-an-edge-and-half-the-budget-for-it"], KnowingTheSize, FEW),
    "ag-true-size": (NEIGHBOURS["ag-size-on-an-edge"], KnowingTheSize, FEW),
    "ag-leaves-by-true-counts": (Neighbours(method=KnowingTheCells(first_side=1), points=(PLACE,) * 10), Budget, FEW),
}


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_the_bound_never_exceeds_the_claim(neighbours):
    """The bound stays below the claim, but near enough that a real leak would show."""
    bound = neighbours.bound()

    assert bound.epsilon <= neighbours.epsilon
    assert bound.epsilon >= neighbours.epsilon / 2


@pytest.mark.slow
@pytest.mark.parametrize(("neighbours", "budget", "runs"), BROKEN.values(), ids=BROKEN)
def test_a_broken_build_is_flagged(neighbours, budget, runs):
    """Negative control: the same statistics show that more than the claim was spent."""
    assert neighbours.bound(budget=budget, runs=runs).epsilon > neighbours.epsilon


def count_noise(budget):
    """Noise of many counts, and the rate it claims."""
    measured = budget(Fraction(3, 4), bits=simulation_rng(SEED)).measure(np.zeros(50_000, np.int64), HALF)
    return measured.values, measured.rates[0]


def size_noise(budget):
    """Noise of many noisy sizes, and the rate it claims."""
    bits, counter = simulation_rng(SEED), PlainCounter(UNIT_SQUARE, (FAR,))
    grants = [budget(Fraction(3, 4), bits=bits) for _ in range(5000)]
    return np.array([grant.noisy_size(counter) - 1 for grant in grants]), grants[0].claim().epsilon


@pytest.mark.slow
@pytest.mark.parametrize("noise", [count_noise, size_noise])
def test_every_primitive_follows_its_law_at_its_own_rate(noise):
    """Noise of every primitive passes at its rate, and fails at a rate a fifth smaller."""
    draws, rate = noise(Budget)

    assert discrete_laplace_p_value(draws, rate) > 0.001
    assert discrete_laplace_p_value(draws, rate * Fraction(4, 5)) < 1e-6


def test_the_edges_are_edges():
    """One record more changes the guideline's sizes where a case says so."""
    assert [guideline_side(size, Fraction(99, 100)) for size in (22, 23)] == [1, 2]
    assert [guideline_side(size, HALF) for size in (44, 45)] == [1, 2]
    assert [guideline_first_side(size, HALF, c=0.0262) for size in (88, 89)] == [10, 11]
    assert leaf_sides(np.array([10, 11]), HALF).tolist() == [1, 2]
    assert leaf_sides(np.array([10, 11]), Fraction(1, 5), c2=2.0).tolist() == [1, 2]


def test_the_counter_that_remembers_counts_like_the_real_one():
    """On both kinds of partition."""
    counter = RememberingCounter(UNIT_SQUARE, CROWD)
    real = PointCounter(UNIT_SQUARE, open_points(np.array(CROWD), crs=UNIT_SQUARE.crs))
    grid = Grid(domain=UNIT_SQUARE, rows=3, columns=3)

    for partition in (grid, NestedGrid(grid=grid, sides=np.arange(1, 10))) * 2:
        assert np.array_equal(counter.count(partition), real.count(partition))
