"""The planner: public figures in, expected error out. It touches no data.

It builds the partition that a typical release would have, with the counts one would expect and the noise's exact
rates but no noise, and asks it what every release is asked: how far off the count of a rectangle may be.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.guidelines import LARGEST_FIRST_SIDE, clamp_side, clamp_sides, guideline_side, leaf_sides
from hushgrid.geometry.nested import NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.inference.measurements import Measured, Measurements, Regions
from hushgrid.methods.adaptive_grid import AdaptiveGrid, guideline_first_side
from hushgrid.methods.method import check_whole
from hushgrid.privacy.budget import SIZE_SHARE
from hushgrid.privacy.exact import Exactable, exact_epsilon, exact_share
from hushgrid.synopsis.claim import Claim, MethodRecord
from hushgrid.synopsis.synopsis import Synopsis

AREA_SHARES = {"small": 0.001, "medium": 0.01, "large": 0.1}  # of the domain
FILLED = 0.2  # share of the domain that holds the points
CONFIDENCE = 0.95
KILOMETRES_A_DEGREE = 111.2
MOST_POINTS = 10**12

PLACES = 256  # rectangles an error is averaged over
PLASTIC = 1.32471795724474602596  # x**3 = x + 1; its powers fill the plane evenly (Roberts 2018, sequence R2)

LOWEST_DECADE, DECADES = -6, 7  # epsilons that are tried: 0.000001 to 9.9


@dataclass(frozen=True, kw_only=True)
class ExpectedError:
    """How far off the count of a rectangle may be expected to be.

    Parameters
    ----------
    rectangle : "small", "medium" or "large"
        Of the domain's shape, where the points are.
    area_share : float
        Share of the domain that it covers.
    points : float
        Points that it holds.
    noise_std, spread_std : float
        Standard deviation by noise, and by points not lying evenly inside the cells that it cuts.
    """

    rectangle: str
    area_share: float
    points: float
    noise_std: float
    spread_std: float

    @property
    def std_error(self) -> float:
        """Standard deviation by both."""
        return math.hypot(self.noise_std, self.spread_std)

    @property
    def reach(self) -> float:
        """What the error stays below 95 % of the time."""
        return NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * self.std_error

    @property
    def relative_std_error(self) -> float:
        """`std_error` as a share of the points."""
        return self.std_error / self.points

    @property
    def relative_reach(self) -> float:
        """`reach` as a share of the points."""
        return self.reach / self.points


@dataclass(frozen=True, kw_only=True)
class MethodPlan:
    """What one method would publish.

    Parameters
    ----------
    method : str
        Its name in `hushgrid.METHODS`.
    cells : int
        Number of leaf cells.
    cell_width, cell_height : float
        Of the leaf cell in the middle of the points, in the domain's units.
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
    size_share: Fraction
    filled: float
    methods: tuple[MethodPlan, ...]

    @property
    def yardstick(self) -> ExpectedError:
        """The error that a plan is judged by: AG's, of a medium rectangle."""
        return next(
            error for row in self.methods if row.method == "ag" for error in row.errors if error.rectangle == "medium"
        )


def plan(
    domain: Domain,
    *,
    points_about: int,
    epsilon: Exactable,
    size_share: Exactable = SIZE_SHARE,
    filled: float = FILLED,
) -> Plan:
    """What to expect of a release of about so many points: cells, and errors of rectangles, by UG and by AG.

    Parameters
    ----------
    domain : Domain
        The public rectangle to cover.
    points_about : int
        About how many points there are, as far as that is public.
    epsilon : float, str, Decimal, int or Fraction
        The privacy budget.
    size_share : float
        Share of the budget for the noisy size.
    filled : float
        Share of the domain that holds the points; the rest is taken to be empty.

    Examples
    --------
    >>> expected = plan(Domain(west=0, south=0, east=1, north=1), points_about=1_000_000, epsilon=1)
    >>> [(row.method, row.cells) for row in expected.methods]
    [('ug', 99225), ('ag', 106353)]
    """
    check_whole(points_about, name="points_about", low=1, high=MOST_POINTS)
    _check_filled(filled)
    granted, share = exact_epsilon(epsilon), exact_share(size_share, name="size_share")
    return Plan(
        domain=domain,
        points_about=points_about,
        epsilon=granted,
        size_share=share,
        filled=filled,
        methods=tuple(
            _method_plan(typical(domain, points_about, (1 - share) * granted, filled), points_about, filled)
            for typical in TYPICAL.values()
        ),
    )


