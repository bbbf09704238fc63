"""A background of tiles: one server, named in the policy and in words."""

import re

import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import Grid
from hushgrid.web.basemap import Basemap
from hushgrid.web.page import map_page
from tests.synopses import synopsis_on
from tests.web.pages import DOMAIN, facts_of
from tests.web.test_page import HOSTILE, Tags, policy_of

SYNOPSIS = synopsis_on(Grid(domain=DOMAIN, rows=6, columns=9))
URL = "https://tiles.example.org/v1/{z}/{x}/{y}.png?key=a1"


def footer_of(page):
    """The words below the counts, on one line."""
    return " ".join(re.search(r"<footer>(.*?)</footer>", page, re.DOTALL)[1].split())


def test_only_the_server_of_the_tiles_is_let_in():
    """Pictures of its host alone; all else stays as closed as without."""
    closed, opened = policy_of(map_page(SYNOPSIS)), policy_of(map_page(SYNOPSIS, basemap=Basemap(URL)))

    assert closed["img-src"] == "data: blob:"
    assert opened == closed | {"img-src": "data: blob: https://tiles.example.org"}


def test_the_words_about_the_network_are_true():
    """Without a basemap nothing is asked for; with one, the page names whom it asks and who made the tiles."""
    page = map_page(SYNOPSIS, basemap=Basemap(URL, "© The Mappers"))

    assert "makes no network requests" in footer_of(map_page(SYNOPSIS))
    assert "no network requests" not in footer_of(page)
    assert "tiles.example.org" in footer_of(page)
    assert "© The Mappers" in footer_of(page)
    assert "Natural Earth" not in footer_of(page)
    assert '<meta name="referrer" content="no-referrer">' in page


def test_tiles_take_the_place_of_land_and_borders():
    """The page knows their address, and carries no coastlines."""
    facts = facts_of(map_page(SYNOPSIS, basemap=Basemap(URL)))

    assert facts["basemap"] == {"url": URL, "credit": "tiles.example.org"}
    assert "atlas" not in facts


def test_a_hostile_credit_is_text():
    """On the map and below it."""
    page = map_page(SYNOPSIS, basemap=Basemap(URL, HOSTILE))

    assert not any(tag == "img" for tag, _ in Tags(page).tags)
    assert facts_of(page)["basemap"]["credit"] == HOSTILE


@pytest.mark.parametrize(
    "url",
    [
        "tiles.example.org/{z}/{x}/{y}.png",
        "ftp://tiles.example.org/{z}/{x}/{y}.png",
        "https://tiles.example.org/{z}/{x}.png",
        "https://tiles.example.org/{z}/{x}/{y}{r}.png",
        "https://tiles.example.org/{z}/{x}/{y}/{y}.png",
        "https://{z}.example.org/{z}/{x}/{y}.png",
        "https://me@tiles.example.org/{z}/{x}/{y}.png",
        "https://tiles.example.org; script-src */{z}/{x}/{y}.png",
        "https://*/{z}/{x}/{y}.png",
        "https://tiles.example.org/{z}/{x}/{y} .png",
        "https://tiles.example.org",
    ],
)
def test_what_is_not_the_address_of_tiles_is_refused(url):
    """Other schemes, other gaps to fill, and whatever could loosen the policy."""
    with pytest.raises(ArgumentError, match=r"\{z\}, \{x\} and \{y\}"):
        Basemap(url)


def test_many_hosts_are_refused():
    """The message says what to do."""
    with pytest.raises(ArgumentError, match="one of the hosts"):
        Basemap("https://{s}.example.org/{z}/{x}/{y}.png")


def test_a_plane_has_no_basemap():
    """Tiles are in Web Mercator, and a page of metres is not."""
    metres = hg.Domain(west=4e5, south=1e5, east=5e5, north=2e5, crs="EPSG:27700")

    with pytest.raises(ArgumentError, match="longitude and latitude, and this one is in EPSG:27700"):
        map_page(synopsis_on(Grid(domain=metres, rows=3, columns=3)), basemap=Basemap(URL))
