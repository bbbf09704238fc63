"""The drawn density in a real browser: over the ground of its pixels it sums to the counts on the screen."""

import pytest

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.browsers import DESKTOP, browser, needs_chromium, visit  # noqa: F401  # fixtures
from tests.web.pages import DOMAIN, some_points

pytestmark = needs_chromium

DENSE, WIDE = (30, -80), (40, -100)  # latitude and longitude of the clusters
ALL = (37, -96)

# What is drawn on the screen, what the release counts there, and the half-width of that count's interval. A pixel's
# density is read from its colour by the legend, or, with `exact`, from logarithms that are drawn instead of colours.
DRAWN = """async (exact) => {
  const { map, cells, release, facts } = hushgrid;
  const { layer, picture, scale, square } = cells;
  const own = layer.colours;
  const code = (density) => (density > 0 ? Math.round((Math.log2(density) + 60) * 2 ** 17) + 1 : 0);
  const coded = (_, level, window) => {
    return Uint32Array.from(picture.densities(level, window), (density) => (0xff000000 | code(density)) >>> 0);
  };
  const decoded = (pixel) => (pixel & 0xffffff ? 2 ** (((pixel & 0xffffff) - 1) / 2 ** 17 - 60) : 0);
  const stops = document.querySelector("#legend .bar").style.background.match(/rgb\\([^)]*\\)/g);
  const ramp = stops.map((stop) => stop.match(/\\d+/g).map(Number));
  const known = new Map();
  const read = (pixel) => {
    if (pixel >>> 24 === 0) return 0;
    if (!known.has(pixel)) {
      const colour = [0, 8, 16].map((shift) => (pixel >>> shift) & 255);
      let best = [Infinity, 0];
      for (let i = 0; i <= 1000; i++) {
        const place = (i / 1000) * (ramp.length - 1);
        const below = Math.min(Math.floor(place), ramp.length - 2);
        const mixed = ramp[below].map((value, k) => value + (place - below) * (ramp[below + 1][k] - value));
        const far = mixed.reduce((sum, value, k) => sum + (value - colour[k]) ** 2, 0);
        if (far < best[0]) best = [far, i / 1000];
      }
      known.set(pixel, (scale.low * (scale.high / scale.low) ** best[1]) / square);
    }
    return known.get(pixel);
  };
  const summed = (densityOf) => {
    const frame = map.getContainer().getBoundingClientRect();
    const [radians, radius] = [Math.PI / 180, 6371.0088];
    let sum = 0;
    for (const tile of document.querySelectorAll(".cells canvas")) {
      const box = tile.getBoundingClientRect();
      const step = box.width / tile.width;
      const { data } = tile.getContext("2d").getImageData(0, 0, tile.width, tile.height);
      const pixels = new Uint32Array(data.buffer);
      const place = (x, y) => map.containerPointToLatLng([x, y]);
      const degrees = place(step, 0).lng - place(0, 0).lng;
      for (let row = 0; row < tile.height; row++) {
        const y = box.top - frame.top + row * step;
        if (y < 0 || y >= frame.height) continue;
        const [upper, lower] = [y, y + step].map((each) => Math.sin(place(0, each).lat * radians));
        const ground = radius ** 2 * degrees * radians * (upper - lower);
        for (let column = 0; column < tile.width; column++) {
          const x = box.left - frame.left + column * step;
          if (x < 0 || x >= frame.width) continue;
          sum += densityOf(pixels[row * tile.width + column]) * ground;
        }
      }
    }
    return sum;
  };
  const redrawn = () => new Promise((done) => {
    const look = () => (layer.isLoading() ? requestAnimationFrame(look) : done());
    layer.redraw();
    look();
  });
  if (exact) layer.colours = coded;
  await redrawn();
  const found = summed(exact ? decoded : read);
  layer.colours = own;
  await redrawn();
  const [sight, [west, south, east, north]] = [map.getBounds(), facts.domain];
  const { estimate, low, high } = release.answerBox(
    Math.max(sight.getWest(), west), Math.max(sight.getSouth(), south),
    Math.min(sight.getEast(), east), Math.min(sight.getNorth(), north),
  );
  return [found, estimate, (high - low) / 2];
}"""


HEAVIEST_DROPPED = """() => {
  const { layers } = hushgrid.cells.picture;
  const masses = layers.map(({ densities }, depth) => Math.max(0, ...densities) / 4 ** depth);
  const { densities } = layers[masses.indexOf(Math.max(...masses.slice(6)), 6)];
  densities[densities.indexOf(Math.max(...densities))] = 0;
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page of two clusters and points between them, the same in every run."""
    synopsis = hg.publish(some_points(), domain=DOMAIN, epsilon=1, method="staq", rng=hg.simulation_rng(3))
    path = tmp_path_factory.mktemp("page") / "map.html"
    path.write_text(map_page(synopsis), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(visit):  # noqa: F811
    """The page on a fine screen: a pixel shows one of the blocks it touches, and errors of that even out."""
    return visit(device_scale_factor=2, **DESKTOP)


def drawn(page, place, zoom, *, exact=True):
    """What is drawn of a view, what is counted there, and how surely."""
    page.evaluate("([place, zoom]) => void hushgrid.map.setView(place, zoom, { animate: false })", [place, zoom])
    page.wait_for_timeout(300)
    return page.evaluate(DRAWN, exact)


@pytest.mark.parametrize(
    ("place", "zoom"),
    [
        (ALL, 0),
        (DENSE, 3),
        *(pytest.param(*view, marks=pytest.mark.slow) for view in ((ALL, -1), (ALL, -2), (DENSE, 1))),
    ],
)
def test_the_drawn_density_sums_to_the_count_on_the_screen(page, place, zoom):
    """Within 1 %, from a small map of everything to the dense cluster."""
    found, counted, _ = drawn(page, place, zoom)

    assert found == pytest.approx(counted, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("zoom", [2, 4])
def test_where_little_is_known_the_sum_is_as_sure_as_the_count(page, zoom):
    """A close view of the wide cluster cuts through what is drawn smoothly."""
    found, counted, half_width = drawn(page, WIDE, zoom)

    assert found == pytest.approx(counted, abs=half_width)


@pytest.mark.slow
@pytest.mark.parametrize(("place", "zoom"), [(ALL, 0), (DENSE, 3)])
def test_colours_read_by_the_legend_sum_to_the_count(page, place, zoom):
    """Within 5 %: a ramp has few colours, and ends."""
    found, counted, _ = drawn(page, place, zoom, exact=False)

    assert found == pytest.approx(counted, rel=0.05)


def test_a_block_that_is_missing_is_noticed(page):
    """The heaviest block of all, at a zoom that draws it by itself."""
    page.evaluate(HEAVIEST_DROPPED)
    found, counted, _ = drawn(page, DENSE, 3)

    assert found < 0.99 * counted
