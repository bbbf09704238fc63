"""Slices in a real browser: chosen, played, charted and side by side."""

import csv
import io
import json

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.browsers import (  # noqa: F401  # fixtures
    DESKTOP,
    PHONE,
    browser,
    drag,
    expect_same,
    needs_chromium,
    numbers,
    queries,
    visit,
)
from tests.web.pages import DOMAIN, some_points
from tests.web.printed import number_of_pages
from tests.web.test_axe_browser import faults

pytestmark = needs_chromium

BOX = [[-110, 25], [-95, 25], [-95, 45], [-110, 45]]
RECT = (-110, 25, -95, 45)
PICTURE = """() => [...document.querySelectorAll('.stage .cells canvas')]
.filter((tile) => tile.offsetParent)
.map((tile) => {
  const { data } = tile.getContext('2d').getImageData(0, 0, tile.width, tile.height);
  return data.reduce((sum, value, i) => (sum * 31 + value * (i % 97)) % 1000003, 7);
})"""


def part(share, seed):
    """A release of some of the points."""
    points = some_points()
    kept = np.random.default_rng(seed).random(len(points)) < share
    return hg.publish(points[kept], domain=DOMAIN, epsilon=1, method="ag", calibrate=False)


@pytest.fixture(scope="module")
def weekdays():
    """Seven slices, each with more points than the one before, and no total."""
    by = hg.By.time("at", "weekday")
    return hg.Slices(by=by, parts={name: part((i + 1) / 7, i) for i, name in enumerate(by.names)})


@pytest.fixture(scope="module")
def product():
    """Two kinds on seven weekdays."""
    by = hg.By.product(hg.By("kind", values=["car", "bike"]), hg.By.time("at", "weekday"))
    return hg.Slices(by=by, parts={name: part((i % 7 + 1) / 14, i) for i, name in enumerate(by.names)})


@pytest.fixture(scope="module")
def twins():
    """Two kinds on seven weekdays, all fourteen the same."""
    by = hg.By.product(hg.By("kind", values=["car", "bike"]), hg.By.time("at", "weekday"))
    release = part(1, 0)
    return hg.Slices(by=by, parts=dict.fromkeys(by.names, release))


@pytest.fixture(scope="module")
def addresses(weekdays, product, kinds, twins, tmp_path_factory):
    """Pages of all of them, as files."""
    folder = tmp_path_factory.mktemp("slices")
    pages = {"weekdays": weekdays, "product": product, "kinds": kinds, "twins": twins}
    for name, slices in pages.items():
        (folder / f"{name}.html").write_text(map_page(slices, title="Trips by day"), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in pages}


@pytest.fixture(scope="module")
def address(addresses):
    """The page that is visited where a test names none."""
    return addresses["weekdays"]


def slide(page, number):
    """Move the slider, as a reader does."""
    page.locator("#slices input[type=range]").last.evaluate(
        "(slider, number) => { slider.value = number; slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        number,
    )


def settled(page):
    """The picture, once all tiles are there."""
    page.wait_for_function("() => !hushgrid.cells.layer.isLoading() && !hushgrid.cells.layer.waiting.length")
    page.wait_for_timeout(300)
    return page.evaluate(PICTURE)


def charted(page):
    """What the table beside the chart would save: shape (slices, 3)."""
    rows = list(csv.DictReader(io.StringIO(page.evaluate("hushgrid.slicing.chart.csv()"))))
    return [row["slice"] for row in rows], np.array([numbers(row, "estimate", "low", "high") for row in rows])


def as_rows(answer):
    return np.stack([answer.estimate, answer.low, answer.high], axis=-1)


def test_the_slider_shows_a_slice_and_counts_it_as_python_does(visit, weekdays):  # noqa: F811
    """At first all slices are shown; "All" shows them again."""
    page = visit()
    whole = settled(page)
    page.evaluate("(ring) => hushgrid.asking.count('box', [[ring]])", BOX)
    together = weekdays.answer(RECT, slices=weekdays.names)
    assert page.locator("#estimate").inner_text() == f"{round(together.estimate):,}"

    slide(page, 2)
    (row,) = queries(page)
    assert row["slice"] == "Wed"
    expect_same(page, weekdays["Wed"], row)
    assert "day of the week Wed" in page.locator("#place").inner_text()
    assert page.locator("#slices output").inner_text() == "Wed"
    assert settled(page) != whole

    page.get_by_role("button", name="All", exact=True).click()
    assert settled(page) == whole
    assert queries(page)[0]["slice"] == "all"


