"""The page of a series in a real browser."""

import csv
import io

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.web.series.page import series_page
from hushgrid.web.series.places import counted_places
from tests.web.browsers import DESKTOP, PHONE, browser, needs_chromium, visit  # noqa: F401  # fixtures
from tests.web.pages import DOMAIN, some_points
from tests.web.test_axe_browser import faults

pytestmark = [needs_chromium, pytest.mark.slow]

MONTHS = ("2026-01", "2026-02", "2026-04", "2026-05", "2026-07")  # March and June are gaps
SQUARES = {
    "dense": shapely.box(-82, 28, -78, 32),
    "wide": shapely.box(-110, 34, -90, 46),
    "far =1+1": shapely.box(-125, 18, -122, 20),
}


@pytest.fixture(scope="module")
def series():
    """Releases of some months, in which the dense cluster grows."""
    rng = np.random.default_rng(3)
    more = [rng.normal([-80, 30], 0.3, (500 * number, 2)) for number in range(len(MONTHS))]
    return hg.Series(
        {
            f"trips-{month}": hg.publish(
                np.concatenate([some_points(), extra]), domain=DOMAIN, epsilon=1, method="ag", calibrate=False
            )
            for month, extra in zip(MONTHS, more, strict=True)
        }
    )


@pytest.fixture(scope="module")
def found(series):
    """What Python says."""
    return series.answer_polygons(list(SQUARES.values()))


@pytest.fixture(scope="module")
def address(series, tmp_path_factory):
    """The page, as a file."""
    levels = counted_places(series, polygons=list(SQUARES.values()), names=list(SQUARES))
    path = tmp_path_factory.mktemp("page") / "series.html"
    path.write_text(series_page(series, levels, title="Trips"), encoding="utf-8")
    return path.as_uri()


def test_the_largest_place_of_the_last_period_is_shown_first(visit, found):  # noqa: F811
    """With its interval; another place and period, in the table, show theirs."""
    page = visit()
    place = int(np.argmax(found.estimate[-1]))
    name = list(SQUARES)[place]

    assert page.locator("#place").inner_text() == f"{name}, 2026-07"
    assert page.locator("#estimate").inner_text() == f"{round(found.estimate[-1, place]):,}"
    bounds = f"{round(found.low[-1, place]):,} to {round(found.high[-1, place]):,} with 95"
    assert bounds in page.locator("#interval").inner_text()
    page.get_by_role("button", name="Table").click()
    row = page.locator("#counts tbody tr", has_text="wide")
    row.locator("td").nth(1).click()
    assert page.locator("#place").inner_text() == "wide, 2026-02"
    assert page.locator("#estimate").inner_text() == f"{round(found.estimate[1, 1]):,}"
    row.locator("td").nth(2).click()
    assert page.locator("#estimate").inner_text() == "No release"


def test_nothing_is_drawn_across_a_gap(visit):  # noqa: F811
    """Of the chart, a line and a band for each run of months, within the columns of its months; gaps are shaded."""
    page = visit()
    spans = page.evaluate(
        """() => ["line", "band", "gap"].map((kind) => [...document.querySelectorAll(`#chart .${kind}`)].map((mark) => {
          const { x, width } = mark.getBBox(); return [x, x + width]; }))"""
    )
    middles = [page.evaluate("(i) => hushgrid.chart.x(i)", number) for number in range(7)]
    width = middles[1] - middles[0]
    lines, bands, gaps = spans

    assert len(lines) == len(bands) == 3
    np.testing.assert_allclose(lines, bands, atol=1e-3)
    np.testing.assert_allclose(lines[0], [middles[0], middles[1]], atol=0.01)
    np.testing.assert_allclose(lines[1], [middles[3], middles[4]], atol=0.01)
    np.testing.assert_allclose(lines[2], [middles[6] - width / 4, middles[6] + width / 4], atol=0.01)
    np.testing.assert_allclose(gaps, [[middles[i] - width / 2, middles[i] + width / 2] for i in (2, 5)], atol=0.01)
    rows = page.locator("#chart tbody tr").all_text_contents()
    assert [number for number, row in enumerate(rows) if row.endswith("no release")] == [2, 5]


