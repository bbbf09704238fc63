"""What a reader takes away from the page in a real browser: links, pictures, files and paper."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import shapely
from PIL import Image

from hushgrid.synopsis.facts import SIMULATION
from hushgrid.web.page import map_page
from tests.web.browsers import (  # noqa: F401  # fixtures
    DESKTOP,
    PHONE,
    address,
    browser,
    drag,
    needs_chromium,
    numbers,
    queries,
    synopsis,
    visit,
)
from tests.web.districts import district_release
from tests.web.printed import number_of_pages, texts_of

pytestmark = needs_chromium


def saved(page, button):
    """The path of a file that a button saves, and its name."""
    with page.expect_download() as started:
        page.get_by_role("button", name=button, exact=True).click()
    return Path(started.value.path()), started.value.suggested_filename


def settled(page):
    """The page, once its tiles have faded in."""
    page.wait_for_function("() => document.querySelectorAll('.cells .leaflet-tile-loaded').length > 0")
    page.wait_for_timeout(600)
    return page


def test_a_link_restores_the_view_and_the_questions(visit, synopsis):  # noqa: F811
    """The address holds them, and says nothing to anybody."""
    page = visit()
    drag(page, (300, 200), (620, 560))
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(500)
    page.get_by_role("group", name="Show").get_by_role("button", name="Both").click()
    [asked] = queries(page)
    again = visit(page.url)

    assert "#at=" in page.url
    assert again.evaluate("hushgrid.map.getZoom()") == 1
    assert again.evaluate("hushgrid.cells.view") == "both"
    [restored] = queries(again)
    assert numbers(restored, "estimate", "west", "north") == pytest.approx(
        numbers(asked, "estimate", "west", "north"), abs=0.01
    )


@pytest.mark.parametrize("spoiled", ["#at=1,2", "#at=x,y,z&show=nothing", "#ask=box,1,2&ask=polygon,%00", "#%%%"])
def test_a_spoiled_link_opens_the_whole_map(visit, address, spoiled):  # noqa: F811
    """What cannot be understood is passed over."""
    page = visit(address + spoiled)

    assert page.evaluate("hushgrid.map.getZoom()") == 0
    assert queries(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_saved_picture_is_the_map_on_the_screen(visit, tmp_path, scheme):  # noqa: F811
    """Pixel by pixel, but for cards, buttons and the halo of names; below it is a strip of words."""
    page = visit(color_scheme=scheme, device_scale_factor=2, **DESKTOP)
    page.evaluate("document.querySelectorAll('.label').forEach((label) => label.remove())")
    drag(page, (300, 200), (620, 560))
    page.mouse.move(700, 30)
    settled(page).locator(".stage").screenshot(path=tmp_path / "screen.png")
    path, name = saved(page, "Save picture")
    screen, picture = (np.asarray(Image.open(file).convert("RGB"), int) for file in (tmp_path / "screen.png", path))

    assert name == "Trips-of-a-day-map.png"
    assert picture.shape[1] == screen.shape[1]
    assert picture.shape[0] > screen.shape[0] + 100
    # The middle of the map: corners have buttons, a legend and what the cell below the pointer holds.
    differ = np.abs(picture[250:1100, 100:1500] - screen[250:1100, 100:1500]).max(axis=2) > 24
    assert differ.mean() < 0.01
    assert len(np.unique(picture[screen.shape[0] + 40 :].reshape(-1, 3), axis=0)) > 10


@pytest.mark.slow
def test_a_picture_is_sharp_on_any_screen_and_holds_areas_and_names(visit, tmp_path):  # noqa: F811
    """It has two pixels a CSS pixel; what it was made for leaves no trace on the map."""
    path = tmp_path / "areas.html"
    path.write_text(map_page(district_release(), title="Trips"), encoding="utf-8")
    page = visit(path.as_uri())
    size = page.evaluate("[hushgrid.map.getSize().x, document.querySelector('.leaflet-areas-pane canvas').width]")
    before = np.asarray(Image.open(saved(page, "Save picture")[0]).convert("RGB"), int)
    page.evaluate(
        "L.marker(hushgrid.map.getCenter(), { icon: L.divIcon({ html: '<span>Middle</span>', iconSize: null }) })"
        ".addTo(hushgrid.map)"
    )
    after = np.asarray(Image.open(saved(page, "Save picture")[0]).convert("RGB"), int)

    assert before.shape[1] == 2 * size[0]
    assert page.evaluate("document.querySelector('.leaflet-areas-pane canvas').width") == size[1]
    assert len(np.unique(before[400:1000:5, 400:1000:5].reshape(-1, 3), axis=0)) > 10
    changed = np.argwhere(np.abs(after - before).max(axis=2) > 60)
    assert np.abs(changed.mean(axis=0) - [800, size[0]]).max() < 60


def test_queries_are_saved_as_files(visit, synopsis):  # noqa: F811
    """CSV is what is copied; GeoJSON has outlines with Python's numbers and their confidence."""
    page = visit()
    drag(page, (300, 200), (620, 560))
    page.evaluate("hushgrid.asking.count('polygon', [[[[-110, 25], [-95, 50], [-80, 25]]]])")
    path, name = saved(page, "Save CSV")
    assert (name, path.read_text()) == ("Trips-of-a-day-queries.csv", page.evaluate("hushgrid.queries.csv()"))

    path, name = saved(page, "Save GeoJSON")
    written = json.loads(path.read_text())
    assert name == "Trips-of-a-day-queries.geojson"
    assert [feature["properties"]["query"] for feature in written["features"]] == ["box", "polygon"]
    for feature in written["features"]:
        shape = shapely.geometry.shape(feature["geometry"])
        answer = synopsis.answer_polygons(shape, confidence=0.95)
        found = [feature["properties"][field] for field in ("estimate", "low", "high", "confidence")]
        assert shape.is_valid
        assert all(polygon.exterior.is_ccw for polygon in shape.geoms)
        expected = [answer.estimate, answer.low, answer.high, 0.95]
        assert np.allclose(found, np.ravel(expected), atol=1e-6 * synopsis.total)


