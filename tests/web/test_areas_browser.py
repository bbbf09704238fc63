"""Named areas in a real browser: chosen, summed, sorted, saved, by mouse, keyboard and finger."""

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest
import shapely

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.browsers import DESKTOP, PHONE, browser, needs_chromium, visit  # noqa: F401  # fixtures
from tests.web.districts import FORMULA, HOSTILE, LONG, RIGHT_TO_LEFT, district_release, frame
from tests.web.pages import some_points

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def districts():
    """A release on areas in three levels."""
    return district_release()


@pytest.fixture(scope="module")
def address(districts, tmp_path_factory):
    """Its page, as a file."""
    path = tmp_path_factory.mktemp("page") / "areas.html"
    path.write_text(map_page(districts, title="Trips"), encoding="utf-8")
    return path.as_uri()


def middle(page, synopsis, name, level=None):
    """Where the middle of an area is on the screen."""
    areas = synopsis.partition.level_called(level)
    number = areas.names.index(name)
    shapes = shapely.from_wkb(synopsis.cells(geometry=True)["geometry"].to_pylist())
    place = shapely.union_all(shapes[areas.starts[number] : areas.starts[number + 1]]).representative_point()
    point = page.evaluate(f"hushgrid.map.latLngToContainerPoint([{place.y}, {place.x}])")
    return point["x"], point["y"]


def expect_sum(page, answer):
    """The number and the interval on the page are Python's."""
    assert page.locator("#estimate").inner_text() == f"{round(answer.estimate):,}"
    assert f"{round(answer.low):,} to {round(answer.high):,}" in page.locator("#interval").inner_text()


def names_in_table(page):
    """Names of the rows that are shown."""
    return page.locator("#districts tbody bdi").all_text_contents()


def saved(page, button):
    """The text of a file that a button saves, and its name."""
    with page.expect_download() as started:
        page.get_by_role("button", name=button).click()
    return Path(started.value.path()).read_text(encoding="utf-8"), started.value.suggested_filename


def test_areas_are_chosen_on_the_map_and_summed_as_by_python(visit, districts):  # noqa: F811
    """One, then two, then one again; rows of the table are marked alike; the interval is that of total_of."""
    page = visit()
    first, second = "county 8", "county 22"
    expect_sum(page, districts.total_of(list(districts.partition.names)))
    page.mouse.click(*middle(page, districts, first))
    expect_sum(page, districts.total_of([first]))
    page.mouse.click(*middle(page, districts, second))
    expect_sum(page, districts.total_of([first, second]))
    assert page.locator("#place").inner_text() == f"In 2 areas together: {first}, {second}"
    assert page.locator("#districts tr.chosen bdi").count() == 2

    page.mouse.click(*middle(page, districts, first))
    expect_sum(page, districts.total_of([second]))
    page.get_by_role("button", name="Clear 1 selected").click()
    expect_sum(page, districts.total_of(list(districts.partition.names)))


@pytest.mark.slow
def test_levels_are_switched_and_keep_what_was_chosen(visit, districts):  # noqa: F811
    """The table, the legend and the sums are those of the level."""
    page = visit()
    page.mouse.click(*middle(page, districts, "county 8"))
    page.get_by_label("Level").select_option(label="state (7)")
    page.get_by_role("button", name="Count", exact=True).click()
    assert "Points in each state" in page.locator("#legend").inner_text()
    table = districts.table("state")
    assert sorted(names_in_table(page)) == sorted(table["name"].to_pylist())
    expect_sum(page, districts.total_of(table["name"].to_pylist(), level="state"))
    for name in table["name"].to_pylist()[1:3]:
        page.mouse.click(*middle(page, districts, name, "state"))
    expect_sum(page, districts.total_of(table["name"].to_pylist()[1:3], level="state"))

    page.get_by_label("Level").select_option(label="county (36)")
    expect_sum(page, districts.total_of(["county 8"]))