def test_the_chart_has_the_answers_of_all_slices(visit, weekdays):  # noqa: F811
    """Of the whole map, and of what was drawn; in the table as on the chart."""
    page = visit()
    names, found = charted(page)
    assert names == list(weekdays.names)
    assert found == pytest.approx(as_rows(weekdays.answer(DOMAIN.bounds)), abs=1e-5)

    drag(page, (300, 200), (620, 560))
    rect = numbers(queries(page)[0], "west", "south", "east", "north")
    answer = weekdays.answer(rect)
    assert charted(page)[1] == pytest.approx(as_rows(answer), abs=1e-5)
    page.get_by_text("As a table").click()
    cells = page.locator("#chart tbody tr").nth(6).locator("th, td").all_inner_texts()
    assert cells == ["Sun", *(f"{round(value):,}" for value in as_rows(answer)[6])]
    assert page.locator("#chart .band").count() == 1
    assert page.locator("#chart figcaption").inner_text().startswith("By day of the week. Most: Sun, with ")


def test_one_scale_of_colours_serves_all_slices(visit):  # noqa: F811
    """Ticks of the legend stay where they are from slice to slice."""
    page = visit()
    legends = []
    for number in range(7):
        slide(page, number)
        legends.append(page.locator("#legend .ticks").inner_html())

    assert len({*legends}) == 1
    assert page.evaluate("hushgrid.cells.scale.high") > 0


def test_sums_of_slices_have_the_scale_of_their_blocks(visit, addresses):  # noqa: F811
    """Wide empty places and crowded spots count in it as they do for single slices, here all alike."""
    page = visit(addresses["twins"])
    scales = []
    for chosen in ([0, 4], [-1, 4]):
        page.evaluate("(chosen) => hushgrid.slicing.take(chosen)", chosen)
        scales.append(page.evaluate("hushgrid.cells.scale"))
    one, both = scales

    for end in ("low", "high"):
        assert both[end] / one[end] == pytest.approx(2, rel=0.3)


def test_play_goes_from_slice_to_slice_until_it_is_stopped(visit):  # noqa: F811
    """After the last comes the first."""
    page = visit()
    slide(page, 5)
    page.get_by_role("button", name="Play").click()
    seen = []
    for _ in range(3):
        seen.append(page.locator("#slices output").inner_text())
        page.wait_for_function("(name) => document.querySelector('#slices output').textContent !== name", arg=seen[-1])
    page.get_by_role("button", name="Pause").click()
    stopped = page.locator("#slices output").inner_text()
    page.wait_for_timeout(900)

    assert seen == ["Sun", "Mon", "Tue"]
    assert page.locator("#slices output").inner_text() == stopped


def test_what_is_played_is_what_is_shown_by_hand(visit):  # noqa: F811
    """Tiles that were painted beforehand are those of their slice."""
    page = visit()
    by_hand = []
    for number in (3, 4):
        slide(page, number)
        by_hand.append(settled(page))
    page.evaluate("hushgrid.cells.layer.forget()")
    slide(page, 2)
    page.evaluate("(hushgrid.slicing.controls.step(), 0)")
    page.wait_for_function("() => !hushgrid.cells.layer.coming.length")
    page.evaluate("(hushgrid.slicing.controls.step(), 0)")

    assert settled(page) == by_hand[1]
    assert by_hand[0] != by_hand[1]


def test_slices_are_chosen_by_keyboard(visit):  # noqa: F811
    """Arrows move the slider: right of all slices is the first, left of it are all again."""
    page = visit()
    slider = page.locator("#slices input[type=range]")
    slider.focus()
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "End"):
        page.keyboard.press(key)
        seen.append((page.locator("#slices output").inner_text(), slider.get_attribute("aria-valuetext")))

    assert seen == [("Mon", "Mon"), ("Tue", "Tue"), ("Mon", "Mon"), ("", "All"), ("Sun", "Sun")]


def test_kinds_have_buttons_beside_the_slider_of_time(visit, addresses, product):  # noqa: F811
    """The chart is of the kind that is chosen, or of all kinds together."""
    page = visit(addresses["product"])
    kinds = {day: [f"car / {day}", f"bike / {day}"] for day in product.by.axes[1].names}
    sums = [as_rows(product.answer(DOMAIN.bounds, slices=names)) for names in kinds.values()]
    assert charted(page)[1] == pytest.approx(np.array(sums), abs=1e-5)

    page.get_by_role("button", name="bike").click()
    assert page.get_by_role("button", name="bike").get_attribute("aria-pressed") == "true"
    bikes = as_rows(product.answer(DOMAIN.bounds))[7:]
    assert charted(page)[1] == pytest.approx(bikes, abs=1e-5)
    slide(page, 4)
    assert page.locator("#estimate").inner_text() == f"{round(bikes[4, 0]):,}"
    assert "kind bike, day of the week Fri" in page.locator("#place").inner_text()


