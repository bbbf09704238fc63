"""Recursive partitioning: the dimension and the line that balance best."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.methods.balanced import Balanced
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

HUGE = Fraction(10**7)
DATA = tuple(map(tuple, np.random.default_rng(1).random((512, 2))))


def release(method, data=DATA, epsilon=HUGE):
    """A simulated release."""
    return method.release(PlainCounter(UNIT_SQUARE, data), Budget(epsilon, bits=simulation_rng(0)))


def test_without_noise_leaves_hold_about_as_many():
    """512 points on 8 leaves; a line between 32 strips is off by half a strip at most."""
    synopsis = release(Balanced(height=3, stop_below=0))

    assert synopsis.partition.cells == 8
    assert np.all(np.abs(synopsis.counts - 64) < 16)


@pytest.mark.parametrize(("axis", "split"), [(0, (2, 1)), (1, (1, 2))], ids=["east-west", "south-north"])
def test_the_dimension_that_balances_is_taken(axis, split):
    """Points in two clumps side by side, each on one line of the other dimension."""
    clumps = np.full((400, 2), 0.31)
    clumps[:200, axis], clumps[200:, axis] = 0.1, 0.9
    synopsis = release(Balanced(height=1), tuple(map(tuple, clumps)))

    assert tuple(synopsis.partition.splits[0]) == split
    assert synopsis.counts.tolist() == [200, 200]


def test_shapes_do_not_degenerate():
    """Both dimensions can be balanced, but a long node has more lines across it."""
    tree = release(Balanced(height=8, stop_below=0), DATA[:100], epsilon=Fraction(10)).partition
    boxes = tree.boxes[tree.leaves]
    shapes = np.log2((boxes[:, 2] - boxes[:, 0]) / (boxes[:, 3] - boxes[:, 1]))

    assert np.mean(np.abs(shapes)) < 3  # eight cuts in one direction would make it 8


def test_cuts_and_counts_share_what_the_size_leaves():
    """In tenths, three and seven."""
    spends = release(Balanced(split_share="0.3"), epsilon=Fraction(1)).claim.spends
    total = {name: sum(spend.epsilon for spend in spends if spend.purpose == name) for name in ("selection", "counts")}

    assert total == {"selection": Fraction(3, 10) * Fraction(99, 100), "counts": Fraction(7, 10) * Fraction(99, 100)}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"height": 0}, "height"),
        ({"height": 21}, "height"),
        ({"split_share": 1}, "split_share"),
        ({"stop_below": -2}, "stop_below"),
    ],
)
def test_parameters_are_checked(parameters, words):
    """Before any data is seen."""
    with pytest.raises(ArgumentError, match=words):
        Balanced(**parameters)
