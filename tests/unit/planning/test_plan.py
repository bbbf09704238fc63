"""The plan: expected errors from public figures."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.planning.plan import ExpectedError, Plan, plan
from hushgrid.planning.population import population
from hushgrid.planning.rehearsal import AREA_SHARES, METHODS, points_in, rect_places

CITY = Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
METRES = Domain(west=0, south=0, east=5000, north=3000, crs="EPSG:3035")


def by_name(made: Plan) -> dict[tuple[str, str], ExpectedError]:
    """The errors, by method and rectangle."""
    return {(row.method, error.rectangle): error for row in made.methods for error in row.errors}


def test_every_method_and_size_has_an_error() -> None:
    """Three methods, three rectangles each; half of the errors are below what most are below."""
    errors = by_name(plan(CITY, points_about=5000, epsilon=1))

    assert errors.keys() == {(method, size) for method in ("staq", "ag", "ug") for size in AREA_SHARES}
    assert all(0 < error.typical_error < error.reach for error in errors.values())
    assert all(0 < error.relative_typical_error < error.relative_reach for error in errors.values())


def test_the_yardstick_is_what_auto_would_give_a_medium_rectangle() -> None:
    """Over 1 % of the domain, by STAQ."""
    made = plan(CITY, points_about=5000, epsilon=1)

    assert made.yardstick == by_name(made)["staq", "medium"]
    assert made.yardstick.area_share == 0.01


@pytest.mark.parametrize(("low", "high"), [(0.01, 0.02), (0.1, 0.3), (1, 4)])
def test_errors_fall_with_epsilon(low: float, high: float) -> None:
    """More budget, smaller errors, for every method and rectangle."""
    worse, better = (by_name(plan(CITY, points_about=20_000, epsilon=epsilon)) for epsilon in (low, high))

    assert all(better[key].reach < worse[key].reach for key in worse)
    assert all(better[key].relative_reach <= worse[key].relative_reach for key in worse)


@pytest.mark.parametrize(("few", "many"), [(1000, 5000), (200_000, 10_000_000)])
def test_relative_errors_fall_with_the_number_of_points(few: int, many: int) -> None:
    """More points, smaller errors in proportion, for every method, where rectangles are not too small for it."""
    worse, better = (by_name(plan(CITY, points_about=size, epsilon=0.5)) for size in (few, many))

    assert all(better[key].relative_reach < worse[key].relative_reach for key in worse if key[1] != "small")
    assert all(better[key].relative_typical_error < worse[key].relative_typical_error for key in worse)


@pytest.mark.parametrize("max_per_user", [2, 10, 50])
def test_keeping_k_points_of_a_user_costs_as_much_as_a_kth_of_the_budget(max_per_user: int) -> None:
    """The plan for K points a user is that for epsilon / K, less a fiftieth that tells what was kept (.97, not .99)."""
    alone, together = (plan(CITY, points_about=5000, epsilon=1, max_per_user=bound) for bound in (1, max_per_user))

    split = plan(CITY, points_about=5000, epsilon=Fraction(97, 99 * max_per_user))
    for row, other in zip(together.methods, split.methods, strict=True):
        assert row == replace(other, seconds=row.seconds, memory=row.memory)  # bounding takes more of these
        assert row.seconds > other.seconds
    assert together.yardstick.reach > alone.yardstick.reach


def test_the_share_for_the_size_is_missing_from_the_counts() -> None:
    """With half of the budget for the size, counts are as good as with half of the budget."""
    half = plan(CITY, points_about=5000, epsilon=2, size_share="0.505")

    assert half.methods == plan(CITY, points_about=5000, epsilon=1, size_share="0.01").methods


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_a_release_of_other_people_of_the_kind_errs_as_planned(method: str, epsilon: str) -> None:
    """Another population, other noise, the noisy size paid for: cells within 15 %, 95 % errors within a factor of 2."""
    size = 20_000
    points = population(size, 0.2, seed=99) * (CITY.width, CITY.height) + (CITY.west, CITY.south)
    release = hg.publish(points, domain=CITY, epsilon=epsilon, method=method, rng=hg.simulation_rng(99))
    planned = next(row for row in plan(CITY, points_about=size, epsilon=epsilon).methods if row.method == method)

    assert planned.cells == pytest.approx(release.partition.cells, rel=0.15)
    for error in planned.errors:
        unit = rect_places(population(size, 0.2, seed=99), error.area_share, 500, bits=hg.simulation_rng(5))
        rects = unit * np.tile((CITY.width, CITY.height), 2) + np.tile((CITY.west, CITY.south), 2)
        actual = np.quantile(abs(release.count(rects) - points_in(rects, points)), 0.95)
        assert 0.5 < error.reach / actual < 2


def test_clumpier_people_fill_fewer_and_smaller_cells() -> None:
    """A rectangle around a point holds more of them, and the cell of a typical one is smaller."""
    clumped, even = (plan(CITY, points_about=20_000, epsilon=1, filled=filled) for filled in (0.02, 0.9))

    assert clumped.yardstick.points > 2 * even.yardstick.points
    assert clumped.methods[0].cell_width < even.methods[0].cell_width / 2


def test_cells_have_kilometres_only_where_the_units_are_degrees() -> None:
    """One degree is 111.2 km, east and west times the cosine of the middle latitude."""
    city = plan(CITY, points_about=5000, epsilon=1).methods[0]
    metres = plan(METRES, points_about=5000, epsilon=1).methods[0]

    width, height = city.cell_kilometres
    assert width == pytest.approx(city.cell_width * 111.2 * math.cos(math.radians(40.7)))
    assert height == pytest.approx(city.cell_height * 111.2)
    assert metres.cell_kilometres is None
    assert metres.cell_width / 5000 == pytest.approx(city.cell_width / 0.56)


@pytest.mark.parametrize("size", [1, 10**12])
def test_the_fewest_and_the_most_points_have_a_plan(size: int) -> None:
    """Every figure is finite, and cells are within the limit."""
    made = plan(CITY, points_about=size, epsilon=1)

    assert all(1 <= row.cells <= 2**24 for row in made.methods)
    assert all(math.isfinite(error.reach) and error.points >= 0.999 for error in by_name(made).values())


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "nan"}, "epsilon"),
        ({"points_about": 0}, "points_about"),
        ({"points_about": 1.5}, "points_about"),
        ({"points_about": 10**13}, "points_about"),
        ({"max_per_user": 0}, "max_per_user"),
        ({"max_per_user": 2, "size_share": "0.98"}, "leaves nothing for counts"),
        ({"max_per_user": 2.5}, "max_per_user"),
        ({"max_per_user": True}, "max_per_user"),
        ({"size_share": 1}, "size_share"),
        ({"filled": 0}, "filled"),
        ({"filled": 1.01}, "filled"),
        ({"filled": math.nan}, "filled"),
    ],
)
def test_what_cannot_be_planned_is_named(wrong: dict[str, object], word: str) -> None:
    """The message names the argument."""
    with pytest.raises(ArgumentError, match=word):
        plan(CITY, **{"points_about": 1000, "epsilon": 1, **wrong})
