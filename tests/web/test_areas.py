"""Releases on areas in the page: Python's numbers and outlines, and files that other programs read."""

import csv
import io
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

import hushgrid as hg
from hushgrid.synopsis.scale import Scale
from hushgrid.web.areas import decimals_of
from hushgrid.web.page import map_page
from tests.web.districts import DOMAIN, FORMULA, HOSTILE, district_release, districts_under_node, frame
from tests.web.pages import block, facts_of, needs_node

RADIUS = 6371.0088  # km
LEVELS = {"flat": ("county",), "two": ("state", "county"), "three": ("region", "state", "county")}


@cache
def released(kind):
    """A release on areas of so many levels."""
    return district_release(LEVELS[kind])


def shape(polygons):
    """Nested lists as shapely has them."""
    return shapely.MultiPolygon([(rings[0], rings[1:]) for rings in polygons])


@needs_node
@pytest.mark.parametrize("kind", LEVELS)
def test_every_level_is_answered_as_by_python(kind):
    """Names in the order of the file, estimates, intervals, and whether they are usable."""
    synopsis = released(kind)
    found = districts_under_node(synopsis)["levels"]

    assert [level["name"] for level in found] == synopsis.partition.level_names
    for level in found:
        expected = synopsis.table(level["name"]).to_pylist()
        for row, known in zip(level["rows"], expected, strict=True):
            assert (row["name"], row["usable"]) == (known["name"], known["usable"])
            numbers = [known[name] for name in ("estimate", "low", "high")]
            assert [row[name] for name in ("estimate", "low", "high")] == pytest.approx(numbers, abs=1e-6)


@needs_node
@pytest.mark.parametrize("kind", LEVELS)
def test_sums_of_areas_have_the_intervals_of_total_of(kind):
    """Of some areas of every level: one, two of one parent, two far apart, and all."""
    synopsis = released(kind)
    levels = synopsis.partition.all_levels
    chosen = [
        (number, sorted({0, 1 % len(level.names), len(level.names) - 1}) if some else list(range(len(level.names))))
        for number, level in enumerate(levels)
        for some in (True, False)
    ]
    chosen += [(len(levels) - 1, [5]), (len(levels) - 1, [0, 1, 2, 7, 8])]

    for (number, areas), found in zip(chosen, districts_under_node(synopsis, sums=chosen)["sums"], strict=True):
        level = levels[number]
        expected = synopsis.total_of([level.names[area] for area in areas], level=level.name)
        for name in ("estimate", "low", "high"):
            assert found[name] == pytest.approx(getattr(expected, name), abs=1e-6)


@needs_node
def test_one_area_alone_is_answered():
    """Its tree is a root without children."""
    domain = hg.Domain(west=0, south=0, east=2, north=2)
    areas = hg.Areas([shapely.box(0, 0, 1, 1)], names=["Alone"])
    synopsis = hg.publish([[0.5, 0.5]] * 50, domain=domain, epsilon=1, method=areas)
    found = districts_under_node(synopsis, sums=[(0, [0])])

    expected = synopsis.total_of(["Alone"])
    assert [found["sums"][0][name] for name in ("low", "high")] == pytest.approx([expected.low, expected.high])
    assert found["levels"][0]["rows"][0]["high"] == pytest.approx(expected.high)


@needs_node
def test_scaled_counts_are_scaled_in_the_page():
    """Estimates and intervals of a release that is scaled to a total."""
    synopsis = released("two")
    scaled = synopsis.scaled(Scale(factor=2.5, total=7500, source="public", cap=None))
    found = districts_under_node(scaled, sums=[(1, [0, 4])])

    expected = scaled.total_of([scaled.partition.names[area] for area in (0, 4)])
    assert found["sums"][0]["high"] == pytest.approx(expected.high, abs=1e-6)
    assert found["levels"][0]["rows"][0]["low"] == pytest.approx(scaled.table("state")["low"][0].as_py(), abs=1e-6)


@needs_node
def test_outlines_come_back_and_levels_are_joined():
    """The finest are the release's own, to ten digits; the others cover their parts and nothing else."""
    synopsis = released("three")
    *coarser, finest = districts_under_node(synopsis)["levels"]
    own = shapely.from_wkb(synopsis.cells(geometry=True)["geometry"].to_pylist())

    back = shapely.normalize([shape(each) for each in finest["polygons"]])
    assert shapely.equals_exact(back, shapely.normalize(own), tolerance=1e-9).all()
    for level, known in zip(coarser, synopsis.partition.levels, strict=True):
        for number, polygons in enumerate(level["polygons"]):
            parts = own[known.starts[number] : known.starts[number + 1]]
            assert shape(polygons).area == pytest.approx(sum(part.area for part in parts))
            assert (
                shapely.symmetric_difference(shape(polygons), shapely.union_all(parts)).area < 1e-7
            )  # rounding, along all borders


