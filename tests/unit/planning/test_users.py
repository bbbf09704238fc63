"""What it costs to protect all points of a user together."""

import pytest

from hushgrid.geometry.domain import Domain
from hushgrid.planning.plan import plan

CITY = Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)


@pytest.mark.parametrize(
    ("max_per_user", "bounds"), [(1, [1]), (2, [1, 2]), (30, [1, 2, 5, 10, 20, 30]), (100, [1, 2, 5, 10, 20, 50, 100])]
)
def test_round_bounds_up_to_the_planned_one_are_compared(max_per_user: int, bounds: list[int]) -> None:
    """Each has the yardstick of its own plan, and costs more than the one before."""
    made = plan(CITY, points_about=5000, epsilon="0.7", max_per_user=max_per_user, size_share="0.02", filled=0.3)
    costs = made.cost_of_users()

    assert list(costs) == bounds
    assert costs[max_per_user] == made.yardstick
    assert costs[1] == plan(CITY, points_about=5000, epsilon="0.7", size_share="0.02", filled=0.3).yardstick
    reaches = [error.reach for error in costs.values()]
    assert reaches == sorted(reaches)