def test_names_of_axes_have_no_dot_of_a_place(visit, addresses):  # noqa: F811
    """What is styled as the label of a place has one, in the corner of the map."""
    page = visit(addresses["product"])
    dots = "names => names.map(name => getComputedStyle(name, '::before').content)"
    assert page.locator("#slices .axis > span").evaluate_all(dots) == ["none", "none"]


def test_a_link_restores_the_slice(visit, addresses):  # noqa: F811
    page = visit(f"{addresses['product']}#slice=bike&slice=Fri")

    assert page.evaluate("hushgrid.slicing.axes.chosen") == [1, 4]
    page.evaluate("hushgrid.remember()")
    assert "slice=bike&slice=Fri" in page.url


def test_slices_side_by_side_move_together(visit, weekdays):  # noqa: F811
    """Small maps show what the one map shows of each slice; a press on a name goes back to it."""
    page = visit()
    page.get_by_role("button", name="Side by side").click()
    assert page.locator(".multiple").count() == 7
    assert not page.locator("#map").is_visible()
    box = page.locator(".multiple").nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 30, box["y"] + box["height"] / 2 + 8, steps=3)
    page.mouse.up()
    page.wait_for_timeout(400)
    centres = page.evaluate("hushgrid.slicing.multiples.list.map(({ map }) => map.getCenter())")
    for axis in ("lat", "lng"):
        assert [centre[axis] for centre in centres] == pytest.approx([centres[0][axis]] * 7, abs=0.5)
    assert len({json.dumps(tiles) for tiles in page.evaluate(PICTURE)}) > 3
    assert faults(page) == {}

    page.locator(".multiple").nth(3).get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert page.locator("#slices output").inner_text() == "Thu"
    assert page.locator("#map").is_visible()
    assert page.locator(".side-by-side").evaluate("button => button === document.activeElement")


def test_slices_side_by_side_are_of_the_kind_that_is_chosen(visit, addresses):  # noqa: F811
    """Another kind repaints the small maps; slices added up are one map."""
    page = visit(addresses["product"])
    page.get_by_role("button", name="bike").click()
    page.get_by_role("button", name="Side by side").click()
    page.wait_for_timeout(600)
    bikes = page.evaluate(PICTURE)
    page.get_by_role("button", name="car").click()
    page.wait_for_timeout(600)
    assert page.evaluate(PICTURE) != bikes

    page.get_by_role("button", name="All", exact=True).last.click()
    assert page.locator("#map").is_visible()


KINDS = ["car", "bicycle of any make", "bus"]


@pytest.fixture(scope="module")
def kinds():
    """Three kinds, and no time."""
    by = hg.By("kind", values=KINDS)
    return hg.Slices(by=by, parts={name: part((i + 1) / 3, i) for i, name in enumerate(by.names)})


def test_kinds_are_charted_by_name_below_each_other(visit, addresses, kinds):  # noqa: F811
    """A bar and an interval each; a press on one chooses it."""
    page = visit(addresses["kinds"])
    answer = kinds.answer(DOMAIN.bounds)
    bars = page.locator("#chart svg .bar")

    assert page.locator("#chart svg .name").all_text_contents() == KINDS
    widths = [float(bars.nth(i).get_attribute("width")) for i in range(3)]
    assert np.array(widths) / widths[0] == pytest.approx(answer.estimate / answer.estimate[0], rel=1e-6)
    assert page.locator("#chart svg .reach").count() == 3
    bars.nth(1).click()
    chosen = page.get_by_role("button", name=KINDS[1])
    assert chosen.get_attribute("aria-pressed") == "true"
    assert page.locator("#estimate").inner_text() == f"{round(answer.estimate[1]):,}"
    assert faults(page) == {}


@pytest.mark.parametrize("name", ["weekdays", "kinds"])
def test_paper_has_the_map_and_the_chart_on_one_page(visit, addresses, name):  # noqa: F811
    """The chart leaves the map its room: it was as wide as the paper once."""
    page = visit(addresses[name])
    assert number_of_pages(page.pdf(format="A4")) == 1

    page.set_viewport_size({"width": 700, "height": 1030})  # of A4, within its margins
    page.emulate_media(media="print")
    sizes = {part: page.locator(part).bounding_box() for part in (".stage", "#chart svg")}
    assert sizes[".stage"]["height"] > 370  # ten centimetres
    assert 200 < sizes["#chart svg"]["width"] < 350


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["wide", "narrow"])
def test_no_serious_fault_is_found(visit, addresses, device, scheme):  # noqa: F811
    """With all slices, with one, and with the table of the chart open; nothing is wider than a phone."""
    page = visit(addresses["product"], color_scheme=scheme, **device)
    before = faults(page)
    page.get_by_role("button", name="bike").click()
    slide(page, 4)
    page.get_by_text("As a table").click()

    assert (before, faults(page)) == ({}, {})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
