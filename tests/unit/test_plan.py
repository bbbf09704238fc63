"""The planner: expected errors from public figures."""

import math
from fractions import Fraction

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError, HushgridError
from hushgrid.geometry.domain import Domain
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.plan import (
    AREA_SHARES,
    TYPICAL,
    ExpectedError,
    Plan,
    epsilon_for,
    placed,
    plan,
    typical_adaptive_grid,
    typical_uniform_grid,
)

SQUARE = Domain(west=0, south=0, east=1, north=1)
CITY = Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
METRES = Domain(west=0, south=0, east=5000, north=3000, crs="EPSG:3035")


def by_name(made: Plan) -> dict[tuple[str, str], ExpectedError]:
    """The errors, by method and rectangle."""
    return {(row.method, error.rectangle): error for row in made.methods for error in row.errors}


def covered(low: float, high: float, side: int) -> list[float]:
    """Share of each of the equal parts of (0, 1) that lies between two numbers, part by part."""
    return [max(0.0, min(high * side, part + 1) - max(low * side, part)) for part in range(side)]


def test_every_method_and_size_has_an_error() -> None:
    """Two methods, three rectangles each, all errors above zero and 95 % of the time below 1.96 of them."""
    errors = by_name(plan(CITY, points_about=100_000, epsilon=1))

    assert errors.keys() == {(method, size) for method in TYPICAL for size in AREA_SHARES}
    assert all(error.noise_std > 0 and error.spread_std > 0 for error in errors.values())
    assert all(error.reach == pytest.approx(1.959964 * error.std_error, rel=1e-6) for error in errors.values())


@pytest.mark.parametrize(("low", "high"), [(0.01, 0.02), (0.1, 0.3), (1, 4)])
def test_errors_fall_with_epsilon(low: float, high: float) -> None:
    """More budget, smaller errors, for every method and rectangle."""
    worse, better = (by_name(plan(CITY, points_about=1_000_000, epsilon=epsilon)) for epsilon in (low, high))

    assert all(better[key].std_error < worse[key].std_error for key in worse)


@pytest.mark.parametrize(("few", "many"), [(1000, 2000), (100_000, 300_000), (1_000_000, 10_000_000)])
def test_relative_errors_fall_with_the_number_of_points(few: int, many: int) -> None:
    """More points, smaller errors in proportion, for every method and rectangle."""
    worse, better = (by_name(plan(CITY, points_about=size, epsilon=0.5)) for size in (few, many))

    assert all(better[key].relative_std_error < worse[key].relative_std_error for key in worse)


def test_noise_of_whole_cells_of_ug_is_that_of_their_sum() -> None:
    """Guideline 1 gives 100 x 100 cells here; a block of 10 x 10 has a hundred times one cell's variance."""
    synopsis = typical_uniform_grid(SQUARE, 100_000, Fraction(1))

    assert synopsis.partition.cells == 100**2
    expected = math.sqrt(100 * discrete_laplace_variance(Fraction(1)))
    assert synopsis.answer([0.4, 0.5, 0.5, 0.6]).noise_std == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("rectangle", AREA_SHARES)
def test_errors_of_ug_are_those_of_a_plain_sum_over_cells(rectangle: str) -> None:
    """Variances of all cells by the shares covered, squared for noise and w (1 - w) for spread, one by one."""
    side, size = 50, 25_000
    error = by_name(plan(SQUARE, points_about=size, epsilon="100/99", filled=1.0))["ug", rectangle]

    variance, each = discrete_laplace_variance(Fraction(1)), size / side**2
    noise, spread = [], []
    for west, south, east, north in placed(SQUARE, AREA_SHARES[rectangle], 1.0):
        shares = np.outer(covered(south, north, side), covered(west, east, side))
        noise.append(variance * np.sum(shares**2))
        spread.append((each + 0.3 * each**2) * np.sum(shares * (1 - shares)) + 0.25)
    assert error.noise_std == pytest.approx(math.sqrt(np.mean(noise)), rel=1e-6)
    assert error.spread_std == pytest.approx(math.sqrt(np.mean(spread)), rel=1e-6)
    assert error.points == pytest.approx(size * AREA_SHARES[rectangle])


@pytest.mark.parametrize("method", ["ug", "ag"])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_the_cells_are_those_of_a_real_release(method: str, epsilon: str) -> None:
    """A release of points that lie as assumed has within 10 % as many cells, and errors within 15 %."""
    size, low, high = 50_000, (1 - math.sqrt(0.2)) / 2, (1 + math.sqrt(0.2)) / 2
    points = np.random.default_rng(4).uniform(low, high, (size, 2))
    release = hg.publish(points, domain=SQUARE, epsilon=epsilon, method=method, rng=hg.simulation_rng(4))
    made = plan(SQUARE, points_about=size, epsilon=epsilon)

    planned = next(row for row in made.methods if row.method == method)
    assert planned.cells == pytest.approx(release.partition.cells, rel=0.1)
    for error in planned.errors:
        answers = release.answer(placed(SQUARE, error.area_share))
        actual = math.sqrt(np.mean(answers.noise_std**2 + answers.spread_std**2))
        assert error.std_error == pytest.approx(actual, rel=0.15)


