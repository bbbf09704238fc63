"""The quadtree: its levels, its budget, where it ends."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import CELL_LIMIT, Grid
from hushgrid.inference.measurements import rate_totals
from hushgrid.methods.pyramids import GridSums
from hushgrid.methods.quadtree import LARGEST_HEIGHT, Quadtree
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

POINTS = tuple(map(tuple, np.random.default_rng(0).beta(0.5, 2, (300, 2))))


class Passes(PlainCounter):
    """A counter that remembers what it was asked to count."""

    asked: list

    def count(self, partition):
        """Points in every cell."""
        self.asked.append(partition)
        return super().count(partition)


def release(method, *, epsilon=Fraction(1), public_size=None):
    """A simulated release, and the partitions that were counted for it."""
    counter = Passes(UNIT_SQUARE, POINTS)
    object.__setattr__(counter, "asked", [])
    budget = Budget(epsilon, bits=simulation_rng(0), public_size=public_size)
    return method.release(counter, budget), counter.asked


@pytest.mark.parametrize("height", [1, 2, 4])
def test_a_huge_epsilon_gives_back_the_truth(height):
    """In the order of the tree's leaves."""
    synopsis, _ = release(Quadtree(height=height, stop_below=0), epsilon=Fraction(10**8))

    assert synopsis.partition.cells == 4**height
    assert np.allclose(synopsis.counts, PlainCounter(UNIT_SQUARE, POINTS).count(synopsis.partition), rtol=0, atol=1e-9)


def test_points_are_counted_once_on_the_finest_grid():
    """All levels come from one pass over the finest grid."""
    _, asked = release(Quadtree(height=3, stop_below=1))

    assert asked == [Grid(domain=UNIT_SQUARE, rows=8, columns=8)]


@pytest.mark.parametrize("method", [Quadtree(height=2), Quadtree(height=5, stop_below=0), Quadtree.paper()], ids=repr)
def test_every_path_spends_all_of_epsilon(method):
    """Wherever it ends; and nothing is spent on a size where the height is given."""
    synopsis, _ = release(method, epsilon=Fraction(1, 3))
    totals, denominator = rate_totals(synopsis.measurements)

    assert {Fraction(int(total), denominator) for total in set(totals)} == {Fraction(1, 3)}
    assert [(spend.purpose, spend.epsilon) for spend in synopsis.claim.spends] == [("counts", Fraction(1, 3))]


def test_nodes_with_few_points_are_leaves():
    """Without noise, no node below the threshold is divided, and a leaf above it lies on the last level."""
    height, stop = 5, 20
    synopsis, _ = release(Quadtree(height=height, stop_below=stop), epsilon=Fraction(10**8))
    tree, counts = synopsis.partition, synopsis.counts
    sides = tree.boxes[tree.leaves][:, 2] - tree.boxes[tree.leaves][:, 0]
    first, last = tree.runs
    inner = np.flatnonzero(tree.child_counts > 0)
    sums = np.concatenate([[0], np.cumsum(counts)])

    assert tree.cells < 4**height
    assert np.all((counts < stop) | (sides == 1))
    assert np.all(sums[last[inner]] - sums[first[inner]] > stop - 0.5)


@pytest.mark.parametrize(("size", "height"), [(4**5, 6), (4**8, 9), (0, 1), (10**12, LARGEST_HEIGHT)])
def test_the_height_follows_from_points_times_epsilon(size, height):
    """One level more than the logarithm to the base of four, within limits."""
    synopsis, asked = release(Quadtree(stop_below=10**6), public_size=size)

    assert asked[0].rows == asked[0].columns == synopsis.partition.lattice.rows == 2**height


def test_the_threshold_grows_with_the_noise():
    """A tenth of epsilon, ten times the threshold: stacked points are followed down with much, and left with little."""
    stacked = tuple([(0.3, 0.3)] * 100)

    def leaves(epsilon):
        counter = PlainCounter(UNIT_SQUARE, stacked)
        return Quadtree(height=4).release(counter, Budget(epsilon, bits=simulation_rng(0))).partition.cells

    assert leaves(Fraction(1)) > 4
    assert leaves(Fraction(1, 20)) == 1


def test_sums_over_a_grid_are_what_a_counter_would_count():
    """On the leaves of a tree that was grown on its lines."""
    tree = release(Quadtree(height=4, stop_below=10), epsilon=Fraction(10))[0].partition
    counter = PlainCounter(UNIT_SQUARE, POINTS)
    sums = GridSums.of(counter, side=16)

    assert tree.lattice == sums.lattice
    assert np.array_equal(sums.count(tree), counter.count(tree))
    assert sums.total() == counter.total()


def test_the_largest_height_fits():
    """The largest height fits the limit of cells, and the next does not."""
    assert sum(4**level for level in range(LARGEST_HEIGHT + 1)) <= CELL_LIMIT
    assert sum(4**level for level in range(LARGEST_HEIGHT + 2)) > CELL_LIMIT


@pytest.mark.parametrize("height", [0, -1, LARGEST_HEIGHT + 1, 2.0, True, "3"])
def test_a_height_is_checked_when_given(height):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match="height must be a whole number from 1 to 12"):
        Quadtree(height=height)