def epsilon_for(
    domain: Domain,
    *,
    points_about: int,
    accuracy: float,
    size_share: Exactable = SIZE_SHARE,
    filled: float = FILLED,
) -> float:
    """The smallest epsilon, to two significant digits, at which a medium rectangle is as accurate as wanted by AG.

    Parameters
    ----------
    accuracy : float
        Share of its points that the count may be off by, 95 % of the time.

    Examples
    --------
    >>> epsilon_for(Domain(west=0, south=0, east=1, north=1), points_about=1_000_000, accuracy=0.02)
    0.063
    """
    if not 0 < accuracy < 1:
        msg = f"accuracy must lie strictly between 0 and 1 (100 %), such as 0.05; got accuracy={accuracy!r}."
        raise ArgumentError(msg)

    def reaches(epsilon: Fraction) -> bool:
        made = plan(domain, points_about=points_about, epsilon=epsilon, size_share=size_share, filled=filled)
        return made.yardstick.relative_reach <= accuracy

    too_low, enough = -1, 90 * DECADES - 1
    if not reaches(_two_digits(enough)):
        msg = (
            f"no epsilon up to {float(_two_digits(enough)):g} gives accuracy={accuracy!r} with about {points_about:,} "
            "points; accept a larger error."
        )
        raise ArgumentError(msg)
    while enough - too_low > 1:
        middle = (too_low + enough) // 2
        too_low, enough = (too_low, middle) if reaches(_two_digits(middle)) else (middle, enough)
    return float(_two_digits(enough))


def typical_uniform_grid(domain: Domain, size: int, epsilon: Fraction, filled: float = FILLED) -> Synopsis:
    """A release of UG as one would expect it, without noise."""
    side, _ = clamp_side(guideline_side(size, epsilon))
    grid = Grid(domain=domain, rows=side, columns=side)
    cells = Measured.at_one_rate(_whole(_expected(grid, size, filled)), epsilon)
    return _synopsis(grid, Measurements.of_leaves(cells), name="ug", inference="direct", epsilon=epsilon)


def typical_adaptive_grid(domain: Domain, size: int, epsilon: Fraction, filled: float = FILLED) -> Synopsis:
    """A release of AG as one would expect it, without noise."""
    alpha = exact_share(AdaptiveGrid.alpha, name="alpha")
    side = min(guideline_first_side(size, epsilon), LARGEST_FIRST_SIDE)
    grid = Grid(domain=domain, rows=side, columns=side)
    counts = _whole(_expected(grid, size, filled))
    nested = NestedGrid(grid=grid, sides=clamp_sides(leaf_sides(counts, (1 - alpha) * epsilon)))
    leaves = np.repeat(counts / nested.sides**2, nested.sides**2)
    measurements = Measurements(
        leaves=Measured.at_one_rate(_whole(leaves), (1 - alpha) * epsilon),
        regions=Regions.between(nested.offsets),
        region_values=Measured.at_one_rate(counts, alpha * epsilon),
    )
    return _synopsis(nested, measurements, name="ag", inference="two-level", epsilon=epsilon)


TYPICAL: dict[str, Callable[[Domain, int, Fraction, float], Synopsis]] = {
    "ug": typical_uniform_grid,
    "ag": typical_adaptive_grid,
}


