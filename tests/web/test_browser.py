"""Questions asked of the page in a real browser, its layout, and its way with the keyboard."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.browsers import (  # noqa: F401  # fixtures
    DESKTOP,
    PHONE,
    TITLE,
    address,
    browser,
    drag,
    expect_same,
    needs_chromium,
    numbers,
    queries,
    synopsis,
    visit,
)
from tests.web.pages import DOMAIN

pytestmark = needs_chromium


def test_a_rectangle_drawn_by_mouse_is_counted_as_by_python(visit, synopsis):  # noqa: F811
    """The bounds are those of the drag; the number is Python's for them."""
    page = visit()
    drag(page, (300, 200), (620, 560))

    (row,) = queries(page)
    corners = page.evaluate("[[300, 560], [620, 200]].map((p) => hushgrid.map.containerPointToLatLng(p))")
    bounds = [corners[0]["lng"], corners[0]["lat"], corners[1]["lng"], corners[1]["lat"]]
    assert numbers(row, "west", "south", "east", "north") == pytest.approx(bounds, abs=0.1)
    assert row["query"] == "box"
    expect_same(page, synopsis, row)


def test_a_typed_box_is_counted_by_keyboard_alone(visit, synopsis):  # noqa: F811
    """Tab, type, Enter; a box that is none is refused in words."""
    page = visit()
    page.locator("#west").focus()
    for text in ("-110.5", "30.25", "-90", "45.125"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    (row,) = queries(page)
    assert numbers(row, "west", "south", "east", "north") == [-110.5, 30.25, -90, 45.125]
    expect_same(page, synopsis, row)
    page.locator("#east").fill("-120")
    page.keyboard.press("Enter")
    assert "west is smaller than east" in page.locator("#complaint").inner_text()
    assert len(queries(page)) == 1


def test_a_polygon_is_drawn_by_touch(visit, synopsis):  # noqa: F811
    """Taps make corners, a tap on the first closes; the count is the leaves' shares by shapely."""
    page = visit(**PHONE)
    page.get_by_role("button", name="Polygon", exact=True).tap()
    for place in ((120, 140), (300, 180), (260, 320), (140, 290), (121, 141)):
        page.touchscreen.tap(*place)

    (row,) = queries(page)
    polygon = shapely.from_wkt(row["polygon"])
    boxes = shapely.box(*synopsis.partition.bounds().T)
    shares = shapely.area(shapely.intersection(boxes, polygon)) / shapely.area(boxes)
    assert len(shapely.get_coordinates(polygon)) == 5
    assert float(row["estimate"]) == pytest.approx(shares @ synopsis.counts, abs=1e-9 * synopsis.total)
    assert page.locator("#estimate").inner_text() == f"{round(float(row['estimate'])):,}"


def test_a_rectangle_is_drawn_by_touch(visit, synopsis):  # noqa: F811
    """A finger that drags draws, and the map stays where it is."""
    page = visit(**PHONE)
    before = page.evaluate("hushgrid.map.getCenter()")
    page.get_by_role("button", name="Rectangle", exact=True).tap()
    touches = page.context.new_cdp_session(page)
    for kind, place in (("Start", (100, 120)), ("Move", (180, 200)), ("Move", (280, 300)), ("End", None)):
        points = [{"x": place[0], "y": place[1]}] if place else []
        touches.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    (row,) = queries(page)
    assert page.evaluate("hushgrid.map.getCenter()") == before
    expect_same(page, synopsis, row)


def test_drawing_selects_no_text(visit):  # noqa: F811
    """Neither the first time nor after the map was moved."""
    page = visit()
    selected = []
    for moved in (False, True):
        if moved:
            page.mouse.move(500, 400)
            page.mouse.down()
            page.mouse.move(560, 440, steps=4)
            page.mouse.up()
        drag(page, (300, 200), (620, 560))
        selected.append(page.evaluate("String(getSelection())"))

    assert selected == ["", ""]
    assert len(queries(page)) == 2


@pytest.mark.slow
def test_an_outline_that_crosses_itself_is_refused(visit):  # noqa: F811
    """The page says so in words, and counts nothing."""
    page = visit()
    page.get_by_role("button", name="Polygon", exact=True).click()
    for place in ((300, 200), (600, 500), (600, 200), (300, 500)):
        page.mouse.click(*place)
    page.get_by_role("button", name="Finish").click()

    assert "crosses itself" in page.locator("#complaint").inner_text()
    assert queries(page) == []


@pytest.mark.slow
def test_drawing_can_be_undone_and_given_up(visit):  # noqa: F811
    """Backspace takes a corner back, Escape ends the drawing."""
    page = visit()
    page.get_by_role("button", name="Polygon", exact=True).click()
    for place in ((300, 200), (600, 500), (600, 200)):
        page.mouse.click(*place)
    finish = page.get_by_role("button", name="Finish")

    assert finish.is_enabled()
    page.keyboard.press("Backspace")
    assert finish.is_disabled()
    page.keyboard.press("Escape")
    assert finish.is_hidden()
    assert page.locator("#draw-polygon").get_attribute("aria-pressed") == "false"


def test_a_cell_is_described_under_the_pointer_and_by_keyboard(visit, synopsis):  # noqa: F811
    """The words hold the leaf's own count and interval."""
    page = visit()
    page.mouse.move(450, 400)
    hovered = page.locator("#cell").inner_text()
    place = page.evaluate("hushgrid.map.containerPointToLatLng([450, 400])")
    west, south, east, north = synopsis.partition.bounds().T
    leaf = np.argmax((west <= place["lng"]) & (place["lng"] < east) & (south <= place["lat"]) & (place["lat"] < north))
    answer = synopsis.answer(synopsis.partition.bounds()[leaf])

    assert f"about {round(answer.estimate):,} points, {round(answer.low):,} to {round(answer.high):,}" in hovered
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.locator("#said", has_text="This cell").wait_for(state="attached")


@pytest.mark.slow
def test_queries_are_listed_removed_and_cleared(visit, synopsis):  # noqa: F811
    """Each has a number, a way out, and a line of CSV."""
    page = visit()
    for start in (200, 300, 400):
        drag(page, (start, 250), (start + 150, 400))

    assert page.locator("#queries li").count() == 3
    page.get_by_role("button", name="Remove query 2").click()
    assert [row["query"] for row in queries(page)] == ["box", "box"]
    assert page.locator("path.shape").count() == 2
    page.get_by_role("button", name="Show query 1").click()
    expect_same(page, synopsis, queries(page)[0])
    page.locator("#copy").click()
    page.locator("#copy:text('Copied'), #csv:visible").first.wait_for()
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#queries").is_hidden()
    assert page.locator("path.shape").count() == 0


@pytest.mark.slow
def test_the_title_is_text(visit):  # noqa: F811
    """The title is shown as it was given, tags and all."""
    page = visit()

    assert page.title() == TITLE
    assert page.locator("h1").inner_text() == TITLE


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_layout_holds(visit, device, scheme):  # noqa: F811
    """Nothing sticks out sideways; map and tools are on the first screen; cells are drawn; themes differ."""
    page = visit(color_scheme=scheme, **device)
    size = device["viewport"]

    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for selector in ("#map", "#legend", "#draw-box", "#draw-polygon", "h1"):
        box = page.locator(selector).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["width"]
        assert box["y"] + box["height"] <= size["height"]
    assert page.locator("#draw-box").bounding_box()["height"] >= 44
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    page.wait_for_selector(".cells canvas")
    assert page.evaluate(
        "[...document.querySelectorAll('.cells canvas')].some((tile) =>"
        " tile.getContext('2d').getImageData(0, 0, tile.width, tile.height).data.some((value) => value > 0))"
    )


@pytest.mark.slow
def test_everything_can_be_reached_by_keyboard(visit):  # noqa: F811
    """The skip link comes first; the focus is visible; every control has a name."""
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"

    names = page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea')].map((control) =>"
        " control.ariaLabel || control.labels?.[0]?.textContent.trim() || control.textContent.trim())"
    )
    assert all(names)


