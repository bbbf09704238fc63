"""The page of a change in a real browser."""

import re

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.web.change import change_page, usual_places
from tests.web.browsers import DESKTOP, PHONE, browser, needs_chromium, visit  # noqa: F401  # fixtures
from tests.web.pages import DOMAIN, some_points
from tests.web.test_axe_browser import faults

pytestmark = [needs_chromium, pytest.mark.slow]


@pytest.fixture(scope="module")
def change():
    """Two releases, in the second of which the south-east has more than doubled, and the middle halved."""
    rng = np.random.default_rng(1)
    points = some_points()
    more = rng.normal([-80, 30], 0.3, (3000, 2))
    fewer = points[(np.abs(points - [-100, 40]) > [3, 2]).any(axis=1) | (rng.random(len(points)) < 0.5)]
    return hg.compare(
        *(
            hg.publish(each, domain=DOMAIN, epsilon=1, method="ag", calibrate=False, rng=hg.simulation_rng(number))
            for number, each in enumerate((points, np.concatenate([fewer, more])))
        )
    )


@pytest.fixture(scope="module")
def address(change, tmp_path_factory):
    """Their page, as a file."""
    path = tmp_path_factory.mktemp("page") / "change.html"
    path.write_text(change_page(change, usual_places(change, grid=24), title="Trips"), encoding="utf-8")
    return path.as_uri()


def surest(change):
    """The place of the surest change, and its figures."""
    blocks, found = change.blocks(24)
    number = int(found.by_evidence()[0])
    return blocks.bounds()[number], {name: values[number] for name, values in found.columns().items()}


MINUS = "\N{MINUS SIGN}"
# Colours in the middle of places on the map of changes: red, green, blue and opacity.
COLOURS = """(rects) => {
  const { map, areas } = hushgrid.maps.change;
  const drawn = areas._container;
  const copy = Object.assign(document.createElement("canvas"), { width: drawn.width, height: drawn.height });
  const canvas = copy.getContext("2d", { willReadFrequently: true });
  canvas.drawImage(drawn, 0, 0);
  const [box, frame] = [drawn, map.getContainer()].map((element) => element.getBoundingClientRect());
  const ratio = drawn.width / box.width;
  return rects.map(([west, south, east, north]) => {
    const { x, y } = map.latLngToContainerPoint([(south + north) / 2, (west + east) / 2]);
    const at = [(x + frame.left - box.left) * ratio, (y + frame.top - box.top) * ratio].map(Math.round);
    return [...canvas.getImageData(...at, 1, 1).data];
  });
}"""


def test_the_table_begins_with_the_surest_change(visit, change):  # noqa: F811
    """With its sign, its interval and the counts of both."""
    page = visit()
    _, figures = surest(change)
    row = page.locator("tbody tr").first.inner_text().partition("W\n")[2]  # after the name of the block
    numbers = [float(text.replace(",", "").replace(MINUS, "-")) for text in re.findall(rf"[+{MINUS}]?\d[\d,]*", row)]
    expected = [figures[name] for name in ("before", "after", "difference", "low", "high")]

    np.testing.assert_allclose(numbers[:5], expected, atol=0.51)
    assert page.locator("#summary").inner_text() == change.blocks(24)[1].sentence("block")


def test_a_place_shows_its_numbers_when_it_is_chosen(visit, change):  # noqa: F811
    """In the table or on the map; again lets go of it."""
    page = visit()
    (west, south, east, north), figures = surest(change)
    place = page.evaluate(
        "([x, y]) => { const p = hushgrid.maps.change.map.latLngToContainerPoint([y, x]); return [p.x, p.y]; }",
        [(west + east) / 2, (south + north) / 2],
    )

    page.mouse.click(*place)
    shown = page.locator("#estimate").inner_text()
    assert shown == f"{figures['difference']:+,.0f}".replace("-", MINUS)
    assert "more than noise explains" in page.locator("#verdict").inner_text().lower()
    assert page.locator("tbody tr.chosen").count() == 1
    page.locator("tbody tr.chosen button").click()
    assert page.locator("#answer").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_rose_is_orange_what_fell_is_blue_and_the_rest_is_grey(visit, change, scheme):  # noqa: F811
    """Places where noise may explain the change are paler than any other."""
    page = visit(**DESKTOP, color_scheme=scheme)
    blocks, found = change.blocks(24)
    rose, fell = (np.flatnonzero(found.significant & (sign * found.difference > 0)) for sign in (1, -1))
    still = np.flatnonzero(~found.significant)

    def colours(numbers):
        return page.evaluate(COLOURS, blocks.bounds()[numbers[:5]].tolist())

    assert len(rose) > 0
    assert len(fell) > 0
    assert all(red > blue + 20 for red, _, blue, _ in colours(rose))
    assert all(blue > red + 20 for red, _, blue, _ in colours(fell))
    assert all(max(grey[:3]) - min(grey[:3]) < 40 and 0 < grey[3] < 100 for grey in colours(still))


def test_maps_side_by_side_look_at_the_same_place(visit):  # noqa: F811
    """Whichever of them is moved, and after a change of view; they share one scale."""
    page = visit()
    page.get_by_role("button", name="Side by side").click()
    views = """() => ["before", "after"].map((name) => {
      const { map } = hushgrid.maps[name]; const { lat, lng } = map.getCenter(); return [lat, lng, map.getZoom()]; })"""

    page.evaluate("void hushgrid.maps.after.map.setView([35, -90], 2, { animate: false })")
    one, other = page.evaluate(views)
    np.testing.assert_allclose(one, other, atol=1e-6)
    assert one[2] == 2
    page.evaluate("void hushgrid.maps.before.map.setView([30, -80], 3, { animate: false })")
    one, other = page.evaluate(views)
    np.testing.assert_allclose(one, other, atol=1e-6)
    scales = page.evaluate("['before', 'after'].map((name) => hushgrid.maps[name].cells.scale)")
    assert scales[0] == scales[1]
    page.get_by_role("button", name="Change", exact=True).first.click()
    assert page.evaluate("hushgrid.maps.change.map.getZoom()") == 3


def test_the_map_can_be_used_with_the_keyboard(visit):  # noqa: F811
    """What lies in the middle is read out, and Enter chooses it."""
    page = visit()
    page.evaluate("hushgrid.maps.change.map.getContainer().focus()")
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('#said').textContent.includes('before')")
    page.keyboard.press("Enter")

    assert page.locator("#answer").is_visible()


def test_maps_lie_below_each_other_on_a_phone(visit):  # noqa: F811
    """Nothing is wider than the screen."""
    page = visit(**PHONE)
    page.get_by_role("button", name="Side by side").click()
    before, after = (page.locator(f"#map-{name}").bounding_box() for name in ("before", "after"))

    assert after["y"] >= before["y"] + before["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["wide", "narrow"])
def test_no_serious_fault_is_found_by_axe(visit, device, scheme):  # noqa: F811
    """In both views, with a place chosen."""
    page = visit(color_scheme=scheme, **device)
    page.locator("#districts tbody button").first.click()
    change = faults(page)
    page.get_by_role("button", name="Side by side").click()

    assert (change, faults(page)) == ({}, {})