@pytest.mark.slow
def test_the_table_is_sorted_and_searched(visit, districts):  # noqa: F811
    """By count downwards at first; headings turn it; a text leaves what holds it."""
    page = visit()
    table = districts.table().to_pylist()
    estimates = {row["name"]: row["estimate"] for row in table}
    shown = [estimates[name] for name in names_in_table(page)]
    assert shown == pytest.approx(sorted(estimates.values(), reverse=True), abs=1e-6)
    heading = page.get_by_role("columnheader", name="Points")
    assert heading.get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Points").click()
    assert [estimates[name] for name in names_in_table(page)] == pytest.approx(shown[::-1], abs=1e-6)
    assert heading.get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="Area", exact=True).click()
    plain = [name for name in names_in_table(page) if name.startswith("county")]
    assert plain == sorted(plain, key=lambda name: int(name.split()[1]))

    page.get_by_label("Find", exact=True).fill("COUNTY 3")
    assert names_in_table(page) == [f"county {number}" for number in (3, 30, 31, 32, 33, 34, 35)]
    page.get_by_label("Find", exact=True).fill("nowhere")
    assert page.locator("#extent").inner_text() == "No area is called so."


def test_everything_works_by_keyboard(visit, districts):  # noqa: F811
    """Enter on the map chooses what lies in its middle, which is read out; arrows go through the table."""
    page = visit()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.locator("#said", has_text="km²: about").wait_for(state="attached")
    said = page.locator("#said").inner_text().partition(",")[0]
    page.keyboard.press("Enter")
    expect_sum(page, districts.total_of([said]))

    page.locator("#districts tbody button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = names_in_table(page)[1]
    assert page.get_by_role("button", name=second).get_attribute("aria-pressed") == "true"
    expect_sum(page, districts.total_of({said, second}))


def test_files_hold_what_is_listed_or_chosen(visit, districts):  # noqa: F811
    """CSV and GeoJSON, in the order of the table; only what is chosen, once something is."""
    page = visit()
    text, name = saved(page, "Save CSV")
    assert name == "Trips-county.csv"
    rows = list(csv.DictReader(io.StringIO(text)))
    known = {row["name"]: row for row in districts.table().to_pylist()}
    assert len(rows) == len(known)
    for row in rows:
        expected = known[row["name"].removeprefix("'")]
        assert float(row["high"]) == pytest.approx(expected["high"], abs=1e-6)
        assert row["usable"] == str(expected["usable"]).lower()
    assert f"'{FORMULA}" in [row["name"] for row in rows]

    page.mouse.click(*middle(page, districts, "county 8"))
    text, name = saved(page, "Save GeoJSON")
    assert name == "Trips-county.geojson"
    (feature,) = json.loads(text)["features"]
    assert feature["properties"]["name"] == "county 8"
    assert feature["properties"]["estimate"] == pytest.approx(known["county 8"]["estimate"], abs=1e-6)
    own = shapely.from_wkb(
        districts.cells(geometry=True)["geometry"][districts.partition.names.index("county 8")].as_py()
    )
    assert shapely.symmetric_difference(shapely.geometry.shape(feature["geometry"]), own).area < 1e-6


def test_hostile_names_are_text_everywhere(visit, districts):  # noqa: F811
    """In the table, the heading and the card; long and right-to-left ones do not spoil the layout."""
    page = visit()
    for name in (HOSTILE, RIGHT_TO_LEFT, LONG):
        page.get_by_label("Find", exact=True).fill(name[:20])
        page.locator("#districts tbody button").first.click()
        assert name[:20] in page.locator("#place").inner_text()
        page.mouse.move(*middle(page, districts, name))
        assert page.locator("#cell").inner_text().startswith(name[:20])
    assert page.locator("#districts img, #panel img, #cell img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= DESKTOP["viewport"]["width"]
    assert page.evaluate("document.querySelector('#panel').scrollWidth <= document.querySelector('#panel').clientWidth")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_densest_area_has_the_strongest_colour(visit, districts, device, scheme):  # noqa: F811
    """By density and by count the extremes differ as the numbers do; nothing sticks out sideways."""
    page = visit(color_scheme=scheme, **device)
    assert page.evaluate("document.documentElement.scrollWidth") <= device["viewport"]["width"]
    # What may be empty is faint, and nothing where noise has taken it below zero.
    surely = [row for row in districts.table("state").to_pylist() if row["low"] > 0]
    table = sorted(surely, key=lambda row: row["estimate"])
    page.locator("#level").select_option("1")
    page.locator("[data-shade=count]").click()
    light = [brightness(page, *middle(page, districts, row["name"], "state")) for row in (table[0], table[-1])]
    assert (light[0] > light[1]) == (scheme == "light")


def brightness(page, x, y):
    """Sum of red, green and blue on the canvas of areas, at a point of the map."""
    return page.evaluate(
        """([x, y]) => {
          const { _bounds: bounds, _container: element } = hushgrid.areas.layer;
          const point = hushgrid.map.containerPointToLayerPoint([x, y]).subtract(bounds.min);
          const ratio = element.width / bounds.getSize().x;
          const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
          copy.drawImage(element, -Math.floor(point.x * ratio), -Math.floor(point.y * ratio));
          const [red, green, blue] = copy.getImageData(0, 0, 1, 1).data;
          return red + green + blue;
        }""",
        [x, y],
    )


@pytest.mark.slow
def test_a_finger_chooses_and_the_map_stays_on_the_screen(visit, districts):  # noqa: F811
    """A tap on the map does not scroll the page to the table."""
    page = visit(**PHONE)
    page.touchscreen.tap(*middle(page, districts, "county 8"))
    page.touchscreen.tap(*middle(page, districts, "county 22"))

    expect_sum(page, districts.total_of(["county 8", "county 22"]))
    assert page.evaluate("scrollY") == 0


def test_any_release_is_shown_by_district(visit, tmp_path):  # noqa: F811
    """The areas of an overlay have Python's numbers, and sums those of their union; overlapping ones have none."""
    domain = hg.Domain(west=-126, south=17, east=-66, north=57)
    synopsis = hg.publish(some_points(), domain=domain, epsilon=1, method="ag", calibrate=False)
    areas = frame()
    twice = areas.iloc[[8]].assign(county="again")
    overlay = json.loads(pd.concat([areas, twice]).to_json())
    path = tmp_path / "map.html"
    path.write_text(map_page(synopsis, overlay=overlay, area_name="county"), encoding="utf-8")
    page = visit(path.as_uri())
    answer = synopsis.answer_polygons(areas)
    rows = list(csv.DictReader(io.StringIO(saved(page, "Save CSV")[0])))
    by_name = {row["name"].removeprefix("'"): row for row in rows}

    for number, name in enumerate(areas["county"]):
        for column in ("estimate", "low", "high"):
            expected = getattr(answer, column)[number]
            assert float(by_name[name][column]) == pytest.approx(expected, abs=1e-6 * synopsis.total)
    shapes = dict(zip(areas["county"], areas.geometry, strict=True))
    for name in ("county 8", "county 9"):
        page.get_by_label("Find", exact=True).fill(name)
        page.get_by_role("button", name=name, exact=True).click()
    expect_sum(page, synopsis.answer_polygons(shapely.union_all([shapes["county 8"], shapes["county 9"]])))
    page.get_by_label("Find", exact=True).fill("again")
    page.get_by_role("button", name="again", exact=True).click()
    assert "overlap" in page.locator("#complaint").inner_text()
    page.get_by_role("region", name="Areas").get_by_role("button", name="Density", exact=True).click()
    assert page.locator(".cells canvas").count() == 0
    page.get_by_role("button", name="Cells", exact=True).click()
    page.wait_for_selector(".cells canvas")