def placed(domain: Domain, area_share: float, filled: float = FILLED) -> NDArray[np.float64]:
    """Rectangles of the domain's shape all over its filled middle, shape (PLACES, 4); larger ones cover the middle."""
    side, middle = math.sqrt(area_share), math.sqrt(filled)
    steps = np.outer(np.arange(1, PLACES + 1), (1 / PLASTIC, 1 / PLASTIC**2)) % 1
    corners = (1 - middle) / 2 + steps * (middle - side)
    origin, extent = (domain.west, domain.south), (domain.width, domain.height)
    return np.hstack([origin + corners * extent, origin + (corners + side) * extent])


def _expected(grid: Grid, size: int, filled: float) -> NDArray[np.float64]:
    """Points in each cell when all of them lie evenly in the middle of the domain, shape (cells,)."""
    middle = math.sqrt(filled)
    low, high = (1 - middle) / 2, (1 + middle) / 2
    across, up = (np.diff(np.clip(np.linspace(0, 1, n + 1), low, high)) / middle for n in (grid.columns, grid.rows))
    return size * np.outer(up, across).ravel()


def _whole(expected: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers whose running sums stay within a half of the expected ones."""
    return np.diff(np.rint(np.cumsum(expected)), prepend=0).astype(np.int64)


def _synopsis(
    partition: Grid | NestedGrid, measurements: Measurements, *, name: str, inference: str, epsilon: Fraction
) -> Synopsis:
    return Synopsis.infer(
        partition,
        measurements,
        inference=inference,
        claim=Claim(epsilon=epsilon, simulation=True),  # so that it cannot pass for a release
        method=MethodRecord(name=name, asked=name),
    )


def _method_plan(synopsis: Synopsis, size: int, filled: float) -> MethodPlan:
    domain, partition = synopsis.domain, synopsis.partition
    columns, rows = _cells_a_side(partition)
    width, height = domain.width / columns, domain.height / rows
    squeeze = math.cos(math.radians((domain.south + domain.north) / 2))
    kilometres = (width * KILOMETRES_A_DEGREE * squeeze, height * KILOMETRES_A_DEGREE)
    return MethodPlan(
        method=synopsis.method.name,
        cells=partition.cells,
        cell_width=width,
        cell_height=height,
        cell_kilometres=kilometres if domain.is_geographic else None,
        errors=tuple(_expected_error(synopsis, rectangle, size, filled) for rectangle in AREA_SHARES),
    )


def _cells_a_side(partition: Partition) -> tuple[int, int]:
    """Columns and rows that cells like the one in the middle of the domain would make."""
    if isinstance(partition, NestedGrid):
        grid = partition.grid
        side = int(partition.sides[grid.rows // 2 * grid.columns + grid.columns // 2])
        return grid.columns * side, grid.rows * side
    assert isinstance(partition, Grid)
    return partition.columns, partition.rows


def _expected_error(synopsis: Synopsis, rectangle: str, size: int, filled: float) -> ExpectedError:
    area_share = AREA_SHARES[rectangle]
    answers = synopsis.answer(placed(synopsis.domain, area_share, filled))
    noise_std, spread_std = (
        math.sqrt(float(np.mean(np.square(std)))) for std in (answers.noise_std, answers.spread_std)
    )
    return ExpectedError(
        rectangle=rectangle,
        area_share=area_share,
        points=size * min(1, area_share / filled),
        noise_std=noise_std,
        spread_std=spread_std,
    )


def _two_digits(index: int) -> Fraction:
    """The decimals of two significant digits, in order: 0.0000010, 0.0000011 and so on."""
    decade, digits = divmod(index, 90)
    return (10 + digits) * Fraction(10) ** (LOWEST_DECADE - 1 + decade)


def _check_filled(filled: float) -> None:
    if not 0 < filled <= 1:
        msg = f"filled must be a share above 0 and at most 1, got filled={filled!r}."
        raise ArgumentError(msg)
