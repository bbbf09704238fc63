"""Slices on areas in a real browser: the map, the table and the chart follow what is chosen."""

import csv
import io
import json

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.browsers import DESKTOP, PHONE, browser, needs_chromium, visit  # noqa: F401  # fixtures
from tests.web.districts import district_slices, frame
from tests.web.test_axe_browser import faults
from tests.web.test_slices_browser import as_rows, charted, part, slide

pytestmark = needs_chromium

FILLS = "() => JSON.stringify(hushgrid.areas.layer.drawn.fills)"
SLICE = "bike / Fri"


@pytest.fixture(scope="module")
def slices():
    """Two kinds on seven weekdays."""
    return district_slices()


@pytest.fixture(scope="module")
def address(slices, tmp_path_factory):
    """Their page, as a file."""
    path = tmp_path_factory.mktemp("page") / "map.html"
    path.write_text(map_page(slices, title="Trips by day"), encoding="utf-8")
    return path.as_uri()


def choose_slice(page):
    page.get_by_role("button", name="bike", exact=True).click()
    slide(page, 4)


def listed(page):
    """Rows of the table, as the page would save them."""
    text = page.evaluate("""async () => {
      const made = new Promise((found) => (URL.createObjectURL = (blob) => (found(blob.text()), 'blob:none')));
      HTMLAnchorElement.prototype.click = () => {};
      hushgrid.areas.save('csv');
      return made;
    }""")
    return list(csv.DictReader(io.StringIO(text)))


def test_the_map_and_the_table_follow_the_slice(visit, slices):  # noqa: F811
    """Numbers of each area are Python's, of all slices and of one."""
    page = visit()
    before = page.evaluate(FILLS)
    whole = slices.total_of_all()
    assert page.locator("#estimate").inner_text() == f"{round(whole.estimate):,}"

    choose_slice(page)
    rows = {row["name"]: row for row in listed(page)}
    expected = slices[SLICE].table().to_pylist()
    for area in expected:
        row = rows[area["name"] if area["name"] in rows else f"'{area['name']}"]  # no formula for a spreadsheet
        assert float(row["estimate"]) == pytest.approx(area["estimate"], abs=1e-6)
        assert row["slice"] == SLICE
    most = max(expected, key=lambda area: area["estimate"])
    first = page.locator("#districts tbody tr").first
    assert first.locator("bdi").inner_text() == most["name"]
    assert f"{round(most['estimate']):,}" in first.inner_text()
    assert page.evaluate(FILLS) != before
    assert "kind bike, day of the week Fri" in page.locator("#place").inner_text()


def test_the_chart_is_of_the_areas_that_are_selected(visit, slices):  # noqa: F811
    """All areas at first; then the one that is pressed, for every slice along the axis."""
    page = visit()
    page.get_by_role("button", name="bike", exact=True).click()
    names, found = charted(page)
    assert names == list(slices.by.axes[1].names)
    assert found == pytest.approx(as_rows(slices.totals())[7:], rel=1e-6)

    button = page.locator("#districts tbody button").first
    name = button.get_attribute("title")
    button.click()
    place = [row["name"] for row in slices[SLICE].table().to_pylist()].index(name)
    _, answer = slices.areas()
    assert charted(page)[1] == pytest.approx(as_rows(answer)[7:, place], abs=1e-6)
    slide(page, 2)
    assert page.locator("#estimate").inner_text() == f"{round(answer.estimate[9, place]):,}"
    assert name in page.locator("#place").inner_text()


def test_one_scale_of_colours_serves_all_slices(visit):  # noqa: F811
    """By density and by count; sums have one of their own."""
    page = visit()
    scales = {}
    for shade in ("Density", "Count"):
        page.locator("#districts").get_by_role("button", name=shade, exact=True).first.click()
        together = page.locator("#legend .ticks").inner_html()
        page.get_by_role("button", name="car", exact=True).click()
        legends = []
        for number in range(7):
            slide(page, number)
            legends.append(page.locator("#legend .ticks").inner_html())
        assert len({*legends}) == 1
        scales[shade] = {together, legends[0]}
        for button in page.get_by_role("button", name="All", exact=True).all():
            button.click()

    assert scales["Density"] != scales["Count"]


def test_rows_stay_where_they_are_while_slices_are_played(visit):  # noqa: F811
    """They are sorted anew when a reader chooses."""
    page = visit()
    page.get_by_role("button", name="bike", exact=True).click()
    slide(page, 0)
    order = "() => hushgrid.areas.table.areas.join()"
    before = page.evaluate(order)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => document.querySelector('#slices output').textContent === 'Thu'")
    played = page.evaluate(order)
    page.get_by_role("button", name="Pause").click()
    slide(page, 6)

    assert played == before
    assert page.evaluate(order) != before


def test_areas_side_by_side(visit):  # noqa: F811
    """A small map for each slice, with the colours that the one map has of it."""
    page = visit()
    page.get_by_role("button", name="bike", exact=True).click()
    page.get_by_role("button", name="Side by side").click()
    assert page.locator(".multiple").count() == 7
    small = page.evaluate(
        "() => hushgrid.slicing.multiples.list.map(({ layers }) => JSON.stringify([...layers.values()][0].drawn.fills))"
    )
    assert len({*small}) == 7
    assert faults(page) == {}

    page.locator(".multiple").nth(4).get_by_role("button").click()
    assert page.locator("#slices output").inner_text() == "Fri"
    assert page.evaluate(FILLS) == small[4]


def test_areas_of_an_overlay_follow_the_slice_too(visit, tmp_path):  # noqa: F811
    """The table, the chart of what is selected, and the colours."""
    by = hg.By.time("at", "weekday")
    days = hg.Slices(by=by, parts={name: part((i + 1) / 7, i) for i, name in enumerate(by.names)})
    shapes = frame()
    path = tmp_path / "overlay.html"
    path.write_text(map_page(days, overlay=json.loads(shapes.to_json()), area_name="county"), encoding="utf-8")
    page = visit(path.as_uri())
    slide(page, 5)
    first = page.locator("#districts tbody button").first
    name = first.get_attribute("title")
    first.click()

    geometry = shapes.geometry[list(shapes["county"]).index(name)]
    answer = days.answer_polygons([geometry])
    assert charted(page)[1] == pytest.approx(as_rows(answer)[:, 0], rel=1e-4, abs=0.05)
    assert page.locator("#estimate").inner_text() == f"{round(float(np.ravel(answer.estimate)[5])):,}"
    fills = page.evaluate(FILLS)
    page.locator("#districts").get_by_role("button", name="Density", exact=True).first.click()
    assert page.evaluate(FILLS) != fills


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["wide", "narrow"])
def test_no_serious_fault_is_found(visit, device, scheme):  # noqa: F811
    """With all slices, and with an area of one."""
    page = visit(color_scheme=scheme, **device)
    before = faults(page)
    choose_slice(page)
    page.locator("#districts tbody button").first.click()

    assert (before, faults(page)) == ({}, {})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
