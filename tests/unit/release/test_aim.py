"""What a release is aimed at, as it is asked for."""

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError, HushgridWarning
from hushgrid.planning.population import population
from hushgrid.planning.rehearsal import points_in, rect_places
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.aim import aim_warning, scale_of
from hushgrid.release.request import ReleaseRequest
from hushgrid.synopsis.answer import SIDES
from tests.plain import UNIT_SQUARE

NEW_YORK = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
POINTS = np.random.default_rng(0).random((2000, 2))


def metres_between(first, second):
    """Great-circle distance, by the haversine formula."""
    (x1, y1), (x2, y2) = np.radians([first, second])
    root = math.sin((y2 - y1) / 2) ** 2 + math.cos(y1) * math.cos(y2) * math.sin((x2 - x1) / 2) ** 2
    return 2 * 6_371_000 * math.asin(math.sqrt(root))


def test_a_length_is_measured_on_the_ground():
    """By the width at the middle latitude, and the height."""
    middle = (NEW_YORK.south + NEW_YORK.north) / 2
    width = metres_between((NEW_YORK.west, middle), (NEW_YORK.east, middle))
    height = metres_between((NEW_YORK.west, NEW_YORK.south), (NEW_YORK.west, NEW_YORK.north))

    assert scale_of("200m", NEW_YORK) == pytest.approx(200 / math.sqrt(width * height), rel=0.01)
    assert scale_of("0.2 km", NEW_YORK) == scale_of("200m", NEW_YORK)


def test_a_length_is_taken_in_the_units_of_a_projected_domain():
    """Metres in UTM, feet in New York's own system."""
    metres = hg.Domain(west=500_000, south=4_500_000, east=540_000, north=4_540_000, crs="EPSG:32618")
    feet = hg.Domain(west=900_000, south=100_000, east=1_100_000, north=300_000, crs="EPSG:2263")

    assert scale_of("200m", metres) == pytest.approx(0.005)
    assert scale_of("1km", feet) == pytest.approx(1000 / (200_000 * 1200 / 3937))


@pytest.mark.parametrize(
    "aim", ["", "0.2", 0.5, "9e9", "m", "-5m", "5 miles", "0%", "0m", "101%", "900km", Path("places.gpkg")]
)
def test_anything_else_is_refused_with_a_way_out(aim):
    """Before anything is read."""
    with pytest.raises(ArgumentError, match="aim must be") as error:
        ReleaseRequest.of(domain=NEW_YORK, epsilon=1, aim=aim)
    assert scale_of(error.value.instead["aim"], NEW_YORK) == 0.005


@pytest.mark.parametrize(("aim", "meant"), [("200", 200), (200, 200), ("12.5", 12.5)])
def test_a_length_without_its_unit_is_taken_for_metres(aim, meant):
    """As a proposal, not as an answer."""
    with pytest.raises(ArgumentError, match="aim must be a length") as error:
        ReleaseRequest.of(domain=NEW_YORK, epsilon=1, aim=aim)
    assert error.value.instead == {"aim": f"{meant}m"}


def test_only_staq_can_be_aimed():
    """Whoever names another method is told."""
    assert ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, method="staq", aim="1%").method.name == "aimed"
    with pytest.raises(ArgumentError, match="methods auto and staq"):
        ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, method="ug", aim="1%")


def test_staq_keeps_the_inference_that_was_asked_for():
    """An aim changes the levels, not how counts are found."""
    method = ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, method=hg.Staq(inference="bayes"), aim="1%").method

    assert method.inference == "bayes"


def test_a_ledger_tells_aims_apart():
    """One aim is another request than another, or none."""
    requests = [
        ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, aim=aim).for_ledger("trips").parameters
        for aim in (None, "1%", "2%")
    ]

    assert len({str(parameters) for parameters in requests}) == 3


def test_what_a_release_was_aimed_at_survives_the_file(tmp_path):
    """Printed by describe, and checked by verify."""
    path = tmp_path / "aimed.dp.parquet"
    hg.publish(POINTS, domain=UNIT_SQUARE, epsilon=1, aim="2%").save(path)

    assert "squares of 2 % of the domain's sides" in " ".join(repr(hg.describe(path)).split())
    assert hg.describe(path).to_dict()["method"]["parameters"]["scale"] == 0.02
    assert hg.verify(path).ok


def test_many_points_are_advised_against():
    """Before the release by public figures, after it by its own size."""
    check = hg.check(POINTS, domain=UNIT_SQUARE, epsilon=1, aim="2%", points_about=10**6)
    assert any("Leave out aim" in text for text in check.warnings)
    with pytest.warns(HushgridWarning, match="Leave out aim"):
        hg.publish(POINTS, domain=UNIT_SQUARE, epsilon=1, aim="5%", public_size=200_000, calibrate=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hg.publish(POINTS, domain=UNIT_SQUARE, epsilon=1, aim="5%", calibrate=False)
    assert aim_warning("aimed", 1e4) is None


def test_intervals_hold_where_the_release_is_aimed_at():
    """Squares about points are held about as often as asked; factors made for rectangles anywhere hold them less."""
    points, scale = population(40_000, 0.2, seed=9), 0.01
    rects = rect_places(points, scale**2, 400, bits=simulation_rng(3))
    true_counts = points_in(rects, points)
    synopsis = hg.publish(points, domain=UNIT_SQUARE, epsilon=0.2, aim="1%", rng=simulation_rng(4))
    level = replace(synopsis.calibration, factors=(synopsis.calibration.factors[1],) * len(SIDES))

    def held(release):
        answer = release.answer(rects)
        return np.mean((answer.low <= true_counts) & (true_counts <= answer.high))

    assert 0.92 < held(synopsis) < 0.995
    assert held(replace(synopsis, calibration=level)) < held(synopsis)
