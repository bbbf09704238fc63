"""Quadtree cells of large sources: dense counts of a level and passes that look ahead."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting import counter as counters
from hushgrid.counting import quadtree as quadrant_counts
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.counting.quadtree import QuadrantCounts, Refinement
from hushgrid.geometry.quadrants import DEEPEST, Quadrants, all_cells, divide_cells, pick_cells
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.staq import Staq
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter


def clumped_points(size=400, seed=0):
    """Points in and around the unit square, most of them at one place, some on lines of every level."""
    rng = np.random.default_rng(seed)
    points = np.vstack([rng.uniform(-0.1, 1.1, (size // 2, 2)), rng.normal((0.3, 0.7), 1e-4, (size // 2, 2))])
    points[::5] = np.round(points[::5] * 2**14) / 2**14
    return np.vstack([points, [[0, 0], [1, 1], [0, 1], [1, 0], [np.nan, 0.5]]])


class PassCounter:
    """A plain count of whatever is asked for, which remembers how often it was asked."""

    def __init__(self, points):
        self._counter = PointCounter(UNIT_SQUARE, open_points(points, crs=UNIT_SQUARE.crs))
        self.partitions = []

    def __call__(self, partition):
        """One pass."""
        self.partitions.append(partition)
        return self._counter._pass(partition)


@st.composite
def growing_cells(draw):
    """The cells that a method asks for in its rounds: each round some of them are divided, by one or two levels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells, rounds = all_cells(UNIT_SQUARE, draw(st.integers(0, 2))), []
    for _ in range(draw(st.integers(1, 9))):
        rounds.append(cells)
        kept = pick_cells(cells, rng.random(cells.cells) < min(1, 24 / max(1, cells.cells)))
        cells, _ = divide_cells(kept, np.minimum(rng.integers(0, 3, kept.cells), DEEPEST - kept.levels))
    return rounds


@settings(deadline=None, max_examples=30)
@given(growing_cells(), st.integers(1, 5), st.sampled_from([0, 40, 4**7]))
def test_counts_are_those_of_a_plain_loop_whatever_is_counted_ahead(rounds, dense_level, most_parts):
    """Counts are right with room for many levels, for few, or for none."""
    points = clumped_points()
    plain = PlainCounter(UNIT_SQUARE, tuple(map(tuple, points)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quadrant_counts, "DENSE_LEVEL", dense_level)
        patch.setattr(quadrant_counts, "MOST_PARTS", most_parts)
        counts, passes = QuadrantCounts(UNIT_SQUARE), PassCounter(points)

        for cells in rounds:
            assert np.array_equal(counts.count(cells, passes), plain.count(cells))


def test_levels_that_were_counted_are_not_read_again(monkeypatch):
    """One pass serves all cells down to the dense level, and the next all that descend from what was asked for."""
    monkeypatch.setattr(quadrant_counts, "DENSE_LEVEL", 4)
    passes = PassCounter(clumped_points())
    counts = QuadrantCounts(UNIT_SQUARE)

    for level in range(5):
        counts.count(all_cells(UNIT_SQUARE, level), passes)
    assert [type(each) for each in passes.partitions] == [Refinement]
    cells = all_cells(UNIT_SQUARE, 5)
    counts.count(cells, passes)
    for _ in range(3):
        some = pick_cells(cells, np.arange(cells.cells) % 7 == 0)
        cells, _ = divide_cells(some, np.ones(some.cells, np.int64))
        counts.count(cells, passes)
    assert len(passes.partitions) == 2


def test_cells_that_take_too_much_memory_are_counted_by_themselves(monkeypatch):
    """Far apart and deep, their parts would be too many; the answer is the same."""
    monkeypatch.setattr(quadrant_counts, "DENSE_LEVEL", 2)
    monkeypatch.setattr(quadrant_counts, "MOST_PARTS", 100)
    passes = PassCounter(clumped_points())
    cells = Quadrants(domain=UNIT_SQUARE, levels=[16, 16], codes=[5, 2**31])

    QuadrantCounts(UNIT_SQUARE).count(cells, passes)

    assert [type(each) for each in passes.partitions] == [Refinement, Quadrants]


@pytest.mark.parametrize("method", [Staq(inference="least-squares"), PrivTree()], ids=["staq", "privtree"])
def test_a_release_is_the_same_with_and_without_the_sorted_curve(method, monkeypatch):
    """Exact counts are bit-identical, so that the same noise makes the same measurements."""
    points = clumped_points(20_000)

    def release(most):
        monkeypatch.setattr(counters, "MOST_POINTS", most)
        monkeypatch.setattr(quadrant_counts, "DENSE_LEVEL", 6)
        counter = PointCounter(UNIT_SQUARE, open_points(points, crs=UNIT_SQUARE.crs))
        return method.release(counter, Budget(Fraction(1), bits=simulation_rng(3)))

    in_passes, by_sorting = release(0), release(10**6)

    assert in_passes.partition.cells > 100
    assert np.array_equal(in_passes.measurements.leaves.values, by_sorting.measurements.leaves.values)
    assert np.array_equal(in_passes.partition.bounds(), by_sorting.partition.bounds())


def test_the_text_of_counts_says_nothing():
    """It may turn up in a traceback."""
    counts = QuadrantCounts(UNIT_SQUARE)

    assert repr(counts) == "QuadrantCounts(...)"
