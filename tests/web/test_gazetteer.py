"""Names of places: bundled beside the points, and chosen for a page."""

from importlib import resources

import numpy as np
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.geometry.grid import Grid
from hushgrid.web.figures import Payload
from hushgrid.web.gazetteer import MOST_BESIDE, MOST_INSIDE, SQUARES, add_places, gazetteer, places_of
from hushgrid.web.page import MODULES as LISTED
from hushgrid.web.page import map_page
from hushgrid.web.shelf import Shelf
from tests.synopses import synopsis_on
from tests.web.pages import DOMAIN, MODULES, facts_of

NEW_YORK = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
WORLD = hg.Domain(west=-180, south=-60, east=180, north=80)


def bundled(name):
    """A bundled file as rows."""
    with (resources.files("hushgrid") / "data" / name).open("rb") as file:
        return pq.read_table(file)


@pytest.mark.parametrize(
    ("name", "lon", "lat"),
    [("Reykjavík", -21.9, 64.1), ("Tokyo", 139.7, 35.7), ("Cape Town", 18.4, -33.9), ("Lima", -77.0, -12.0)],
)
def test_names_stand_beside_the_right_points(name, lon, lat):
    """The largest place of a name lies where every atlas has it, and both files have a row for every place."""
    places, names = bundled("places.parquet"), bundled("names.parquet")
    rows = [row for row, found in enumerate(names["name"].to_pylist()) if found == name]
    largest = max(rows, key=lambda row: names["population"][row].as_py())

    assert places.num_rows == names.num_rows
    assert [places[axis][largest].as_py() for axis in ("lon", "lat")] == pytest.approx([lon, lat], abs=0.2)


def test_the_gazetteer_is_the_named_places_by_size():
    """Every place with a name is in it once, with its own coordinates, after no smaller one."""
    places, names = bundled("places.parquet"), bundled("names.parquet")
    columns = (places["lon"], places["lat"], names["population"], names["name"])
    rows = [row for row in zip(*(column.to_pylist() for column in columns), strict=True) if row[3] is not None]
    found = gazetteer()

    assert (np.diff(found.population) <= 0).all()
    listed = (found.lon.tolist(), found.lat.tolist(), found.population.tolist(), found.names.to_pylist())
    assert sorted(zip(*listed, strict=True)) == sorted(rows)


def test_a_city_has_all_its_places():
    """Down to the smallest that are bundled."""
    west, south, east, north = NEW_YORK.bounds
    every = gazetteer()
    inside = [
        name
        for name, lon, lat in zip(every.names.to_pylist(), every.lon, every.lat, strict=True)
        if west <= lon <= east and south <= lat <= north
    ]

    assert len(inside) > 100
    assert set(inside) <= set(places_of(NEW_YORK).names.to_pylist())


@pytest.mark.parametrize("domain", [DOMAIN, WORLD])
def test_a_large_domain_has_the_largest_places_and_some_everywhere(domain):
    """Half the number by population alone; then the largest place of each square of a grid, as a loop finds them."""
    inside, kept = gazetteer().within(domain.bounds), places_of(domain)
    positions = list(zip(inside.lon, inside.lat, strict=True))
    carried = set(zip(kept.lon, kept.lat, strict=True))
    steps = [(axis.min(), (axis.max() - axis.min()) / SQUARES) for axis in (inside.lon, inside.lat)]
    squares = {}
    for position in positions:
        square = tuple(min(int((x - low) / step), SQUARES - 1) for x, (low, step) in zip(position, steps, strict=True))
        squares.setdefault(square, position)
    firsts = list(squares.values())

    assert len(kept.lon) <= MOST_INSIDE + MOST_BESIDE
    assert carried.issuperset(positions[: MOST_INSIDE // 2])
    assert len(firsts) < MOST_INSIDE // 2
    assert carried.issuperset(firsts)
    assert (np.diff(kept.population) <= 0).all()


@pytest.mark.parametrize("domain", [NEW_YORK, DOMAIN, WORLD, hg.Domain(west=5, south=45, east=15, north=55)])
def test_a_page_grows_by_less_than_100_kb(domain):
    """By the places in its payload, and by the script and style that show them."""
    payload = Payload()
    add_places(domain, payload)
    scripts = sum((MODULES / f"{name}.mjs").stat().st_size for name in LISTED if name.startswith("places/"))
    style = (MODULES.parent / "styles" / "places.css").stat().st_size

    assert len(payload.text) + scripts + style < 100_000


def test_places_are_named_where_there_are_degrees():
    """By the library and by the server; with credit. A plane has no names."""
    metres = hg.Domain(west=4e5, south=1e5, east=5e5, north=2e5, crs="EPSG:27700")
    projected = map_page(synopsis_on(Grid(domain=metres, rows=3, columns=3)))
    named = synopsis_on(Grid(domain=DOMAIN, rows=6, columns=9))
    served = Shelf([("trips", named)]).pages["trips"].content.decode()

    assert "places" in facts_of(map_page(named))
    assert "places" in facts_of(served)
    assert "GeoNames" in served
    assert "places" not in facts_of(projected)
    assert "GeoNames" not in projected


def test_a_domain_without_places_has_a_page():
    """In the middle of the ocean there are none."""
    ocean = hg.Domain(west=-140, south=-45, east=-139.9, north=-44.9)

    assert len(places_of(ocean).lon) == 0
    assert "places" in facts_of(map_page(synopsis_on(Grid(domain=ocean, rows=3, columns=3))))
