"""Numbers of the budget are exact."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.privacy.exact import exact, exact_epsilon, exact_share


@pytest.mark.parametrize(
    "tenth",
    [0.1, "0.1", "1/10", Decimal("0.10"), Fraction(1, 10), np.float64(0.1), np.float32(0.1), "1e-1", "+0.1"],
    ids=repr,
)
def test_a_tenth_is_a_tenth_however_written(tenth):
    """Ten of them make one."""
    assert 10 * exact_epsilon(tenth) == 1


@given(st.floats(1e-100, 1e100))
def test_a_float_means_its_shortest_decimal(value):
    """Which reads back as the same float."""
    assert float(exact(value, name="x")) == value
    assert exact(value, name="x") == Fraction(repr(value))


@pytest.mark.parametrize("value", [0, -1, "0", "-0.5", Fraction(-1, 3)], ids=repr)
def test_a_budget_is_above_zero(value):
    """Zero and less are refused."""
    with pytest.raises(ArgumentError, match="epsilon must be a finite number > 0, got epsilon="):
        exact_epsilon(value)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "nan", "inf", "", "one", "1,0", "1/0", "0x10", None, True, [1], "1e999999999"],
    ids=repr,
)
def test_what_is_no_finite_number_is_refused(value):
    """What is not a finite number is refused quickly, whatever its exponent."""
    with pytest.raises(ArgumentError, match="epsilon must be a finite number, got epsilon="):
        exact_epsilon(value)


def test_a_decimal_comma_gets_a_hint():
    """It is the likeliest slip."""
    with pytest.raises(ArgumentError, match="decimal point, not a comma"):
        exact_epsilon("1,0")


@pytest.mark.parametrize("value", [0, 1, 1.5, -0.1], ids=repr)
def test_a_share_lies_strictly_inside(value):
    """All or nothing is no share."""
    with pytest.raises(ArgumentError, match="alpha must lie strictly between 0 and 1"):
        exact_share(value, name="alpha")
