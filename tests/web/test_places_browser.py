"""Names of places in a real browser: drawn where they lie, more of them closer by, and found."""

import math
from itertools import combinations

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.web.gazetteer import places_of
from hushgrid.web.page import map_page
from tests.web.browsers import DESKTOP, PHONE, browser, needs_chromium, visit  # noqa: F401  # fixtures
from tests.web.districts import district_release

pytestmark = needs_chromium

NEW_YORK = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
AMERICA = hg.Domain(west=-126, south=17, east=-66, north=57)
LABELS = """() => {
  const map = document.querySelector('#map').getBoundingClientRect();
  return [...document.querySelectorAll('.label')].map((label) => {
    const [place, text] = [label.getBoundingClientRect(), label.firstChild.getBoundingClientRect()];
    const [x, y] = [place.left - map.left, place.top - map.top];
    return { name: label.textContent, x, y, seen: x >= 0 && y >= 0 && x <= map.width && y <= map.height,
      left: text.left, right: text.right, top: text.top, bottom: text.bottom };
  });
}"""


def page_of(domain, folder):
    """A page of points spread over a domain, as a file."""
    west, south, east, north = domain.bounds
    points = np.random.default_rng(0).uniform([west, south], [east, north], (3000, 2))
    path = folder / "map.html"
    synopsis = hg.publish(points, domain=domain, epsilon=1, method="ug", calibrate=False)
    path.write_text(map_page(synopsis), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """New York."""
    return page_of(NEW_YORK, tmp_path_factory.mktemp("city"))


@pytest.fixture(scope="module")
def america(tmp_path_factory):
    """Much of North America."""
    return page_of(AMERICA, tmp_path_factory.mktemp("america"))


def mercator(lat):
    """Northing of a latitude, in radians of the equator."""
    return math.asinh(math.tan(math.radians(lat)))


def zoom_to(page, zoom):
    """Zoom at once."""
    page.evaluate(f"void hushgrid.map.setZoom({zoom}, {{ animate: false }})")


def search(page, text):
    """Type into the field and press Enter."""
    field = page.get_by_role("combobox", name="Find a place")
    field.fill(text)
    field.press("Enter")
    return field


def middle(page):
    """Longitude and latitude of the middle of the map, once it stands still."""
    page.wait_for_timeout(600)
    centre = page.evaluate("hushgrid.map.getCenter()")
    return centre["lng"], centre["lat"]


def test_a_name_stands_where_its_place_lies(visit):  # noqa: F811
    """Interpolated from the frame of the domain, by Mercator's formula written down again."""
    page = visit()
    frame = page.locator("path.frame").bounding_box()
    stage = page.locator("#map").bounding_box()
    places = places_of(NEW_YORK)
    known = {}
    for name, lon, lat in zip(places.names.to_pylist(), places.lon, places.lat, strict=True):
        known.setdefault(name, []).append((lon, lat))
    west, south, east, north = NEW_YORK.bounds
    labels = page.evaluate(LABELS)

    assert len(labels) > 20
    for label in labels:
        expected = [
            (
                frame["x"] - stage["x"] + frame["width"] * (lon - west) / (east - west),
                frame["y"]
                - stage["y"]
                + frame["height"] * (mercator(north) - mercator(lat)) / (mercator(north) - mercator(south)),
            )
            for lon, lat in known[label["name"]]
        ]
        assert min(math.dist((label["x"], label["y"]), place) for place in expected) < 3, label["name"]
        assert label["left"] - stage["x"] == pytest.approx(label["x"] + 8, abs=2)
        assert label["top"] < label["y"] + stage["y"] < label["bottom"]


def test_more_names_appear_as_one_zooms_in(visit):  # noqa: F811
    """Within the same piece of ground."""
    page = visit()
    counts = []
    for zoom in (2, 1, 0):  # from the smallest piece, whose bounds are kept
        zoom_to(page, zoom)
        if zoom == 2:
            page.evaluate("void (globalThis.ground = hushgrid.map.getBounds())")
        counts.append(page.evaluate("hushgrid.labels.shown.filter(({ place }) => ground.contains(place.at)).length"))

    assert counts[0] > counts[1] > counts[2]


@pytest.mark.slow
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_names_do_not_touch(visit, america, device):  # noqa: F811
    """At any zoom, as the browser has set them."""
    page = visit(america, **device)
    for zoom in (-1, 0, 2, 4):
        zoom_to(page, zoom)
        labels = page.evaluate(LABELS)
        assert labels
        for one, other in combinations(labels, 2):
            apart = one["right"] < other["left"] or other["right"] < one["left"]
            assert apart or one["bottom"] < other["top"] or other["bottom"] < one["top"], (one, other)


def test_the_largest_places_are_named_first(visit, america):  # noqa: F811
    """Zoomed far out, the name next to New York is New York."""
    page = visit(america)
    zoom_to(page, -2)
    names = {label["name"] for label in page.evaluate(LABELS)}

    assert {"New York City", "Los Angeles", "Mexico City"} <= names
    assert "Brooklyn" not in names


def test_names_stay_while_one_moves(visit):  # noqa: F811
    """What is in sight before and after keeps its name."""
    page = visit()
    zoom_to(page, 1)
    before = {label["name"] for label in page.evaluate(LABELS) if label["seen"] and label["x"] > 150}
    page.evaluate("void hushgrid.map.panBy([150, 0], { animate: false })")
    after = {label["name"] for label in page.evaluate(LABELS)}

    assert before
    assert before <= after


def test_names_are_not_in_the_way(visit):  # noqa: F811
    """Of the pointer or of a screen reader; on paper, which has a picture of the map, the field is not."""
    page = visit()
    label = next(label for label in page.evaluate(LABELS) if label["name"] == "Brooklyn")
    page.mouse.move((label["left"] + label["right"]) / 2, label["y"])

    assert "This cell" in page.locator("#cell").inner_text()
    assert page.locator(".leaflet-labels-pane").get_attribute("aria-hidden") == "true"
    page.emulate_media(media="print")
    assert page.locator("#search").is_hidden()


def test_a_place_is_found_by_keyboard(visit):  # noqa: F811
    """The largest match is on top; arrows choose another; Enter goes there, and says so."""
    page = visit()
    field = page.get_by_role("combobox", name="Find a place")
    field.fill("har")
    options = page.get_by_role("option")
    assert options.first.inner_text().startswith(("Harlem", "East Harlem"))
    assert field.get_attribute("aria-expanded") == "true"
    names = [text.split("\n")[0].rsplit(" ", 1)[0] for text in options.all_inner_texts()]
    for _ in range(names.index("Harrison") + 1):
        field.press("ArrowDown")
    marked = page.locator(f"#{field.get_attribute('aria-activedescendant')}")
    assert marked.get_attribute("aria-selected") == "true"
    assert marked.inner_text().startswith("Harrison")
    field.press("Enter")

    places = places_of(NEW_YORK)
    number = places.names.to_pylist().index("Harrison")
    assert middle(page) == pytest.approx((places.lon[number], places.lat[number]), abs=0.005)
    assert page.evaluate("hushgrid.map.getZoom()") > 0
    assert page.get_by_role("listbox").is_hidden()
    assert page.locator("#search [role=status]").inner_text() == "Harrison is in the middle of the map."
    assert page.locator("path.found").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("MERIDA", (-89.62, 20.97)),  # Mérida
        ("quebec", (-71.21, 46.81)),  # Québec
        ("st louis", (-90.2, 38.63)),  # St. Louis
        ("40.7, -74", (-74, 40.7)),
        ("40.7° N, 74.0° W", (-74, 40.7)),
    ],
)
def test_a_place_is_found_without_accents_or_by_coordinates(visit, america, text, place):  # noqa: F811
    """Capitals, accents and points do not matter."""
    page = visit(america)
    search(page, text)

    assert middle(page) == pytest.approx(place, abs=0.02)


