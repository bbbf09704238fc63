"""The choice of a method, and why."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.errors import ArgumentError
from hushgrid.methods import ALIASES, METHODS
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.hierarchy import Hierarchy
from hushgrid.methods.kd import KdHybrid, KdTree
from hushgrid.methods.privlet import Privlet
from hushgrid.methods.uniform_grid import UniformGrid
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


TABLE_ONE = {
    "K_st": KdTree(height=16, fan_out=4, median_share=0.3, stop_below=32),
    "K_hy": KdHybrid(height=16, switch=6, fan_out=4, median_share=0.3, stop_below=32),
    "U_64": UniformGrid(side=64),
    "W_360": Privlet(side=360),
    "H_4,2": Hierarchy(side=360, branching=4, levels=2),
    "A_10,5": AdaptiveGrid(first_side=10, c2=5),
    "A_25,2.5": AdaptiveGrid(first_side=25, c2=2.5),
}


@pytest.mark.parametrize("name", TABLE_ONE)
def test_the_papers_symbols_carry_its_parameters(name):
    """As they are typed, and as the paper sets them."""
    symbol, index = name.split("_")

    assert choose(name) == choose(f"{symbol}_{{{index}}}") == choose(symbol + index) == TABLE_ONE[name]


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("uniform-grid", "ug"),
        ("adaptive-grid", "ag"),
        ("quad-opt", "quadtree"),
        ("kd-standard", "kd"),
        ("wavelet", "privlet"),
        ("privelet", "privlet"),
    ],
)
def test_a_word_for_a_method_means_the_method(alias, name):
    """With its own parameters."""
    assert choose(alias) == METHODS[name]()


BASELINES = (
    *("ug", "ag", "dag", "quadtree", "kd", "kd-hybrid", "balanced", "dpcube", "dawa"),
    *("hierarchy", "hb", "privlet", "privtree", "uniform", "identity"),
)


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_has_its_papers_configuration(name):
    """By name, and as a constructor; STAQ is no baseline, and a method of one's own need not be."""
    assert choose(f"{name}-paper") == METHODS[name].paper()
    assert choose(f"{name}-paper").name == name


def test_no_name_means_two_methods():
    """An alias is never the name of a method."""
    assert not ALIASES.keys() & {*METHODS, "auto"}


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("quad-tree", "quadtree"),
        ("k_st", "K_st"),
        ("uniform_grid", "uniform-grid"),
        ("kd-papers", "kd-paper"),
        ("H_4", None),
        ("U_x", None),
        ("U_", None),
        ("nothing", None),
    ],
)
def test_what_is_no_method_is_refused(typed, near):
    """With the names there are, and the nearest of them, aliases included."""
    with pytest.raises(ArgumentError, match=r"auto, ug, ag.* such as uniform-grid, K_st, U_64 or kd-paper") as error:
        choose(typed)

    assert near is None or error.value.instead == {"method": near}


def test_what_is_neither_a_name_nor_a_method_is_refused():
    """By its type."""
    with pytest.raises(ArgumentError, match="got int"):
        choose(3)


def test_numbers_of_a_symbol_are_checked_as_parameters():
    """By the method, in its words."""
    with pytest.raises(ArgumentError, match="side must be a whole number of at least 1, got side=0"):
        choose("U_0")
    with pytest.raises(ArgumentError, match=r"side must be a whole number of at least 1, got side=6\.5"):
        choose("U_6.5")
    with pytest.raises(ArgumentError, match="side must be a multiple"):
        choose("H_7,2")