@pytest.mark.slow
def test_a_projected_domain_is_drawn_by_its_own_axes(visit, tmp_path):  # noqa: F811
    """Its CRS is named; a rectangle over all of it counts everything."""
    domain = hg.Domain(west=4e5, south=1e5, east=6e5, north=2e5, crs="EPSG:27700")
    points = np.random.default_rng(0).uniform([4e5, 1e5], [6e5, 2e5], (3000, 2))
    projected = hg.publish(points, domain=domain, epsilon=1, method="quadtree", calibrate=False)
    path = tmp_path / "map.html"
    path.write_text(map_page(projected), encoding="utf-8")

    page = visit(path.as_uri())
    drag(page, (300, 300), (500, 420))
    expect_same(page, projected, queries(page)[0])
    assert "units of EPSG:27700" in page.locator("#legend").inner_text()


@pytest.mark.slow
def test_an_area_of_an_overlay_is_counted(visit, synopsis, tmp_path):  # noqa: F811
    """Chosen by its button in the table; hostile names stay text."""
    rect = (-110.0, 25.0, -90.0, 45.0)
    ring = [[-110, 25], [-90, 25], [-90, 45], [-110, 45], [-110, 25]]
    name = "<b>North & South</b>"
    overlay = {"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    path = tmp_path / "map.html"
    path.write_text(map_page(replace(synopsis), overlay=overlay), encoding="utf-8")

    page = visit(path.as_uri())
    page.get_by_role("button", name=name).click()
    assert page.locator("#place").inner_text() == f"In {name}"
    assert page.locator("#estimate").inner_text() == f"{round(synopsis.count(rect)):,}"


@pytest.mark.parametrize("method", ["ug", "staq"])
def test_a_release_of_no_points_is_shown(visit, tmp_path, method):  # noqa: F811
    """Noise alone, or masses next to nothing: the page opens and has a scale."""
    empty = hg.publish(np.empty((0, 2)), domain=DOMAIN, epsilon=0.1, method=method, calibrate=False)
    path = tmp_path / "map.html"
    path.write_text(map_page(empty), encoding="utf-8")

    page = visit(path.as_uri())
    drag(page, (300, 300), (500, 420))
    row = queries(page)[0]
    expected = empty.answer(numbers(row, "west", "south", "east", "north"))
    assert numbers(row, "estimate", "high") == pytest.approx([expected.estimate, expected.high], abs=1e-6)
    assert 2 <= page.locator("#legend .ticks > span").count() <= 5


def test_a_box_outside_the_domain_is_told_so(visit):  # noqa: F811
    """No number is shown for a place that the release says nothing about."""
    page = visit()
    before = page.locator("#estimate").inner_text()
    for name, value in zip(("West", "South", "East", "North"), (10, 45, 12, 47), strict=True):
        page.get_by_label(name).fill(str(value))
    page.get_by_role("button", name="Count this box").click()

    assert "outside" in page.locator("#complaint").inner_text()
    assert (page.locator("#estimate").inner_text(), queries(page)) == (before, [])