@needs_node
def test_ground_is_that_of_the_sphere_without_lakes():
    """By a second way: in the plane of longitude and sine of latitude areas are true, if borders are dense."""
    level = districts_under_node(released("flat"))["levels"][-1]

    for polygons, found in zip(level["polygons"], level["grounds"], strict=True):
        dense = shapely.segmentize(shape(polygons), 0.01)
        equal = shapely.transform(dense, lambda at: np.stack([np.radians(at[:, 0]), np.sin(np.radians(at[:, 1]))], 1))
        assert found == pytest.approx(RADIUS**2 * equal.area, rel=1e-6)


@needs_node
def test_the_area_at_a_place_is_the_one_that_holds_it():
    """Compared with shapely, at places everywhere, in the lake and outside."""
    synopsis = released("flat")
    places = np.random.default_rng(5).uniform([-101, 29], [-89, 41], (500, 2))
    places[0] = (-95 + 10 / 12, 35 + 10 / 12)  # the lake
    shapes = shapely.from_wkb(synopsis.cells(geometry=True)["geometry"].to_pylist())

    found = districts_under_node(synopsis, places=places.tolist())["places"]
    for place, area in zip(places, found, strict=True):
        holds = np.flatnonzero(shapely.contains_xy(shapes, *place))
        assert (holds.tolist() or [-1]) == [area]
    assert found[0] == -1


@needs_node
def test_files_hold_names_numbers_and_valid_outlines():
    """CSV opens in a spreadsheet without running anything; GeoJSON has counterclockwise rings and says what it is."""
    synopsis = released("two")
    for level in districts_under_node(synopsis)["levels"]:
        expected = synopsis.table(level["name"])
        rows = list(csv.DictReader(io.StringIO(level["csv"])))
        assert [row["name"].removeprefix("'") for row in rows] == expected["name"].to_pylist()
        assert [float(row["estimate"]) for row in rows] == pytest.approx(expected["estimate"].to_pylist(), abs=1e-6)
        collection = level["geojson"]
        assert collection["hushgrid"]["guarantee"] == synopsis.claim.sentence
        assert "crs" not in collection
        for feature, row in zip(collection["features"], rows, strict=True):
            geometry = shapely.geometry.shape(feature["geometry"])
            assert geometry.is_valid
            assert all(part.exterior.is_ccw for part in geometry.geoms)
            assert not any(ring.is_ccw for part in geometry.geoms for ring in part.interiors)
            assert feature["properties"]["estimate"] == float(row["estimate"])
            assert feature["properties"]["level"] == level["name"]
    assert any(row["name"] == f"'{FORMULA}" for row in rows)


@needs_node
def test_files_of_a_simulation_are_marked():
    """The columns say so, as in exports."""
    synopsis = released("flat")
    simulated = replace(synopsis, claim=replace(synopsis.claim, simulation=True))
    level = districts_under_node(simulated)["levels"][0]

    assert level["csv"].startswith("name,simulated_estimate,simulated_low,simulated_high,usable\n")
    assert level["geojson"]["hushgrid"]["simulation"].startswith("Simulation")


def test_hostile_names_cannot_leave_the_facts():
    """They are there, and no tag is made of them."""
    page = map_page(released("flat"))

    assert HOSTILE in facts_of(page)["levels"][0]["names"]
    assert "<" not in block(page, "facts")
    assert HOSTILE not in page


def test_an_overlay_on_areas_is_drawn_as_lines():
    """The areas of the release are the ones that are counted."""
    ring = [[-99, 31], [-92, 31], [-95, 38], [-99, 31]]
    page = map_page(released("flat"), overlay={"type": "Polygon", "coordinates": [ring]})

    assert facts_of(page)["overlay"] == {"lines": [{"line": ring}], "names": []}


def test_thousands_of_areas_fit():
    """As many as the counties of the United States, in three levels, with as many vertices: far below 3 MB."""
    areas = hg.Areas(frame(side=56, vertices=6), levels=["region", "state", "county"])
    large = hg.publish(np.empty((0, 2)), domain=DOMAIN, epsilon=1, method=areas)

    assert large.partition.cells == 56**2
    assert len(large.partition.vertices) > 60_000
    assert len(map_page(large)) < 1_500_000


@given(st.lists(st.tuples(*(st.floats(-1e6, 1e6),) * 2), min_size=1, max_size=20), st.integers(0, 6))
def test_coordinates_keep_their_decimals(places, decimals):
    """Those with few come back to the bit, and others to ten digits of the extent."""
    vertices = np.array(places)
    few = np.round(vertices, decimals) + 0.0
    for given_, exact in ((few, np.ptp(few, axis=0).max() < 10.0 ** (9 - decimals)), (vertices, False)):
        digits = decimals_of(given_)
        back = np.rint(given_ * 10.0**digits) / 10.0**digits
        extent = np.ptp(given_, axis=0).max() or 1.0
        assert np.abs(back - given_).max() <= max(1e-9 * extent, 1e-14 * np.abs(given_).max())
        assert not exact or np.array_equal(back, given_)
