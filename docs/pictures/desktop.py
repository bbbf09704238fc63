"""The map page as a browser shows it: ``python -m docs.pictures.desktop`` takes the picture of the README anew."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from docs.pictures.__main__ import IMAGES
from docs.pictures.known import set_at_hand
from hushgrid import Domain, publish
from hushgrid.web.page import map_page

STATES = Domain(west=-125, south=24, east=-66, north=50)
NORTH_EAST = "box,-83.72,36.01,-70.6,36.01,-70.6,43.43,-83.72,43.43"
CALIFORNIA = "polygon,-124.4,40.4,-120.2,40.4,-119.9,38.6,-114.4,35.2,-114.4,32.5,-117.4,32.4,-121.0,34.3"
WINDOW = {"width": 1280, "height": 800}
POINTED = (630, 380)  # pixels from the left and the top
LOADED = """() => new Promise((done) => {
  const look = () => (hushgrid.cells.layer.isLoading() ? requestAnimationFrame(look) : done());
  look();
})"""
OPTIONS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")


def main() -> None:
    """Publish the chain stores, ask for two areas, and keep what is seen in the dark."""
    dataset = set_at_hand("us_chains")
    if dataset is None:
        msg = "us_chains is not there: let HUSHGRID_DATA name the folder that holds it."
        raise FileNotFoundError(msg)
    page_text = map_page(publish(dataset.path, domain=STATES, epsilon=1), title="Chain stores in the United States")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "map.html"
        path.write_text(page_text, encoding="utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(OPTIONS))
        page = browser.new_context(viewport=WINDOW, color_scheme="dark").new_page()  # type: ignore[arg-type]
        page.goto(f"{path.as_uri()}#ask={NORTH_EAST}&ask={CALIFORNIA}")
        page.wait_for_selector("body.ready")
        page.evaluate(LOADED)
        page.mouse.move(*POINTED)
        page.wait_for_timeout(1000)  # tiles fade in
        page.screenshot(path=IMAGES / "map-desktop.png")
        browser.close()


if __name__ == "__main__":
    main()
