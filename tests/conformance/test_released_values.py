"""Whatever a method does, it follows from released values: if these are fixed, nothing else of the data shows."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.geometry.grid import Grid
from hushgrid.inference.measurements import Measurements
from hushgrid.methods import METHODS
from hushgrid.synopsis.claim import MethodRecord
from hushgrid.synopsis.synopsis import Synopsis
from tests.plain import UNIT_SQUARE, PlainCounter
from tests.scripted import ScriptedBudget

SPREAD = tuple(map(tuple, np.random.default_rng(0).random((40, 2))))
DATA = {"none": (), "spread": SPREAD, "stacked": ((0.6, 0.6),) * 60}


def release(method, points, seed=0):
    """What a method makes of a script, with these points to look at."""
    return method.release(PlainCounter(UNIT_SQUARE, points), ScriptedBudget(seed))


def differs(method):
    """Whether any of the data sets shows through."""
    first, *others = (release(method, points) for points in DATA.values())
    return any(
        not np.array_equal(first.partition.bounds(), other.partition.bounds())
        or not np.array_equal(first.counts, other.counts)
        or first.claim != other.claim
        or first.method != other.method
        for other in others
    )


@pytest.mark.parametrize("name", METHODS)
def test_nothing_of_the_data_shows_but_what_was_released(name):
    """With equal draws, no points, spread ones and stacked ones give equal structure, counts, claim and notes."""
    assert not differs(METHODS[name]())


class Cheat:
    """A grid sized by the exact number of points."""

    name = "cheat"

    def release(self, counter, budget):
        """One row more for every twenty points."""
        grid = Grid(domain=counter.domain, rows=1 + counter.total() // 20, columns=1)
        measured = budget.measure(counter.count(grid), Fraction(1))
        record = MethodRecord(name="cheat")
        return Synopsis.infer(
            grid, Measurements.of_leaves(measured), inference="direct", claim=budget.claim(), method=record
        )


def test_a_structure_of_exact_counts_is_noticed():
    """Negative control: a method that shows an exact count fails the check."""
    assert differs(Cheat())
