"""A tree measured level by level: every path spends its share, and nothing but released values steers it."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from hushgrid.geometry.tree import Lattice
from hushgrid.inference.least_squares import nodes_of_runs, solve
from hushgrid.inference.measurements import rate_totals
from hushgrid.methods.trees import MedianCuts, Quarters, descend, level_units, median_cuts
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.paths import UNITS
from tests.plain import UNIT_SQUARE, PlainCounter
from tests.scripted import ScriptedBudget

LATTICE = Lattice(domain=UNIT_SQUARE, columns=2**10, rows=2**10)
MEDIANS = [MedianCuts(axes=(level % 2,), share=Fraction(1, 20)) for level in range(6)]
SPLITS = {"medians": MEDIANS, "quarters": [Quarters()] * 3, "both": [*MEDIANS[:2], Quarters(), Quarters()]}
FOURS = median_cuts(6, axes=[(0,), (1,)], share=Fraction(3, 10), fan_out=4)
either = pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS)
any_of_them = pytest.mark.parametrize("splits", [*SPLITS.values(), FOURS], ids=[*SPLITS, "fours"])
DATA = tuple(map(tuple, np.random.default_rng(0).random((400, 2)) ** 3))


def grown(splits, data=DATA, *, budget=None, stop_below=32):
    """A tree and its measurements."""
    budget = budget or Budget(Fraction(1), bits=simulation_rng(0))
    return descend(
        PlainCounter(UNIT_SQUARE, data),
        budget,
        lattice=LATTICE,
        splits=splits,
        count_share=Fraction(2, 3),
        stop_below=stop_below,
    )


@any_of_them
@pytest.mark.parametrize("data", [(), DATA, ((0.5, 0.5),) * 300], ids=["none", "spread", "stacked"])
def test_every_path_spends_the_count_share_exactly(splits, data):
    """Whether it ends early or at the last level."""
    _, measurements = grown(splits, data)
    totals, denominator = rate_totals(measurements)

    assert {Fraction(int(total), denominator) for total in set(totals)} == {Fraction(2, 3)}


@any_of_them
def test_structure_follows_from_released_values(splits):
    """A script in their place, and the data do not matter."""
    trees = [grown(splits, data, budget=ScriptedBudget(3)) for data in ((), DATA, ((0.9, 0.1),) * 99)]

    assert trees[0][0].nodes > 5
    assert all(tree == trees[0][0] for tree, _ in trees)
    assert all(np.array_equal(other.leaves.values, trees[0][1].leaves.values) for _, other in trees)


@either
def test_a_node_below_the_threshold_is_not_divided(splits):
    """Without noise, nodes below the threshold stay whole, and all others are divided while levels last."""
    budget = Budget(Fraction(10**7), bits=simulation_rng(0))
    tree, _ = grown(splits, budget=budget, stop_below=50)
    counts = np.zeros(tree.nodes, np.int64)
    counts[tree.leaves] = PlainCounter(UNIT_SQUARE, DATA).count(tree)
    for node in range(tree.nodes - 1, 0, -1):
        counts[tree.parents[node]] += counts[node]
    inner = tree.child_counts > 0

    assert counts[inner].min() >= 50
    assert np.all((counts[~inner] < 50) | (np.flatnonzero(~inner) >= tree.levels[-2]))


@any_of_them
def test_without_noise_the_truth_comes_back(splits):
    """With next to no noise, every leaf has its true count."""
    tree, measurements = grown(splits, budget=Budget(Fraction(10**7), bits=simulation_rng(0)))

    assert np.allclose(solve(tree, measurements).counts[tree.leaves], PlainCounter(UNIT_SQUARE, DATA).count(tree))


def test_a_node_that_stops_is_measured_with_all_that_is_left():
    """Twice in all: once with its level, once with the rest."""
    tree, measurements = grown(MEDIANS, stop_below=60)
    units = level_units(MEDIANS)
    regions, values = measurements.regions, measurements.region_values
    early = tree.leaves[tree.leaves < tree.levels[-2]][0]
    level = int(np.searchsorted(tree.levels, early, side="right")) - 1
    own = int(np.flatnonzero(tree.leaves == early)[0])
    before = values.rate_index[nodes_of_runs(tree, regions.first, regions.stop) == early]
    unit = Fraction(2, 3) / UNITS

    assert [values.rates[index] for index in before] == [units[level] * unit]
    rest = UNITS - sum(units[: level + 1])
    assert measurements.leaves.rates[measurements.leaves.rate_index[own]] == rest * unit


@dataclass(frozen=True)
class Watched(PlainCounter):
    """A counter that notes each pass over its points."""

    passes: tuple = ([],)

    def count(self, partition):
        """Points in every cell."""
        self.passes[0].append(partition.cells)
        return super().count(partition)


@any_of_them
def test_a_level_takes_one_pass(splits):
    """Every level takes one pass over the points, and the total one more."""
    counter = Watched(UNIT_SQUARE, DATA, ([],))
    budget = Budget(Fraction(10**6), bits=simulation_rng(0))
    descend(counter, budget, lattice=LATTICE, splits=splits, count_share=Fraction(1, 2), stop_below=0)

    assert len(counter.passes[0]) == 1 + len(splits)


@either
def test_units_grow_by_the_sixth_root_of_two_for_every_halving(splits):
    """Units grow so from level to level, but for rounding; the last level has what is left."""
    units = level_units(splits)
    units.append(UNITS - sum(units))
    growth = [2 ** (split.halvings / 6) for split in splits]

    assert np.allclose(np.array(units[1:]) / units[:-1], growth, atol=0.05)


def test_levels_that_are_not_counted_leave_their_units_to_the_others():
    """Every other level of fan-out four has none; the rest grow by the cube root of two."""
    units = [*level_units(FOURS), UNITS - sum(level_units(FOURS))]

    assert units[1::2] == [0, 0, 0]
    assert np.allclose(np.divide(units[2::2], units[:-1:2]), 2 ** (1 / 3), atol=0.05)
    assert grown(FOURS)[0].nodes > 5
