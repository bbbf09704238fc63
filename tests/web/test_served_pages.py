"""Served pages in a real browser: the switch between releases, and nothing asked of anyone else."""

import pytest

from hushgrid.web.shelf import Shelf
from tests.web.browsers import DESKTOP, PHONE, browser, needs_chromium  # noqa: F401  # fixtures
from tests.web.servers import serving, some_synopses

pytestmark = needs_chromium

SYNOPSES = some_synopses()
BOX = (-110.5, 30.25, -90.0, 45.125)


@pytest.fixture(scope="module")
def address():
    """Where three synopses are served."""
    with serving(Shelf(SYNOPSES.items())) as address:
        yield address


@pytest.fixture
def visit(browser, address):  # noqa: F811
    """Open the first page; when the test is over, only pages were asked for, of this server, and no page complained."""
    contexts, requests, complaints = [], [], []

    def open_page(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        page.wait_for_selector("body.ready")
        return page

    yield open_page
    for context in contexts:
        context.close()
    pages = {address, *(f"{address}{name}/" for name in SYNOPSES)}
    assert complaints == []
    assert {url for url in requests if not url.startswith("data:")} <= pages


def switch(page, label):
    """Follow the link to another release, and wait for its map."""
    page.get_by_role("navigation", name="Releases").get_by_role("link", name=label, exact=True).click()
    page.wait_for_url(f"**/{label.split()[0]}/")
    page.wait_for_selector("body.ready")


def count(page, box):
    """The number the page gives for a typed box."""
    for side, bound in zip(("west", "south", "east", "north"), box, strict=True):
        page.locator(f"#{side}").fill(repr(bound))
    page.get_by_role("button", name="Count this box").click()
    return page.locator("#estimate").inner_text()


def test_every_page_is_reached_by_the_switch_and_answers(visit):
    """Its heading, the mark of where one is, and Python's number for a box."""
    page = visit(**DESKTOP)
    labels = {"trips": "trips", "nested": "nested", "simulated": "simulated (simulation)"}

    for name, label in labels.items():
        switch(page, label)
        assert page.locator("h1").inner_text() == name
        assert page.locator("nav [aria-current=page]").all_inner_texts() == [label]
        assert count(page, BOX) == f"{round(SYNOPSES[name].count(BOX)):,}"
        assert page.locator(".simulation").count() == (name == "simulated")


@pytest.mark.slow
def test_the_switch_works_by_keyboard_and_back(visit):
    """A link takes the focus and Enter; the browser's way back leads back."""
    page = visit(**DESKTOP)
    page.get_by_role("link", name="nested").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/nested/")
    page.wait_for_selector("body.ready")

    assert page.locator("h1").inner_text() == "nested"
    page.go_back()
    page.wait_for_selector("body.ready")
    assert page.locator("h1").inner_text() == "trips"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_switch_fits(visit, device, scheme):
    """Nothing sticks out, links are large enough for a finger, and the current one stands out."""
    page = visit(color_scheme=scheme, **device)
    boxes = [link.bounding_box() for link in page.locator("nav a").all()]

    assert page.evaluate("document.documentElement.scrollWidth") <= device["viewport"]["width"]
    assert len(boxes) == len(SYNOPSES)
    for box in boxes:
        assert box["height"] >= 32
        assert box["x"] + box["width"] <= device["viewport"]["width"]
    colours = page.evaluate("[...document.querySelectorAll('nav a')].map((a) => getComputedStyle(a).backgroundColor)")
    assert colours[0] not in colours[1:]
