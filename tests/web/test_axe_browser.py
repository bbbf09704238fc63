"""Accessibility in a real browser: what axe-core finds on every kind of page, in both themes, wide and narrow."""

import json
from pathlib import Path

import pytest

from hushgrid.web.page import map_page
from tests.web.browsers import DESKTOP, PHONE, address, browser, needs_chromium, synopsis, visit  # noqa: F401  # fixtures
from tests.web.districts import district_release, frame

pytestmark = needs_chromium

AXE = Path(__file__).with_name("axe-core") / "axe.min.js"
RUN = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)"


@pytest.fixture(scope="module")
def addresses(synopsis, address, tmp_path_factory):  # noqa: F811
    """A page of cells, one of areas, and one of cells below an overlay."""
    folder = tmp_path_factory.mktemp("pages")
    overlay = json.loads(frame().to_json())
    pages = {
        "areas": map_page(district_release(), title="Trips"),
        "overlay": map_page(synopsis, title="Trips", overlay=overlay, area_name="county"),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {"cells": address} | {name: (folder / f"{name}.html").as_uri() for name in pages}


def faults(page):
    """Serious and critical faults, by name, with the first element that has each."""
    page.evaluate(AXE.read_text(encoding="utf-8"))  # by the debugger: the page's own policy lets no script in
    found = page.evaluate(RUN)
    return {fault["id"]: fault["nodes"][0]["html"] for fault in found if fault["impact"] in ("serious", "critical")}


def ask(page, kind):
    """Ask a question, or choose an area."""
    if kind != "areas":
        ring = [[-110, 25], [-95, 25], [-95, 40], [-110, 40]]
        page.evaluate("(ring) => hushgrid.asking.count('box', [[ring]])", ring)
    if kind != "cells":
        page.locator("#districts tbody button").first.click()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["wide", "narrow"])
@pytest.mark.parametrize("kind", ["cells", "areas", "overlay"])
def test_no_serious_fault_is_found(visit, addresses, kind, device, scheme):  # noqa: F811
    """Before and after a question."""
    page = visit(addresses[kind], color_scheme=scheme, **device)
    before = faults(page)
    ask(page, kind)

    assert (before, faults(page)) == ({}, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        ("document.querySelector('#print').textContent = ''", "button-name"),
        ("document.querySelector('.sentence').style.color = 'rgb(200, 200, 200)'", "color-contrast"),
    ],
)
def test_faults_would_be_found(visit, spoil, fault):  # noqa: F811
    """A button without a name, and pale words."""
    page = visit()
    page.evaluate(spoil)

    assert fault in faults(page)
