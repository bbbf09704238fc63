"""PrivTree: its decisions, its bias, and the sum that its proof bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.methods.privtree import LOG_FAN_OUT, PrivTree, bias, biased, decision_rate
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter


def log_ratio(biased_count, rate):
    """How much more likely a cell is divided with one record more, as a logarithm."""

    def divided(count):
        """P(count + Z > 0) for discrete Laplace Z, in closed form."""
        q = math.exp(-rate)
        return 1 - q ** (count) / (1 + q) if count > 0 else q ** (1 - count) / (1 + q)

    return math.log(divided(biased_count + 1) / divided(biased_count))


@pytest.mark.parametrize("epsilon", ["1/100", "1/10", "1", "7/3", "20"])
def test_a_path_of_any_length_costs_what_is_charged(epsilon):
    """Going up from where the bias is reached, biased counts rise by at least delta a level."""
    epsilon = Fraction(epsilon)
    rate = decision_rate(epsilon)
    delta = bias(rate)
    for start in range(-delta, 2):  # below, the floor of the bias hides the record
        cost = sum(log_ratio(start + level * delta, float(rate)) for level in range(60))
        assert cost <= float(epsilon) + 1e-9


@given(st.fractions(Fraction(1, 10**6), 100))
def test_the_bias_is_rounded_up(rate):
    """Rounded down, the geometric series of the proof would not be bounded."""
    assert bias(rate) * rate >= LOG_FAN_OUT > math.log(4)
    assert (bias(rate) - 1) * rate < LOG_FAN_OUT


def test_biased_counts_have_a_floor():
    """Minus one step, however deep the cell."""
    assert biased(np.array([0, 0]), 1, Fraction(1)).tolist() == biased(np.array([0, 0]), 9, Fraction(1)).tolist()


def test_at_a_huge_epsilon_the_rule_has_no_noise():
    """Cells with more points than their level are divided, down to the depth that is public."""
    points = ((0.1, 0.1),) * 5 + ((0.9, 0.9),)
    budget = Budget(Fraction(10**7), bits=simulation_rng(0))
    release = PrivTree(depth=12).release(PlainCounter(UNIT_SQUARE, points), budget)
    widths = 1 / (release.partition.bounds()[:, 2] - release.partition.bounds()[:, 0])

    assert math.log2(widths.max()) == 5  # five points: divided at levels 0 to 4
    assert release.total == 6


@pytest.mark.parametrize("depth", [1, 3])
def test_the_depth_is_a_bound(depth):
    """Stacked duplicates cannot be told apart, and need not be."""
    points = ((0.3, 0.3),) * 1000
    budget = Budget(Fraction(100), bits=simulation_rng(0))
    release = PrivTree(depth=depth).release(PlainCounter(UNIT_SQUARE, points), budget)

    assert release.partition.cells == 1 + 3 * depth


@pytest.mark.parametrize("parameters", [{"depth": 0}, {"depth": 17}, {"structure_share": 1}, {"structure_share": 0}])
def test_parameters_are_checked(parameters):
    """Before any data is seen."""
    with pytest.raises(ArgumentError):
        PrivTree(**parameters)
