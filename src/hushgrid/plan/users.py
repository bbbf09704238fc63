"""What it costs to protect all points of a user together."""

from hushgrid.plan.expected_error import ExpectedError
from hushgrid.plan.plan import Plan, plan


def cost_of_users(made: Plan) -> dict[int, ExpectedError]:
    """The yardstick of the same plan for other numbers of points kept of one user, from 1 up to the planned one.

    The number of points kept stays the same, because how it depends on the bound is not public.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> made = plan(Domain(west=0, south=0, east=1, north=1), points_about=10_000, epsilon=1, max_per_user=7)
    >>> list(cost_of_users(made))
    [1, 2, 5, 7]
    """
    bounds = [bound for bound in _round_numbers(made.max_per_user) if bound < made.max_per_user]
    return {bound: _again(made, bound).yardstick for bound in [*bounds, made.max_per_user]}


def _again(made: Plan, max_per_user: int) -> Plan:
    return plan(
        made.domain,
        points_about=made.points_about,
        epsilon=made.epsilon,
        max_per_user=max_per_user,
        size_share=made.size_share,
        filled=made.filled,
    )


def _round_numbers(limit: int) -> list[int]:
    """1, 2, 5, 10, 20, 50 and so on."""
    return [first * 10**zeros for zeros in range(len(str(limit))) for first in (1, 2, 5)]
