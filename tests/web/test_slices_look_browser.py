"""How pages of slices look: labels that fit, phones, and colours that readers force."""

from itertools import pairwise

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.browsers import DESKTOP, PHONE, browser, needs_chromium, visit  # noqa: F401  # fixtures
from tests.web.pages import DOMAIN, some_points
from tests.web.printed import number_of_pages, texts_of

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def slices():
    """Thirteen months, kinds with long names, one alone and forty; each slice has many points."""
    times = hg.By.time("at", "month", start="2025-01-01", end="2026-02-01")
    names = ["WWWWWWWWWWWWWWWWWWWWWWWWW", "a name that no button would hold in one line", *map(str, range(5))]
    many = hg.publish(np.resize(some_points(), (1_300_000, 2)), domain=DOMAIN, epsilon=1, method="ug", calibrate=False)
    made = {"months": times, "long": hg.By("kind", values=names), "alone": hg.By("kind", values=["alone"])}
    made["many"] = hg.By("kind", values=[f"kind{number:02}" for number in range(40)])
    return {name: hg.Slices(by=by, parts=dict.fromkeys(by.names, many)) for name, by in made.items()}


@pytest.fixture(scope="module")
def addresses(slices, tmp_path_factory):
    """Pages of all of them, as files."""
    folder = tmp_path_factory.mktemp("looks")
    for name, each in slices.items():
        (folder / f"{name}.html").write_text(map_page(each), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in slices}


@pytest.fixture(scope="module")
def address(addresses):
    """The page that is visited where a test names none."""
    return addresses["months"]


SPANS = """() => [...document.querySelectorAll('#chart svg text')]
.map((text) => text.getBoundingClientRect())
.map(({ left, right, top }) => [Math.round(top), left, right])"""


@pytest.mark.parametrize("name", ["months", "long"])
def test_names_on_the_chart_are_whole_and_apart(visit, addresses, name):  # noqa: F811
    """None leaves the chart, and none touches what stands in its line."""
    page = visit(addresses[name])
    frame = page.locator("#chart svg").bounding_box()
    lines = {}
    for top, left, right in page.evaluate(SPANS):
        assert frame["x"] - 1 <= left
        assert right <= frame["x"] + frame["width"] + 1
        lines.setdefault(top, []).append((left, right))
    for spans in lines.values():
        spans.sort()
        assert all(after[0] - before[1] > 3 for before, after in pairwise(spans))


def test_one_slice_is_neither_the_most_nor_the_fewest(visit, addresses):  # noqa: F811
    """And has none beside it."""
    page = visit(addresses["alone"])

    assert page.locator("#chart figcaption").inner_text().startswith("By kind: alone, with 1,3")
    assert page.get_by_role("button", name="Side by side").count() == 0


def test_long_names_of_small_maps_begin_with_their_first_letter(visit, addresses):  # noqa: F811
    """They were cut at both ends."""
    page = visit(addresses["long"], **PHONE)
    page.get_by_role("button", name="Side by side").click()
    button = page.locator(".multiple button").nth(1)
    range_of = "button => { const range = document.createRange(); range.selectNodeContents(button); return range"
    first = button.evaluate(f"{range_of}.getClientRects()[0].left; }}")

    assert first >= button.bounding_box()["x"]


def test_side_by_side_is_no_wider_than_a_phone(visit, addresses):  # noqa: F811
    """The last label of the legend, which is moved inwards, took room where it was not."""
    page = visit(addresses["months"], **PHONE)
    page.get_by_role("button", name="Side by side").click()
    page.evaluate("document.querySelector('#legend .ticks > :last-child').style.left = '100%'")

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("innerWidth") == PHONE["viewport"]["width"]


def test_forced_colours_leave_the_legend_and_what_is_pressed(visit, addresses):  # noqa: F811
    page = visit(addresses["long"], forced_colors="active", **DESKTOP)
    style = "(node, name) => getComputedStyle(node)[name]"
    pressed, other = (page.get_by_role("button", name=name) for name in ("All", "0"))

    assert "gradient" in page.locator("#legend .bar").evaluate(style, "backgroundImage")
    assert page.locator("#legend .bar").evaluate(style, "forcedColorAdjust") == "none"
    assert pressed.first.evaluate(style, "backgroundColor") != other.first.evaluate(style, "backgroundColor")


def test_many_kinds_are_a_table_on_paper(visit, addresses):  # noqa: F811
    """Their bars would be too small to read. What is known of the release has its room beside them."""
    page = visit(addresses["many"])
    assert page.locator("#chart svg .name").count() == 40
    pdf = page.pdf(format="A4")

    assert number_of_pages(pdf) == 1
    for words in ("kind00", "kind19", "kind39", "Privacybudget", "Printedon"):
        assert any(words in text for text in texts_of(pdf)), words
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator("#chart svg").is_visible()
    assert page.locator("#chart tbody tr").nth(20).is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("#chart svg").is_visible()
    assert not page.locator("#chart tbody tr").nth(20).is_visible()
