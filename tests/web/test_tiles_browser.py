"""The picture in a real browser: tiles wait for their share of a frame, and all of them are drawn."""

import pytest

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.browsers import browser, needs_chromium, visit  # noqa: F401  # fixtures
from tests.web.pages import DOMAIN, some_points

pytestmark = needs_chromium

LOADED = """() => new Promise((done) => {
  const look = () => (hushgrid.cells.layer.isLoading() ? requestAnimationFrame(look) : done());
  look();
})"""
# Every tile takes longer than a frame may; counts what is drawn from one frame to the next.
SLOW = """() => {
  const { layer } = hushgrid.cells;
  const draw = Object.getPrototypeOf(layer).draw;
  globalThis.drawn = [0];
  layer.draw = (...tile) => {
    for (const end = performance.now() + 20; performance.now() < end; );
    drawn[drawn.length - 1]++;
    draw.apply(layer, tile);
  };
  const next = () => requestAnimationFrame(() => { drawn.push(0); next(); });
  next();
}"""
TILES = "Array.from(document.querySelectorAll('.cells canvas'))"
INK = f"""() => {TILES}.reduce((sum, tile) => {{
  const {{ data }} = tile.getContext("2d").getImageData(0, 0, tile.width, tile.height);
  return sum + data.reduce((one, other) => one + other, 0);
}}, 0)"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page of a small release, as a file."""
    synopsis = hg.publish(some_points(), domain=DOMAIN, epsilon=1, method="ag", calibrate=False)
    path = tmp_path_factory.mktemp("page") / "map.html"
    path.write_text(map_page(synopsis), encoding="utf-8")
    return path.as_uri()


@pytest.mark.slow
def test_slow_tiles_come_one_a_frame_and_all_of_them(visit):  # noqa: F811
    """Though each takes longer than a frame has for tiles; what is on the map in the end is what was there before."""
    page = visit()
    page.evaluate(LOADED)
    before = page.evaluate(INK)
    page.evaluate(SLOW)
    page.evaluate("hushgrid.cells.layer.redraw() && null")
    page.evaluate(LOADED)

    assert page.evaluate("Math.max(...drawn)") == 1
    assert page.evaluate("drawn.reduce((sum, count) => sum + count)") == page.evaluate(f"{TILES}.length")
    assert page.evaluate(INK) == before


@pytest.mark.slow
def test_tiles_that_have_left_the_map_are_not_drawn(visit):  # noqa: F811
    """Of a view that is changed at once only the last is."""
    page = visit()
    page.evaluate(LOADED)
    page.evaluate(SLOW)
    page.evaluate("for (const view of ['certainty', 'both', 'density']) hushgrid.look(view)")
    page.evaluate(LOADED)

    assert page.evaluate("drawn.reduce((sum, count) => sum + count)") == page.evaluate(f"{TILES}.length")
