"""The other way round: the budget that a wanted accuracy takes."""

from fractions import Fraction

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.plan.plan import FILLED, plan
from hushgrid.privacy.budget import SIZE_SHARE
from hushgrid.privacy.exact import Exactable

LOWEST_DECADE, DECADES = -6, 7  # epsilons that are tried: 0.000001 to 9.9


def epsilon_for(
    domain: Domain,
    *,
    points_about: int,
    accuracy: float,
    max_per_user: int = 1,
    size_share: Exactable = SIZE_SHARE,
    filled: float = FILLED,
) -> float:
    """The smallest epsilon, to two significant digits, at which a medium rectangle is as accurate as wanted by STAQ.

    Parameters
    ----------
    accuracy : float
        Share of its points that the count may be off by, 95 % of the time.

    Examples
    --------
    >>> epsilon = epsilon_for(Domain(west=0, south=0, east=1, north=1), points_about=50_000, accuracy=0.1)
    >>> 0.1 < epsilon < 1
    True
    """
    if not 0 < accuracy < 1:
        msg = f"accuracy must lie strictly between 0 and 1 (100 %), such as 0.05; got accuracy={accuracy!r}."
        raise ArgumentError(msg)

    def reaches(epsilon: Fraction) -> bool:
        made = plan(
            domain,
            points_about=points_about,
            epsilon=epsilon,
            max_per_user=max_per_user,
            size_share=size_share,
            filled=filled,
        )
        return made.yardstick.relative_reach <= accuracy

    too_low, enough = -1, 90 * DECADES - 1
    if not reaches(two_digits(enough)):
        msg = (
            f"no epsilon up to {float(two_digits(enough)):g} gives accuracy={accuracy!r} with about {points_about:,} "
            f"points and max_per_user={max_per_user}; accept a larger error."
        )
        raise ArgumentError(msg)
    while enough - too_low > 1:
        middle = (too_low + enough) // 2
        too_low, enough = (too_low, middle) if reaches(two_digits(middle)) else (middle, enough)
    return float(two_digits(enough))


def two_digits(index: int) -> Fraction:
    """The decimals of two significant digits, in order.

    Examples
    --------
    >>> [float(two_digits(index)) for index in (0, 1, 90)]
    [1e-06, 1.1e-06, 1e-05]
    """
    decade, digits = divmod(index, 90)
    return (10 + digits) * Fraction(10) ** (LOWEST_DECADE - 1 + decade)
