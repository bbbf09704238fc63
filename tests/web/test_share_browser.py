"""What a reader takes away from the page in a real browser: a link."""

import pytest

from tests.web.browsers import (  # noqa: F401  # fixtures
    address,
    browser,
    drag,
    needs_chromium,
    numbers,
    queries,
    synopsis,
    visit,
)

pytestmark = needs_chromium


def test_a_link_restores_the_view_and_the_questions(visit, synopsis):  # noqa: F811
    """The address holds them, and says nothing to anybody."""
    page = visit()
    drag(page, (300, 200), (620, 560))
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(500)
    page.get_by_role("group", name="Show").get_by_role("button", name="Both").click()
    [asked] = queries(page)
    again = visit(page.url)

    assert "#at=" in page.url
    assert again.evaluate("hushgrid.map.getZoom()") == 1
    assert again.evaluate("hushgrid.cells.view") == "both"
    [restored] = queries(again)
    assert numbers(restored, "estimate", "west", "north") == pytest.approx(
        numbers(asked, "estimate", "west", "north"), abs=0.01
    )


@pytest.mark.parametrize("spoiled", ["#at=1,2", "#at=x,y,z&show=nothing", "#ask=box,1,2&ask=polygon,%00", "#%%%"])
def test_a_spoiled_link_opens_the_whole_map(visit, address, spoiled):  # noqa: F811
    """What cannot be understood is passed over."""
    page = visit(address + spoiled)

    assert page.evaluate("hushgrid.map.getZoom()") == 0
    assert queries(page) == []
