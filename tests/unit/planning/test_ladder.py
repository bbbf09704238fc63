"""Figures between and beyond the rungs."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.planning.ladder import ERRORS, LARGEST_POPULATION, LARGEST_SIGNAL, figures_at, rung
from hushgrid.planning.rehearsal import METHODS, rehearse

NAMES = ("cells", "cell_side", "points", *ERRORS)


@pytest.mark.parametrize("name", NAMES)
def test_on_a_rung_figures_are_its_own(name: str) -> None:
    """1,000 people and epsilon 1/10 or 1 are rungs."""
    for decade, epsilon in ((2, Fraction(1, 10)), (3, Fraction(1))):
        expected = getattr(rung("ag", 1000, decade, 0.2), name)
        np.testing.assert_allclose(getattr(figures_at("ag", 1000, epsilon, 0.2), name), expected)


@pytest.mark.parametrize("name", NAMES)
def test_between_and_beyond_rungs_figures_follow_power_laws(name: str) -> None:
    """Half way lies the geometric mean; a decade beyond the last rung, the same ratio again."""
    half = Fraction(10**0.5)
    low, middle, high, beyond = (
        getattr(figures_at("ag", 1000, epsilon, 0.2), name)
        for epsilon in (Fraction(10), 10 * half, Fraction(100), 1000)
    )

    np.testing.assert_allclose(middle, np.sqrt(low * high), rtol=1e-9)
    np.testing.assert_allclose(beyond, high * (high / low), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_rehearsal_between_two_rungs_agrees_with_the_law_through_them(method: str) -> None:
    """Medium and large rectangles within 40 %, the luck of a rehearsal; noise is three times as much on either rung."""
    people, epsilon = 20_000, Fraction(10**3.5) / 20_000
    between, direct = figures_at(method, people, epsilon, 0.2), rehearse(method, people, epsilon, 0.2)

    assert between.cells == pytest.approx(direct.cells, rel=0.25)
    for name in ERRORS:
        np.testing.assert_allclose(getattr(between, name)[1:], getattr(direct, name)[1:], rtol=0.4)


@pytest.mark.parametrize("method", METHODS)
def test_more_points_with_less_budget_have_the_same_figures_in_proportion(method: str) -> None:
    """Beyond the largest population the product alone counts."""
    first, second = (
        figures_at(method, LARGEST_POPULATION * factor, Fraction(1, 10 * factor), 0.2) for factor in (1, 1000)
    )

    assert all(np.array_equal(getattr(first, name), getattr(second, name)) for name in NAMES)


def test_figures_stop_improving_where_the_cells_end() -> None:
    """A million times the signal changes nothing there."""
    first, second = (figures_at("ug", 10**12, Fraction(LARGEST_SIGNAL * by) / 10**12, 0.2) for by in (1, 10**6))

    assert all(np.array_equal(getattr(first, name), getattr(second, name)) for name in NAMES)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1, 50, 1000, 20_000])
def test_no_error_grows_with_the_budget(method: str, size: int) -> None:
    """From hardly a signal to hardly any noise, step by step."""
    steps = [figures_at(method, size, Fraction(1.7**step) / size, 0.2) for step in range(-6, 22)]

    for name in ERRORS:
        assert np.all(np.diff([getattr(figures, name) for figures in steps], axis=0) <= 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_decade_beyond_the_ladder_the_law_still_holds(method: str) -> None:
    """A million people with epsilon 1 are rehearsed in earnest: cells within 10 %, errors within a factor of 1.6."""
    size, epsilon = 1_000_000, Fraction(1)
    planned, direct = figures_at(method, size, epsilon, 0.2), rehearse(method, size, epsilon, 0.2)

    assert planned.cells == pytest.approx(direct.cells, rel=0.1)
    for name in ERRORS:
        ratios = getattr(planned, name) / getattr(direct, name)
        assert np.all((ratios > 1 / 1.6) & (ratios < 1.6)), (name, ratios)
