"""The picture in a real browser: what is painted on the screen, at every zoom and in every view."""

import pytest

from tests.web.browsers import address, browser, needs_chromium, synopsis, visit  # noqa: F401  # fixtures

pytestmark = needs_chromium

PAINTED = """() => {
  const map = document.querySelector('#map').getBoundingClientRect();
  const found = { pixels: 0, light: 0, least: Infinity, darkest: null };
  for (const tile of document.querySelectorAll('.cells canvas')) {
    const box = tile.getBoundingClientRect();
    const { data } = tile.getContext('2d').getImageData(0, 0, tile.width, tile.height);
    for (let i = 0; i < data.length; i += 4) {
      const x = box.left - map.left + (((i / 4) % tile.width) + 0.5) * box.width / tile.width;
      const y = box.top - map.top + (Math.floor(i / 4 / tile.width) + 0.5) * box.height / tile.height;
      if (!data[i + 3] || x < 0 || y < 0 || x > map.width || y > map.height) continue;
      const light = data[i] + data[i + 1] + data[i + 2] + 255 - data[i + 3];
      found.pixels += 1;
      found.light += light;
      if (light < found.least) [found.least, found.darkest] = [light, [x, y]];
    }
  }
  return found;
}"""


def painted(page):
    """How many pixels of the picture are on the screen, their lightness, and where the darkest is."""
    page.wait_for_function("() => document.querySelectorAll('.cells .leaflet-tile-loaded').length > 0")
    page.wait_for_timeout(400)
    return page.evaluate(PAINTED)


def test_the_picture_is_there_at_every_zoom(visit):  # noqa: F811
    """Zoomed out it takes a quarter of the screen each time and never vanishes; zoomed in again it is as it was."""
    page = visit()
    found = [painted(page)]
    for way in ("out", "out", "in", "in", "in"):
        page.get_by_role("button", name=f"Zoom {way}").click()
        page.wait_for_timeout(500)
        found.append(painted(page))
    first, second, third, *_, again, closest = found

    assert third["pixels"] > 0
    assert second["pixels"] / first["pixels"] == pytest.approx(1 / 4, rel=0.2)
    assert third["pixels"] / second["pixels"] == pytest.approx(1 / 4, rel=0.2)
    assert again == first
    assert closest["pixels"] > first["pixels"]


def test_the_darkest_place_is_the_densest(visit):  # noqa: F811
    """The darkest pixel lies on the dense cluster."""
    page = visit()
    to_degrees = "([x, y]) => { const { lng, lat } = hushgrid.map.containerPointToLatLng([x, y]); return [lng, lat]; }"
    lng, lat = page.evaluate(to_degrees, painted(page)["darkest"])

    assert (lng, lat) == (pytest.approx(-80, abs=1), pytest.approx(30, abs=1))


def test_density_certainty_or_both_are_shown(visit):  # noqa: F811
    """Each view has its legend, and the dense cluster is known most finely."""
    page = visit()
    legends, lights = [], []
    for name in ("Density", "Certainty", "Both"):
        page.get_by_role("button", name=name, exact=True).click()
        legends.append(page.locator("#legend .note").inner_text())
        lights.append(painted(page)["light"])
        assert page.get_by_role("button", name=name, exact=True).get_attribute("aria-pressed") == "true"

    assert len({*legends}) == len({*lights}) == 3
    assert "kilometres" in page.evaluate("(hushgrid.look('certainty'), document.querySelector('#legend').textContent)")