def test_enter_goes_to_the_same_place_again(visit):  # noqa: F811
    """Enter does not go to the first that was listed; after Escape there is nowhere to go."""
    page = visit()
    field = page.get_by_role("combobox", name="Find a place")
    field.fill("har")
    field.press("ArrowUp")  # to the last
    field.press("Enter")
    there, name = middle(page), field.input_value()
    page.evaluate("void hushgrid.map.setView([40.7, -74], 0, { animate: false })")
    field.press("Enter")

    assert middle(page) == pytest.approx(there, abs=0.001)
    assert field.input_value() == name
    field.press("Escape")
    field.press("ArrowDown")
    assert field.input_value() == ""
    assert page.get_by_role("listbox").is_hidden()
    assert page.locator("path.found").count() == 0


def test_a_name_is_preferred_to_a_longer_one(visit):  # noqa: F811
    """Orange is smaller than East Orange."""
    page = visit()
    field = search(page, "orange")

    assert field.input_value() == "Orange"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Paris", "Not among the names on this map."),
        ("48.85, 2.35", "Not on this map."),
        ("12, 500", "Not on this map."),
    ],
)
def test_what_is_not_on_the_map_is_told(visit, text, told):  # noqa: F811
    """The map stays where it is; Escape takes the words away."""
    page = visit()
    before = page.evaluate("hushgrid.map.getCenter()")
    field = search(page, text)
    said = page.locator("#search [role=status]")

    assert said.inner_text() == told
    assert page.evaluate("hushgrid.map.getCenter()") == before
    field.press("Escape")
    assert said.inner_text() == ""
    assert field.input_value() == ""


def test_a_place_is_found_by_touch(visit):  # noqa: F811
    """A tap on the list goes there."""
    page = visit(**PHONE)
    page.get_by_role("combobox", name="Find a place").tap()
    page.keyboard.type("bayonne")
    page.get_by_role("option", name="Bayonne").tap()

    assert middle(page) == pytest.approx((-74.11, 40.67), abs=0.02)


@pytest.mark.slow
def test_maps_of_areas_have_names_too(visit, tmp_path):  # noqa: F811
    """Over their colours; a place can be found."""
    path = tmp_path / "areas.html"
    path.write_text(map_page(district_release()), encoding="utf-8")
    page = visit(path.as_uri())

    assert "Dallas" in {label["name"] for label in page.evaluate(LABELS)}
    search(page, "dallas")
    assert middle(page) == pytest.approx((-96.8, 32.8), abs=0.05)


@pytest.mark.slow
def test_a_plane_has_no_names(visit, tmp_path):  # noqa: F811
    """Neither labels nor a field."""
    metres = hg.Domain(west=4e5, south=1e5, east=6e5, north=2e5, crs="EPSG:27700")
    page = visit(page_of(metres, tmp_path))

    assert page.locator(".label").count() == 0
    assert page.locator("#search").is_hidden()
