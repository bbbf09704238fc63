"""Tables of whole numbers: laws that hold for any areas in levels."""

import csv
import io

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import hushgrid as hg
from hushgrid.export.area_tables import write_area_table
from tests.plain import UNIT_SQUARE

STRIPS = 12
LEVELS = ["land", "state", "county"]
SHAPES = [shapely.box(number / STRIPS, 0, (number + 1) / STRIPS, 1) for number in range(STRIPS)]


@st.composite
def releases(draw, most=200):
    """A release of some points on twelve counties in states in lands, and the names of what each lies in."""
    states = draw(st.lists(st.integers(0, 5), min_size=STRIPS, max_size=STRIPS))
    lands = draw(st.lists(st.integers(0, 2), min_size=6, max_size=6))
    columns = {
        "geometry": SHAPES,
        "land": [f"land {lands[state]}" for state in states],
        "state": [f"state {state}" for state in states],
        "county": [f"county {number}" for number in range(STRIPS)],
    }
    points = np.random.default_rng(draw(st.integers(0, 99))).random((draw(st.integers(0, most)), 2))
    synopsis = hg.publish(
        points,
        domain=UNIT_SQUARE,
        epsilon=draw(st.sampled_from([0.05, 0.3, 3])),
        method=hg.Areas(columns, levels=LEVELS),
        rng=hg.simulation_rng(draw(st.integers(0, 99))),
    )
    return synopsis, columns


def written(synopsis, **options):
    """The rows of the table as CSV, by level and name."""
    out = io.BytesIO()
    write_area_table(synopsis, out, to="csv", **options)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode())))


@settings(deadline=None, max_examples=60)
@given(releases())
def test_whole_numbers_add_up_at_every_level(drawn):
    """Every area is the sum of those whose parent it is, the total is kept, and nothing is negative."""
    synopsis, columns = drawn
    rows = written(synopsis, whole=True)
    found = {level: {row["name"]: row for row in rows if row["level"] == level} for level in LEVELS}
    whole = {
        level: {name: int(row["simulated_estimate"]) for name, row in rows.items()} for level, rows in found.items()
    }

    assert min(min(numbers.values()) for numbers in whole.values()) >= 0
    for above, below in (("land", "state"), ("state", "county")):
        assert {name: row["parent"] for name, row in found[below].items()} == dict(
            zip(columns[below], columns[above], strict=True)
        )
        for name, number in whole[above].items():
            assert number == sum(whole[below][part] for part, row in found[below].items() if row["parent"] == name)
    assert sum(whole["land"].values()) == max(round(synopsis.total), 0)


@settings(deadline=None, max_examples=40)
@given(releases(most=20))
def test_whole_numbers_are_never_farther_than_estimates_made_positive(drawn):
    """The distance to the estimates is at most that of setting negative ones to zero, but for rounding."""
    synopsis, _ = drawn
    whole, estimates = (synopsis.table(whole=want)["estimate"].to_numpy() for want in (True, False))
    clipped = np.maximum(estimates, 0)
    surplus = abs(clipped.sum() - max(estimates.sum(), 0))  # what the table takes away again, so that sums are right

    assert np.abs(whole - clipped).max() <= surplus + len(LEVELS) + 1


def test_large_counts_are_only_rounded():
    """Where nothing is near zero, whole numbers are within one of the estimates for each level."""
    points = np.random.default_rng(1).random((5000, 2))
    columns = {"geometry": SHAPES, "half": ["west"] * 5 + ["east"] * 7, "strip": [f"{each}" for each in range(STRIPS)]}
    synopsis = hg.publish(
        points,
        domain=UNIT_SQUARE,
        epsilon=1,
        method=hg.Areas(columns, levels=["half", "strip"]),
        rng=hg.simulation_rng(3),
    )
    for number, level in enumerate(["half", "strip"], start=1):
        whole, estimates = (synopsis.table(level, whole=want)["estimate"].to_numpy() for want in (True, False))
        assert np.abs(whole - estimates).max() < number + 1


@pytest.mark.parametrize("level", LEVELS[:2])
def test_shapes_of_a_level_are_unions(level, tmp_path):
    """As GeoPandas dissolves them, and in the order of the file."""
    geopandas = pytest.importorskip("geopandas")
    states = [3, 1, 1, 3, 0, 0, 2, 2, 5, 5, 4, 4]
    columns = {
        "geometry": SHAPES,
        "land": ["south" if state % 2 else "north" for state in states],
        "state": [f"state {state}" for state in states],
        "county": [f"county {number}" for number in range(STRIPS)],
    }
    method = hg.Areas(columns, levels=LEVELS)
    synopsis = hg.publish(np.full((9, 2), 0.5), domain=UNIT_SQUARE, epsilon=1, method=method, rng=hg.simulation_rng(1))
    wanted = geopandas.GeoDataFrame(columns, crs="EPSG:4326").dissolve(level, sort=False)
    for to in ("geojson", "gpkg"):
        with (tmp_path / f"table.{to}").open("wb") as out:
            write_area_table(synopsis, out, to=to, level=level, whole=True)
        frame = geopandas.read_file(tmp_path / f"table.{to}")

        assert frame["name"].tolist() == wanted.index.tolist()
        assert all(map(shapely.equals, frame.geometry, wanted.geometry))
        assert frame["estimate"].tolist() == synopsis.table(level, whole=True)["estimate"].to_pylist()
