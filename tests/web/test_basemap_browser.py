"""Tiles below a release in a real browser, from a server on this machine."""

import math
import struct
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.web.basemap import Basemap
from hushgrid.web.page import map_page
from tests.web.browsers import DESKTOP, PHONE, browser, needs_chromium  # noqa: F401  # fixtures

pytestmark = needs_chromium

NEW_YORK = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
WORLD = hg.Domain(west=-180, south=-85, east=180, north=85)
CREDIT = "© The <b>Mappers</b>"
CITY_HALL = (-74.006, 40.7128)
TILES = """() => [...document.querySelectorAll('.leaflet-basemap-pane img')].map((tile) => {
  const { left, top, width } = tile.getBoundingClientRect();
  return { src: tile.src, left, top, width };
})"""


def tile_picture():
    """A grey PNG of one pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0\x80")), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.fixture
def tiles():
    """The origin of a tile server, and what was asked of it: paths and referrers."""
    asked, picture = [], tile_picture()

    class Tiles(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("Referer")))
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.end_headers()
            self.wfile.write(picture)

        def log_message(self, *args):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Tiles)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def visit(browser, tiles, tmp_path):  # noqa: F811
    """Open a page with a basemap; when the test is over, only the tile server was asked, and the console is empty."""
    origin, _ = tiles
    contexts, requests, complaints = [], [], []

    def open_page(domain, **options):
        west, south, east, north = domain.bounds
        points = np.random.default_rng(0).uniform([west, south], [east, north], (2000, 2))
        synopsis = hg.publish(points, domain=domain, epsilon=1, method="ug", calibrate=False)
        path = tmp_path / "map.html"
        basemap = Basemap(f"{origin}/{{z}}/{{x}}/{{y}}.png", CREDIT)
        path.write_text(map_page(synopsis, basemap=basemap), encoding="utf-8")
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector(".leaflet-basemap-pane img.leaflet-tile-loaded")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert all(url.startswith(("file:", "data:", f"{origin}/")) for url in requests)


def tile_of(lon, lat, zoom):
    """Column and row of a place among the tiles of a zoom, with fractions: the formula of Web Mercator."""
    scale = 2**zoom
    northing = math.asinh(math.tan(math.radians(lat)))
    return scale * (lon + 180) / 360, scale * (1 - northing / math.pi) / 2


def place_on_screen(page, lon, lat):
    """Where a place is drawn."""
    point = page.evaluate(f"hushgrid.map.latLngToContainerPoint([{lat}, {lon}])")
    box = page.locator("#map").bounding_box()
    return box["x"] + point["x"], box["y"] + point["y"]


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_tile_that_holds_a_place_lies_under_it(visit, tiles, device):
    """To the pixel, at two zooms; the address of the page is kept from the server."""
    page = visit(NEW_YORK, **device)
    for zoom in (0, 2):
        page.evaluate(f"void hushgrid.map.setView([40.7128, -74.006], {zoom}, {{ animate: false }})")
        page.wait_for_timeout(500)
        x, y = place_on_screen(page, *CITY_HALL)
        below = [t for t in page.evaluate(TILES) if 0 <= x - t["left"] < t["width"] and 0 <= y - t["top"] < t["width"]]
        world_zoom = max(int(tile["src"].split("/")[-3]) for tile in below)
        [tile] = [t for t in below if t["src"].split("/")[-3] == str(world_zoom)]
        column, row = tile_of(*CITY_HALL, world_zoom)

        assert tile["src"].endswith(f"/{world_zoom}/{math.floor(column)}/{math.floor(row)}.png")
        assert 180 < tile["width"] < 363  # the zoom of the world is the nearest
        assert x - tile["left"] == pytest.approx(tile["width"] * (column % 1), abs=1.5)
        assert y - tile["top"] == pytest.approx(tile["width"] * (row % 1), abs=1.5)
    _, asked = tiles
    assert {referrer for _, referrer in asked} == {None}


@pytest.mark.slow
def test_only_tiles_that_exist_are_asked_for(visit, tiles):
    """Nothing beyond the edges of the world, zoomed out as far as can be or in."""
    page = visit(WORLD, **DESKTOP)
    for zoom in (-2, 16):
        page.evaluate(f"void hushgrid.map.setView([84, 179], {zoom}, {{ animate: false }})")
        page.wait_for_timeout(500)
    _, asked = tiles

    assert len(asked) > 4
    for path, _ in asked:
        zoom, column, row = (int(part) for part in path.removesuffix(".png").strip("/").split("/"))
        assert 0 <= zoom <= 19
        assert 0 <= column < 2**zoom
        assert 0 <= row < 2**zoom


def test_credit_is_given_on_the_map_and_below(visit):
    """As text. The picture lets the tiles through, and their own names are not doubled; search is still there."""
    page = visit(NEW_YORK, **DESKTOP)

    assert page.locator("#map .credit").inner_text() == CREDIT
    assert CREDIT in page.locator("footer").inner_text()
    assert float(page.locator(".leaflet-tile-pane").evaluate("(pane) => getComputedStyle(pane).opacity")) < 1
    assert page.locator(".label").count() == 0
    assert page.locator("#search").is_visible()