@pytest.mark.parametrize("typical", TYPICAL.values(), ids=TYPICAL)
@pytest.mark.parametrize("size", [1, 999, 123_456])
@pytest.mark.parametrize("filled", [0.001, 0.2, 1.0])
def test_a_typical_release_holds_all_points_and_is_no_release(typical, size: int, filled: float, tmp_path) -> None:
    """Its counts add up to the size, and it cannot be saved as if it were one."""
    synopsis = typical(CITY, size, Fraction(20), filled)

    assert synopsis.total == pytest.approx(size)
    assert synopsis.counts.min() >= 0
    with pytest.raises(HushgridError, match="simulat"):
        synopsis.save(tmp_path / "typical.dp.parquet")


def test_cells_of_the_first_level_that_hold_points_are_divided_and_empty_ones_are_not() -> None:
    """AG's corner cell is empty and whole; its middle one is divided."""
    sides = typical_adaptive_grid(SQUARE, 1_000_000, Fraction(1)).partition.sides

    assert sides[0] == 1
    assert sides[len(sides) // 2] > 1


@pytest.mark.parametrize("filled", [0.001, 0.05, 0.2, 1.0])
@pytest.mark.parametrize("area_share", AREA_SHARES.values())
def test_rectangles_lie_in_the_filled_middle_or_cover_it(area_share: float, filled: float) -> None:
    """Each has the area asked for, and overlaps the middle as far as it can."""
    low, high = (1 - math.sqrt(filled)) / 2, (1 + math.sqrt(filled)) / 2
    rects = placed(SQUARE, area_share, filled)

    extent = rects[:, 2:] - rects[:, :2]
    overlap = np.minimum(rects[:, 2:], high) - np.maximum(rects[:, :2], low)
    np.testing.assert_allclose(extent.prod(axis=1), area_share)
    np.testing.assert_allclose(overlap.prod(axis=1), min(area_share, filled))


def test_cells_have_kilometres_only_where_the_units_are_degrees() -> None:
    """One degree is 111.2 km, east and west times the cosine of the middle latitude."""
    city = plan(CITY, points_about=10_000, epsilon=1).methods[0]
    metres = plan(METRES, points_about=10_000, epsilon=1).methods[0]

    width, height = city.cell_kilometres
    assert width == pytest.approx(0.56 / 31 * 111.2 * math.cos(math.radians(40.7)))
    assert height == pytest.approx(0.44 / 31 * 111.2)
    assert metres.cell_kilometres is None
    assert metres.cell_width == pytest.approx(5000 / 31)


@pytest.mark.parametrize(("size", "accuracy"), [(1_000_000, 0.05), (1_000_000, 0.005), (20_000, 0.1), (3000, 0.5)])
def test_the_epsilon_for_an_accuracy_gives_it_and_the_next_smaller_does_not(size: int, accuracy: float) -> None:
    """Two significant digits: the last of them lowered by one, the accuracy is missed."""
    epsilon = epsilon_for(CITY, points_about=size, accuracy=accuracy)

    mantissa, exponent = f"{epsilon:.1e}".split("e")
    assert float(f"{mantissa}e{exponent}") == epsilon
    last_digit = 10.0 ** (int(exponent) - 1)
    smaller = epsilon - (last_digit / 10 if mantissa == "1.0" else last_digit)
    assert plan(CITY, points_about=size, epsilon=epsilon).yardstick.relative_reach <= accuracy
    assert plan(CITY, points_about=size, epsilon=smaller).yardstick.relative_reach > accuracy


def test_an_accuracy_beyond_reach_is_an_error() -> None:
    """Five points are never counted to 1 %."""
    with pytest.raises(ArgumentError, match=r"no epsilon up to 9\.9"):
        epsilon_for(CITY, points_about=5, accuracy=0.01)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "nan"}, "epsilon"),
        ({"points_about": 0}, "points_about"),
        ({"points_about": 1.5}, "points_about"),
        ({"points_about": 10**13}, "points_about"),
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


@pytest.mark.parametrize("accuracy", [0, 1, -0.1, 5, math.nan])
def test_an_accuracy_is_a_share(accuracy: float) -> None:
    """Neither none nor all, and no per cent by mistake."""
    with pytest.raises(ArgumentError, match="accuracy"):
        epsilon_for(CITY, points_about=1000, accuracy=accuracy)