def test_the_csv_has_every_place_and_period(visit, found):  # noqa: F811
    """Python's numbers to a thousandth, empty in gaps; a name that begins like a formula is text."""
    page = visit()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))

    assert download.value.suggested_filename == "Trips-areas.csv"
    assert [(row["period"], row["name"]) for row in rows] == [
        (period, name) for period in found.periods for name in SQUARES
    ]
    for name in ("estimate", "low", "high"):
        numbers = np.array([float(row[name] or "nan") for row in rows]).reshape(found.estimate.shape)
        np.testing.assert_allclose(numbers, getattr(found, name), atol=0.00051)


def test_charts_and_table_have_all_places_and_can_be_searched(visit):  # noqa: F811
    """What is typed is looked for in the charts, because a map would not show it."""
    page = visit()
    page.get_by_role("button", name="Charts").click()
    page.set_viewport_size({"width": 900, "height": 200})
    boxes = page.evaluate(
        """() => [...document.querySelectorAll(".small-chart")].map((chart) => {
          const [own, drawing] = [chart, chart.querySelector("svg")].map((each) => each.getBoundingClientRect());
          return own.bottom - drawing.bottom; })"""
    )
    assert min(boxes) >= 0, "a chart is cut off"
    page.locator("#find").fill("DENS")
    assert page.locator("#charts .small-chart").all_inner_texts()[0].startswith("dense")
    assert page.locator("#charts .small-chart").count() == 1
    page.get_by_role("button", name="Table").click()
    assert page.locator("#counts tbody tr").count() == 1
    page.locator("#find").fill("nowhere")
    assert page.locator("#extent").inner_text() == "No place is called so."
    page.locator("#find").fill("")
    assert page.locator("#charts .small-chart").count() == 3


def test_small_maps_move_together_and_a_press_chooses_place_and_period(visit):  # noqa: F811
    """A month without a release has no map; all maps share one scale."""
    page = visit()
    assert page.locator(".multiple").count() == 7
    assert page.locator(".multiple .gap").all_inner_texts() == ["No release", "No release"]
    page.evaluate("void hushgrid.maps.maps[1].map.setView([36, -95], 1, { animate: false })")
    views = page.evaluate(
        "hushgrid.maps.maps.filter(Boolean).map(({ map, cells }) => "
        "[map.getCenter().lat, map.getCenter().lng, map.getZoom(), cells.scale.low, cells.scale.high])"
    )
    np.testing.assert_allclose(views, [views[0]] * len(views), atol=1e-6)
    place = page.evaluate(
        """() => { const { map } = hushgrid.maps.maps[3]; const { x, y } = map.latLngToContainerPoint([40, -100]);
        const box = map.getContainer().getBoundingClientRect(); return [box.x + x, box.y + y]; }"""
    )
    page.mouse.click(*place)
    assert page.locator("#place").inner_text() == "wide, 2026-04"


def test_maps_keep_their_middle_when_the_window_changes(visit):  # noqa: F811
    """All of them, the same; paper has no maps, but the chart and the guarantee."""
    page = visit()
    centres = "hushgrid.maps.maps.filter(Boolean).map(({ map }) => [map.getCenter().lat, map.getCenter().lng])"
    before = page.evaluate(centres)
    page.set_viewport_size({"width": 900, "height": 700})
    page.wait_for_function("() => hushgrid.maps.maps[0].map.getSize().x === hushgrid.maps.frames[0].clientWidth")
    np.testing.assert_allclose(page.evaluate(centres), before, atol=0.5)
    page.emulate_media(media="print")
    assert page.locator("#multiples").is_hidden()
    assert page.locator("#chart svg").is_visible()
    assert page.locator(".everyone").is_visible()


def test_the_page_can_be_used_with_the_keyboard(visit):  # noqa: F811
    """Periods are buttons, and arrows go from place to place in the table."""
    page = visit()
    page.get_by_role("button", name="2026-02").focus()
    page.keyboard.press("Enter")
    assert page.locator("#place").inner_text().endswith(", 2026-02")
    page.get_by_role("button", name="Table").focus()
    page.keyboard.press("Space")
    page.locator("#counts tbody button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = page.locator("#counts tbody tr").nth(1)
    assert page.locator("#place").inner_text().startswith(second.locator("button").inner_text())
    assert second.locator("button").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["wide", "narrow"])
def test_no_serious_fault_is_found(visit, device, scheme):  # noqa: F811
    """In any view, and nothing is wider than a phone."""
    page = visit(color_scheme=scheme, **device)
    for view in ("maps", "charts", "table"):
        page.locator(f"[data-show={view}]").click()
        assert faults(page) == {}, view
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
