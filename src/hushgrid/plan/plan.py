"""What to expect of a release, from public figures alone."""

import math
from dataclasses import dataclass
from fractions import Fraction

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.methods.method import check_whole
from hushgrid.plan.expected_error import ExpectedError
from hushgrid.plan.ladder import figures_at
from hushgrid.plan.population import check_filled
from hushgrid.plan.rehearsal import METHODS, Figures
from hushgrid.plan.stage import AREA_SHARES
from hushgrid.privacy.budget import SIZE_SHARE
from hushgrid.privacy.exact import Exactable, exact_epsilon, exact_share

FILLED = 0.2
MOST_POINTS = 10**12
MOST_PER_USER = 10**6
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
    errors : tuple of ExpectedError
        One for each size of rectangle.
    """

    method: str
    cells: int
    cell_width: float
    cell_height: float
    cell_kilometres: tuple[float, float] | None
    errors: tuple[ExpectedError, ...]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to expect of a release, from public figures alone; its fields are the arguments of `plan`."""

    domain: Domain
    points_about: int
    epsilon: Fraction
    max_per_user: int
    size_share: Fraction
    filled: float
    methods: tuple[MethodPlan, ...]

    @property
    def yardstick(self) -> ExpectedError:
        """The error that a plan is judged by: STAQ's, of a medium rectangle."""
        errors = {(row.method, error.rectangle): error for row in self.methods for error in row.errors}
        return errors[YARDSTICK]


def plan(
    domain: Domain,
    *,
    points_about: int,
    epsilon: Exactable,
    max_per_user: int = 1,
    size_share: Exactable = SIZE_SHARE,
    filled: float = FILLED,
) -> Plan:
    """What to expect of a release of about so many points: cells, and errors of rectangles, by STAQ, AG and UG.

    Releases of a made-up population are rehearsed, with noise that is always the same.

    Parameters
    ----------
    domain : Domain
        The public rectangle to cover.
    points_about : int
        About how many points there are, as far as that is public; at user level, how many are kept.
    epsilon : float, str, Decimal, int or Fraction
        The privacy budget.
    max_per_user : int
        Points of one user that are kept at most. All of them are protected together, so that every method runs at
        ``epsilon / max_per_user``; 1 is also the cost where single records are protected.
    size_share : float
        Share of the budget for the noisy size.
    filled : float
        Share of the domain that nearly all points lie in: 95 % of them, of 64 by 64 equal parts.

    Examples
    --------
    >>> expected = plan(Domain(west=0, south=0, east=1, north=1), points_about=50_000, epsilon=1)
    >>> [row.method for row in expected.methods]
    ['staq', 'ag', 'ug']
    >>> expected.yardstick.relative_reach < 0.1
    True
    """
    check_whole(points_about, name="points_about", low=1, high=MOST_POINTS)
    check_whole(max_per_user, name="max_per_user", low=1, high=MOST_PER_USER)
    check_filled(filled)
    granted, share = exact_epsilon(epsilon), exact_share(size_share, name="size_share")
    for_counts = (1 - share) * granted / max_per_user
    return Plan(
        domain=domain,
        points_about=points_about,
        epsilon=granted,
        max_per_user=max_per_user,
        size_share=share,
        filled=filled,
        methods=tuple(
            _method_plan(name, figures_at(name, points_about, for_counts, filled), domain, points_about)
            for name in METHODS
        ),
    )


def _method_plan(method: str, figures: Figures, domain: Domain, size: int) -> MethodPlan:
    width, height = figures.cell_side * domain.width, figures.cell_side * domain.height
    squeeze = math.cos(math.radians((domain.south + domain.north) / 2))
    kilometres = (width * KILOMETRES_A_DEGREE * squeeze, height * KILOMETRES_A_DEGREE)
    return MethodPlan(
        method=method,
        cells=min(round(figures.cells), GUIDELINE_CELL_LIMIT),
        cell_width=width,
        cell_height=height,
        cell_kilometres=kilometres if domain.is_geographic else None,
        errors=tuple(_expected_error(figures, index, size) for index in range(len(AREA_SHARES))),
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
