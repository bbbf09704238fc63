"""KD-standard: cuts at medians, in turn along both axes."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.inference.least_squares import nodes_of_runs
from hushgrid.methods.kd import KdTree
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

HUGE = Fraction(10**7)
DATA = tuple(map(tuple, np.random.default_rng(1).random((512, 2)) ** 2))


def release(method, data=DATA, epsilon=HUGE):
    """A simulated release."""
    return method.release(PlainCounter(UNIT_SQUARE, data), Budget(epsilon, bits=simulation_rng(0)))


def test_without_noise_all_leaves_hold_about_as_many():
    """512 points on 16 leaves; lines between 1,024 strips miss a median by a few points at most."""
    synopsis = release(KdTree(height=4, stop_below=0))

    assert synopsis.partition.cells == 16
    assert np.all(np.abs(synopsis.counts - 32) <= 4)


def test_levels_are_cut_in_turn():
    """First into west and east, then into south and north."""
    tree = release(KdTree(height=4, stop_below=0)).partition
    level = np.searchsorted(tree.levels, np.arange(tree.nodes), side="right") - 1

    assert np.all(tree.splits[level == 0] == [2, 1])
    assert np.all(tree.splits[level == 1] == [1, 2])
    assert np.all(tree.splits[level == 2] == [2, 1])


def test_medians_and_counts_share_the_budget():
    """Three tenths for medians, the same for every level, the rest for counts."""
    spends = release(KdTree(height=5, median_share=0.3), epsilon=Fraction(2)).claim.spends

    assert [spend.epsilon for spend in spends if spend.purpose == "selection"] == [Fraction(6, 10) / 5] * 5
    assert [spend.epsilon for spend in spends if spend.purpose == "counts"] == [Fraction(14, 10)]


@pytest.mark.parametrize(("fan_out", "counted"), [(2, {0, 1, 2, 3, 4}), (4, {0, 2, 4})])
def test_with_a_fan_out_of_four_every_other_level_is_counted(fan_out, counted):
    """Halves that are cut again at once are not; the leaves are, whatever the fan-out."""
    synopsis = release(KdTree(height=4, fan_out=fan_out, stop_below=0))
    tree, regions = synopsis.partition, synopsis.measurements.regions
    nodes = np.append(nodes_of_runs(tree, regions.first, regions.stop), tree.leaves)

    assert set(np.searchsorted(tree.levels, nodes, side="right") - 1) == counted


def test_the_height_follows_from_the_noisy_size():
    """It is asked for first, and paid for; two cuts more than the logarithm of a thousand points."""
    synopsis = release(KdTree(stop_below=0), DATA * 2, epsilon=Fraction(1))

    assert synopsis.claim.spends[0].purpose == "size"
    assert [spend.purpose for spend in synopsis.claim.spends].count("selection") == 12


def test_the_papers_tree_needs_no_size():
    """Its height is public: sixteen cuts, eight levels of fan-out four."""
    claim = release(KdTree.paper(), epsilon=Fraction(1)).claim

    assert claim.size is None
    assert [spend.epsilon for spend in claim.spends if spend.purpose == "selection"] == [Fraction(3, 10) / 16] * 16


@pytest.mark.parametrize("data", [(), ((2.0, 2.0),), DATA], ids=["none", "outside", "many"])
def test_the_claim_does_not_depend_on_the_data(data):
    """A tree that stops early has claimed all of epsilon."""
    assert release(KdTree(), data, Fraction(1, 10)).claim.epsilon == Fraction(1, 10)


def test_stacked_points_stay_together():
    """No line separates them, however often it is tried."""
    synopsis = release(KdTree(height=20, stop_below=1), ((0.7, 0.2),) * 100)

    assert sorted(synopsis.counts)[-2:] == [0, 100]
    assert synopsis.partition.cells > 10


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"height": 0}, "height must be a whole number from 1 to 20"),
        ({"height": 21}, "height=21"),
        ({"height": 2.0}, "height=2.0"),
        ({"median_share": 1}, "median_share must lie strictly between 0 and 1"),
        ({"stop_below": -1}, "stop_below"),
        ({"fan_out": 3}, "fan_out must be 2 or 4"),
        ({"fan_out": True}, "fan_out=True"),
    ],
)
def test_parameters_are_checked(parameters, words):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match=words):
        KdTree(**parameters)
