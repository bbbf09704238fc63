"""The trade of an aim, before any data is touched."""

import pytest

import hushgrid as hg
from tests.plain import UNIT_SQUARE


@pytest.fixture(scope="module")
def made():
    """A plan with an aim that pays."""
    return hg.plan(UNIT_SQUARE, points_about=50_000, epsilon=0.1, aim="1%")


def test_an_aim_gains_at_its_scale_and_costs_on_large_areas(made):
    """Both workloads are shown, beside STAQ."""
    first, *_, last = made.aim.errors

    assert (first.rectangle, first.area_share) == ("aimed at", pytest.approx(1e-4))
    assert first.aimed < first.staq
    assert last.aimed > last.staq


def test_it_is_printed_and_has_values(made):
    """A line for every size."""
    text = repr(made)

    assert all(each.rectangle in text for each in made.aim.errors)
    assert made.to_dict()["aim"]["errors"][0]["aimed"] == made.aim.errors[0].aimed


def test_a_plan_without_an_aim_has_none():
    """Nothing is rehearsed for it."""
    plain = hg.plan(UNIT_SQUARE, points_about=1000, epsilon=1)

    assert plain.aim is None
    assert plain.to_dict()["aim"] is None


def test_a_plan_advises_against_an_aim_of_many_points():
    """Where STAQ is better at everything."""
    made = hg.plan(UNIT_SQUARE, points_about=200_000, epsilon=1, aim="5%")

    assert "Leave out aim" in made.aim.advice
    assert "Leave out" in made.aim.words
