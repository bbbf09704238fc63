"""The choice of a method, and why."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.errors import ArgumentError
from hushgrid.methods import METHODS
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.release.auto import Auto, choose
from tests.plain import UNIT_SQUARE


def released(public_size, epsilon):
    """What `auto` publishes of a few points that are said to be as many."""
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(np.full((10, 2), 0.5)))
    budget = Budget(epsilon, bits=simulation_rng(1), public_size=public_size)
    return Auto().release(counter, budget)


@pytest.mark.parametrize(
    ("size", "epsilon", "name"),
    [(1_000_000, Fraction(1), "staq"), (1_000_000, Fraction(1, 100_000), "ug"), (5, Fraction(1), "ug")],
)
def test_auto_goes_by_points_times_epsilon(size, epsilon, name):
    """The release says what was taken, that it was asked to choose, and why."""
    method = released(size, epsilon).method

    assert (method.name, method.asked) == (name, "auto")
    assert method.notes[0].startswith("auto took")


def test_a_noisy_size_decides_nothing():
    """Of few points it says little, whatever it is."""
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(np.full((1, 2), 0.5)))
    releases = [Auto().release(counter, Budget(Fraction(1), bits=simulation_rng(seed))) for seed in range(10)]

    assert {release.method.name for release in releases} == {"staq"}
    assert min(release.claim.size.value for release in releases) < 0


def test_auto_pays_for_the_size_once():
    """Auto pays once for the noisy size, and spends all of epsilon."""
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(np.full((1000, 2), 0.5)))
    claim = Auto().release(counter, Budget(Fraction(1), bits=simulation_rng(1))).claim

    assert [spend.purpose for spend in claim.spends].count("size") == 1
    assert claim.epsilon == 1


@pytest.mark.parametrize("name", METHODS)
def test_a_name_means_the_method_with_its_own_parameters(name):
    """A name chooses the method with its own defaults."""
    assert choose(name) == METHODS[name]()


def test_what_is_no_method_is_refused():
    """With the names there are."""
    with pytest.raises(ArgumentError, match="auto, ug, ag"):
        choose("nothing")
    with pytest.raises(ArgumentError, match="got int"):
        choose(3)