def test_a_simulation_is_marked_wherever_it_goes(visit, synopsis, tmp_path):  # noqa: F811
    """In the columns and the words of files, and below the picture."""
    path = tmp_path / "map.html"
    path.write_text(map_page(replace(synopsis, claim=replace(synopsis.claim, simulation=True))), encoding="utf-8")
    page = visit(path.as_uri())
    drag(page, (300, 200), (620, 560))

    [row] = queries(page)
    assert "estimate" not in row
    assert numbers(row, "simulated_low") <= numbers(row, "simulated_estimate") <= numbers(row, "simulated_high")
    assert json.loads(page.evaluate("hushgrid.queries.geojson()"))["hushgrid"]["simulation"] == SIMULATION
    assert SIMULATION in [line["text"] for line in page.evaluate("hushgrid.sharing.strip()")]


@pytest.mark.parametrize("kind", ["cells", pytest.param("areas", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "paper",
    [
        pytest.param(("A4", False), id="portrait"),
        pytest.param(("Letter", True), id="landscape", marks=pytest.mark.slow),
    ],
)
def test_a_page_of_paper_has_all_of_it(visit, synopsis, tmp_path, kind, paper):  # noqa: F811
    """One page with the guarantee, what is known of the release, and the date, whatever has been asked."""
    page = visit()
    if kind == "areas":
        path = tmp_path / "areas.html"
        path.write_text(map_page(district_release(), title="Trips"), encoding="utf-8")
        page = visit(path.as_uri())
    for north in range(26, 38) if kind == "cells" else ():
        ring = [[-110, 25], [-95, 25], [-95, north], [-110, north]]
        page.evaluate("(ring) => hushgrid.asking.count('box', [[ring]])", ring)
    pdf = page.pdf(format=paper[0], landscape=paper[1])

    assert number_of_pages(pdf) == 1
    today = date.today()  # noqa: DTZ011  # the browser's date is local too
    for words in (synopsis.claim.sentence, "Privacy budget", f"Printed on {today.day} {today:%B %Y}"):
        assert any(words.replace(" ", "") in text for text in texts_of(pdf)), words


def test_paper_is_light(visit):  # noqa: F811
    """In a dark theme the printed map is light; afterwards the page is dark again."""
    page = visit(color_scheme="dark", **PHONE)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    corner = page.evaluate("[...document.querySelector('#paper-map').getContext('2d').getImageData(4, 4, 1, 1).data]")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.evaluate("dispatchEvent(new Event('afterprint'))")

    assert min(corner[:3]) > 200
    assert light == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark != light
    assert page.locator("#paper-map").count() == 0
