"""What to expect of a release, from public figures."""

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

from hushgrid.counting.bounding import Estimate
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.methods.areas import Areas
from hushgrid.methods.method import check_whole, most_cells
from hushgrid.planning.aims import AimPlan, plan_aim
from hushgrid.planning.ladder import figures_at
from hushgrid.planning.levels import LevelsPlan, plan_areas
from hushgrid.planning.population import check_filled
from hushgrid.planning.rehearsal import AREA_SHARES, METHODS, Figures
from hushgrid.planning.users import ASSUMED, MOST_PER_USER, BoundsPlan, RecordsPerUser, plan_bounds, rate_of_record
from hushgrid.planning.words import assumption, plan_in_words, sentence, what_it_takes
from hushgrid.privacy.budget import SIZE_SHARE
from hushgrid.privacy.exact import Exactable, exact_epsilon, exact_share
from hushgrid.release.cost import Cost


@dataclass(frozen=True, kw_only=True)
class ExpectedError:
    """Errors of counts in rectangles of one size.

    Each rectangle lies somewhere around a point.

    Parameters
    ----------
    rectangle : "small", "medium" or "large"
        Of the domain's shape.
    area_share : float
        Share of the domain that it covers.
    points : float
        Median number of points in these rectangles.
    typical_error, reach : float
        Median and 95th percentile of the errors, in points.
    relative_typical_error, relative_reach : float
        The same for errors relative to the points in the rectangle.
    """

    rectangle: str
    area_share: float
    points: float
    typical_error: float
    reach: float
    relative_typical_error: float
    relative_reach: float


FILLED = 0.2
MOST_POINTS = 10**12
YARDSTICK = ("staq", "medium")
KILOMETRES_A_DEGREE = 111.2


