"""A real browser, Debian's chromium driven by playwright, and a page to visit with it."""

import csv
import io
import shutil

import pytest

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.pages import DOMAIN, some_points

CHROMIUM = shutil.which("chromium")
OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
TITLE = "Trips <of> a day"
READING = "willReadFrequently"  # what chromium says to tests that read the pixels of one tile several times
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def synopsis():
    """A small release by AG."""
    return hg.publish(some_points(), domain=DOMAIN, epsilon=1, method="ag", calibrate=False)


@pytest.fixture(scope="module")
def address(synopsis, tmp_path_factory):
    """The page of the release, as a file."""
    path = tmp_path_factory.mktemp("page") / "map.html"
    path.write_text(map_page(synopsis, title=TITLE), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser():
    """A browser with a fresh profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open a page; when the test is over, nothing has left it and its console is empty."""
    contexts, requests, complaints = [], [], []

    def open_page(to=address, **options):
        context = browser.new_context(**(options or DESKTOP))
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(to)
        page.wait_for_selector("body.ready")
        return page

    yield open_page
    for context in contexts:
        context.close()
    heard = [text for text in complaints if READING not in text]
    assert heard == [], heard
    elsewhere = [url for url in requests if not url.startswith(("file:", "data:"))]
    assert elsewhere == [], elsewhere
    assert len([url for url in requests if url.startswith("file:")]) == len(contexts)


def queries(page):
    """What the page would copy, as rows by name."""
    return list(csv.DictReader(io.StringIO(page.evaluate("hushgrid.queries.csv()"))))


def numbers(row, *names):
    """Fields of a row, as numbers."""
    return [float(row[name]) for name in names]


def drag(page, start, end):
    """Draw a rectangle on the map."""
    page.get_by_role("button", name="Rectangle", exact=True).click()
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def expect_same(page, synopsis, row):
    """The row, and the number on the page, are Python's."""
    rect = numbers(row, "west", "south", "east", "north")
    expected = synopsis.answer(rect)
    found = numbers(row, "estimate", "low", "high")
    tolerance = 1e-9 * synopsis.total
    assert found == pytest.approx([expected.estimate, expected.low, expected.high], abs=tolerance, rel=0)
    assert page.locator("#estimate").inner_text() == f"{round(expected.estimate):,}"
    assert f"{round(expected.low):,} to {round(expected.high):,}" in page.locator("#interval").inner_text()
