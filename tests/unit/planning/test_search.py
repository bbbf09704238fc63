"""The budget that a wanted accuracy takes."""

import math

import pytest

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.planning.plan import epsilon_for, plan

CITY = Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)


@pytest.mark.parametrize(("size", "accuracy"), [(20_000, 0.2), (20_000, 0.07), (3000, 0.5)])
@pytest.mark.parametrize("max_per_user", [1, 3])
def test_the_epsilon_for_an_accuracy_gives_it_and_the_next_smaller_does_not(
    size: int, accuracy: float, max_per_user: int
) -> None:
    """Two significant digits: the last of them lowered by one, the accuracy is missed."""
    figures = {"points_about": size, "max_per_user": max_per_user}
    epsilon = epsilon_for(CITY, accuracy=accuracy, **figures)

    mantissa, exponent = f"{epsilon:.1e}".split("e")
    assert float(f"{mantissa}e{exponent}") == epsilon
    last_digit = 10.0 ** (int(exponent) - 1)
    smaller = epsilon - (last_digit / 10 if mantissa == "1.0" else last_digit)
    assert plan(CITY, epsilon=epsilon, **figures).yardstick.relative_reach <= accuracy
    assert plan(CITY, epsilon=smaller, **figures).yardstick.relative_reach > accuracy


def test_more_points_of_a_user_take_more_epsilon_in_proportion() -> None:
    """Four points of a user take four times the budget, to the digits given."""
    alone, together = (epsilon_for(CITY, points_about=20_000, accuracy=0.2, max_per_user=bound) for bound in (1, 4))

    assert together == pytest.approx(4 * alone, rel=0.1)


def test_an_accuracy_beyond_reach_is_an_error() -> None:
    """Five points are never counted to 1 %."""
    with pytest.raises(ArgumentError, match=r"no epsilon up to 9\.9"):
        epsilon_for(CITY, points_about=5, accuracy=0.01)


@pytest.mark.parametrize("accuracy", [0, 1, -0.1, 5, math.nan])
def test_an_accuracy_is_a_share(accuracy: float) -> None:
    """An accuracy of none or all is refused, and one in per cent."""
    with pytest.raises(ArgumentError, match="accuracy"):
        epsilon_for(CITY, points_about=1000, accuracy=accuracy)