@dataclass(frozen=True, kw_only=True)
class MethodPlan:
    """What one method would publish.

    Parameters
    ----------
    method : str
        Its name in `hushgrid.METHODS`.
    cells : int
        About how many leaf cells.
    cell_width, cell_height : float
        Of the leaf cell that a typical point lies in, in the domain's units.
    cell_kilometres : (float, float) or None
        The same in kilometres at the middle latitude, where the units are degrees.
    seconds, memory : float
        About how long publishing takes, with calibration, and how many bytes of memory.
    errors : tuple of ExpectedError
        One for each size of rectangle.
    """

    method: str
    cells: int
    cell_width: float
    cell_height: float
    cell_kilometres: tuple[float, float] | None
    seconds: float
    memory: float
    errors: tuple[ExpectedError, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan:
    """What to expect of a release, from public figures.

    Printing it shows tables and sentences. Its fields are the arguments of `plan`, and what it found for each method.
    """

    domain: Domain
    points_about: int
    epsilon: Fraction
    max_per_user: int
    size_share: Fraction
    filled: float
    methods: tuple[MethodPlan, ...]
    records: RecordsPerUser = ASSUMED
    accuracy: float | None = None
    estimate: Estimate = "kept-records"
    aim: AimPlan | None = None

    def __repr__(self) -> str:
        return plan_in_words(self)

    @property
    def yardstick(self) -> ExpectedError:
        """STAQ's error of a medium rectangle."""
        errors = {(row.method, error.rectangle): error for row in self.methods for error in row.errors}
        return errors[YARDSTICK]

    @cached_property
    def bounds(self) -> BoundsPlan:
        """What other bounds on the records of a user would do."""
        return plan_bounds(
            self.records,
            kept_about=self.points_about,
            most=self.max_per_user,
            epsilon=self.epsilon,
            size_share=self.size_share,
            filled=self.filled,
            estimate=self.estimate,
        )

    def to_dict(self) -> dict[str, Any]:
        """The plan as values for JSON."""
        return {
            "domain": asdict(self.domain),
            "points_about": self.points_about,
            "epsilon": float(self.epsilon),
            "exact_epsilon": str(self.epsilon),
            "max_per_user": self.max_per_user,
            "size_share": float(self.size_share),
            "filled": self.filled,
            "estimate": self.estimate,
            "methods": [asdict(row) for row in self.methods],
            "aim": None if self.aim is None else asdict(self.aim),
            "users": self.bounds.to_dict() if self.max_per_user > 1 else None,
            "sentence": sentence(self),
            "what_it_takes": what_it_takes(self),
            "assumption": assumption(self),
        }


@overload
def plan(
    domain: Domain,
    *,
    points_about: int,
    epsilon: Exactable | None = None,
    accuracy: float | None = None,
    max_per_user: int = 1,
    records_per_user: tuple[float, float] | None = None,
    size_share: Exactable = SIZE_SHARE,
    filled: float = FILLED,
    estimate: Estimate = "kept-records",
    aim: Any = None,
) -> Plan: ...


@overload
def plan(
    domain: Domain | None = None,
    *,
    areas: Areas,
    epsilon: Exactable,
    points_about: int | None = None,
    max_per_user: int = 1,
) -> LevelsPlan: ...


def plan(
    domain: Domain | None = None,
    *,
    points_about: int | None = None,
    epsilon: Exactable | None = None,
    accuracy: float | None = None,
    max_per_user: int = 1,
    records_per_user: tuple[float, float] | None = None,
    size_share: Exactable = SIZE_SHARE,
    filled: float = FILLED,
    estimate: Estimate = "kept-records",
    areas: Areas | None = None,
    aim: Any = None,
) -> Plan | LevelsPlan:
    """What to expect of a release, before any data is touched.

    The cells that STAQ, AG and UG would make, and the errors of counts in rectangles. Releases of a made-up population
    are rehearsed, with noise that is always the same. With `areas`, what each split of the budget does to each level.

    Parameters
    ----------
    domain : Domain
        The public rectangle to cover. Areas need none.
    points_about : int
        About how many points there are, as far as that is public; at user level, how many are kept. Areas need none.
    epsilon : float, str, Decimal, int or Fraction
        The privacy budget.
    accuracy : float, instead of epsilon
        Find the smallest epsilon for this error: counts over 1 % of the domain by STAQ stay below it 95 % of the time.
    max_per_user : int
        Points of one user that are kept at most. All of them are protected together, so that every method runs at
        ``epsilon / max_per_user``, less what it costs to measure the share that was kept. With 1, the figures are
        those of single records, too.
    records_per_user : (float, float), optional
        Two numbers, as far as they are public: half of the users have at most the first number of records, and nine in
        ten at most the second. By them `bounds` weighs what a bound loses against its noise; by default 5 and 40, as
        in check-ins of New York.
    size_share : float
        Share of the budget for the noisy size.
    filled : float
        Share of the domain that nearly all points lie in: 95 % of them, of 64 by 64 equal parts.
    estimate : "kept-records" or "all-records"
        As for `hushgrid.publish`: an estimate of all records leaves less of the budget for these counts. Errors are of
        kept records in either case.
    areas : Areas, optional
        Plan for counts on these instead.
    aim : str, path or polygons, optional
        A scale or places as for `hushgrid.publish`: tells what a release aimed at it gains there, and costs elsewhere.

    Examples
    --------
    >>> expected = plan(Domain(west=0, south=0, east=1, north=1), points_about=50_000, epsilon=1)
    >>> [row.method for row in expected.methods]
    ['staq', 'ag', 'ug']
    >>> expected.yardstick.relative_reach < 0.1
    True
    """
    if (epsilon is None) == (accuracy is None):
        msg = "give either epsilon or accuracy."
        raise ArgumentError(msg, instead={"epsilon": 1})
    if areas is not None:
        if epsilon is None:
            msg = "accuracy is about rectangles. With areas, give epsilon and read what each level gets."
            raise ArgumentError(msg, instead={"epsilon": 1})
        _check_on_areas(aim=aim, records_per_user=records_per_user, estimate=estimate)
        return plan_areas(areas, domain, epsilon=epsilon, points_about=points_about, max_per_user=max_per_user)
    if domain is None or points_about is None:
        msg = "a plan needs domain, the public rectangle, and points_about, a rough number of points; or areas."
        raise ArgumentError(msg)
    check_whole(points_about, name="points_about", low=1, high=MOST_POINTS)
    check_whole(max_per_user, name="max_per_user", low=1, high=MOST_PER_USER)
    check_filled(filled)
    records = ASSUMED if records_per_user is None else RecordsPerUser.of(records_per_user)
    share = exact_share(size_share, name="size_share")
    figures: dict[str, Any] = {
        "points_about": points_about,
        "max_per_user": max_per_user,
        "size_share": share,
        "filled": filled,
        "estimate": estimate,
    }
    if accuracy is not None:
        epsilon = epsilon_for(domain, accuracy=accuracy, **figures)
    assert epsilon is not None
    granted = exact_epsilon(epsilon)
    rate = rate_of_record(granted, max_per_user, size_share=share, estimate=estimate)
    return Plan(
        domain=domain,
        epsilon=granted,
        accuracy=accuracy,
        records=records,
        methods=_method_plans(domain, points_about, rate, filled, max_per_user > 1),
        aim=None if aim is None else plan_aim(aim, domain, points_about=points_about, rate=rate, filled=filled),
        **figures,
    )


def _check_on_areas(*, estimate: Estimate, **about_rectangles: Any) -> None:
    """Refuse what a plan for areas says nothing of."""
    about_rectangles["estimate"] = None if estimate == "kept-records" else estimate
    for name in (name for name, given in about_rectangles.items() if given is not None):
        msg = f"{name} is about rectangles, and a plan for areas says nothing of it. Leave out {name}, or areas."
        raise ArgumentError(msg)


def _method_plans(
    domain: Domain, points_about: int, rate: Fraction, filled: float, users: bool
) -> tuple[MethodPlan, ...]:
    """What each method would publish, at the rate of one record."""
    known: dict[str, Any] = {"epsilon": float(rate), "size": points_about, "users": users}
    return tuple(
        _method_plan(figures_at(name, points_about, rate, filled), domain, points_about, Cost(method=method, **known))
        for name, method in METHODS.items()
    )


def _method_plan(figures: Figures, domain: Domain, points_about: int, cost: Cost) -> MethodPlan:
    width, height = figures.cell_side * domain.width, figures.cell_side * domain.height
    squeeze = math.cos(math.radians((domain.south + domain.north) / 2))
    kilometres = (width * KILOMETRES_A_DEGREE * squeeze, height * KILOMETRES_A_DEGREE)
    cost = replace(cost, cells=min(round(figures.cells), most_cells(cost.method)))
    return MethodPlan(
        method=cost.method.name,
        cells=cost.about_cells,
        cell_width=width,
        cell_height=height,
        cell_kilometres=kilometres if domain.is_geographic else None,
        seconds=cost.seconds,
        memory=cost.memory,
        errors=tuple(_expected_error(figures, index, points_about) for index in range(len(AREA_SHARES))),
    )


def _expected_error(figures: Figures, index: int, size: int) -> ExpectedError:
    rectangle, area_share = list(AREA_SHARES.items())[index]
    return ExpectedError(
        rectangle=rectangle,
        area_share=area_share,
        points=size * float(figures.points[index]),
        typical_error=size * float(figures.typical_error[index]),
        reach=size * float(figures.reach[index]),
        relative_typical_error=float(figures.relative_typical_error[index]),
        relative_reach=float(figures.relative_reach[index]),
    )


LOWEST_EPSILON_DECADE, DECADES = -6, 7  # epsilons that are tried: 0.000001 to 9.9


def epsilon_for(
    domain: Domain,
    *,
    points_about: int,
    accuracy: float,
    max_per_user: int = 1,
    size_share: Exactable = SIZE_SHARE,
    filled: float = FILLED,
    estimate: Estimate = "kept-records",
) -> float:
    """The smallest epsilon that is accurate enough.

    It has two significant digits, and is for a medium rectangle by STAQ.

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
            estimate=estimate,
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
    return (10 + digits) * Fraction(10) ** (LOWEST_EPSILON_DECADE - 1 + decade)
