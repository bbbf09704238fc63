"""The site is built without a warning, and asks the network for nothing."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.page import ROOT

FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}
ELSEWHERE = re.compile(r"(https?:)?//")
FROM_ELSEWHERE = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//")


class Addresses(HTMLParser):
    """What a page makes a browser fetch by itself, where its links lead, and which places it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = {""}
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note the address of a script, a style, an icon, a picture or a link, and the name of a place."""
        given = {name: value for name, value in attributes if value is not None}
        self.places.add(given.get("id", ""))
        if tag in FETCHED and FETCHED[tag] in given:
            self.fetched.append(given[FETCHED[tag]])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])

    @property
    def fetched_elsewhere(self) -> list[str]:
        """What is fetched from outside the site."""
        return [address for address in self.fetched if ELSEWHERE.match(address)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", ROOT / "docs", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_page_is_on_the_site(site: Path) -> None:
    """All of docs/, with a link from the page before it."""
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]

    assert len(pages) > 20
    assert [page for page in pages if not (site / page.with_suffix(".html")).exists()] == []


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    """Pages and styles fetch nothing from other sites."""
    pages = {path.name: Addresses(path.read_text()).fetched_elsewhere for path in site.rglob("*.html")}
    styles = [path.name for path in site.rglob("*.css") if re.search(FROM_ELSEWHERE, path.read_text())]

    assert {name: addresses for name, addresses in pages.items() if addresses} == {}
    assert styles == []


@pytest.mark.slow
def test_links_inside_the_site_lead_somewhere(site: Path) -> None:
    """To a file, and to a place in it."""
    pages = {path.resolve(): Addresses(path.read_text()) for path in site.rglob("*.html")}
    nowhere = []
    for path, page in pages.items():
        for link in page.links:
            if ELSEWHERE.match(link) or link.startswith("mailto:"):
                continue
            name, _, place = link.partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            if not target.exists() or (target in pages and unquote(place) not in pages[target].places):
                nowhere.append(f"{path.name}: {link}")

    assert sum(len(page.links) for page in pages.values()) > 1000
    assert nowhere == []


@pytest.mark.slow
def test_links_to_source_files_lead_to_copies(site: Path) -> None:
    """Those of the page on the file format, which a code host opens in the repository."""
    html = (site / "file-format.html").read_text()
    copies = re.findall(r'href="(_downloads/[^"]+\.py)"', html)

    assert len(copies) > 3
    assert all((site / copy).exists() for copy in copies)


def test_a_page_that_fetches_is_noticed() -> None:
    """Negative control: a script, a style and a picture from elsewhere are; links, which are clicked on, are not."""
    html = """<script src="https://cdn.example/x.js"></script><link rel="stylesheet" href="//fonts.example/y.css">
    <img src="http://example/z.png"><script src="_static/own.js"></script><a href="https://geoparquet.org">a link</a>"""

    assert len(Addresses(html).fetched_elsewhere) == 3
