"""A release in a notebook: what it is, and its map in a frame that reaches nothing."""

from html.parser import HTMLParser

import pytest

import hushgrid as hg
from hushgrid.web import notebook
from tests.web.pages import DOMAIN, some_points


@pytest.fixture(scope="module")
def synopsis():
    """A small release."""
    return hg.publish(some_points(), domain=DOMAIN, epsilon=1, method="ag", calibrate=False)


class Frames(HTMLParser):
    """Attributes of every frame."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        """Keep those of frames, and refuse what would run outside of one."""
        assert tag in ("p", "iframe")
        if tag == "iframe":
            self.found.append(dict(attributes))


def test_a_release_shows_its_map_in_a_closed_frame(synopsis):
    """The page is the map's own, and may run scripts but not reach the notebook."""
    html = synopsis._repr_html_()
    [frame] = Frames(html).found

    assert frame["srcdoc"] == synopsis.map().page
    assert "allow-same-origin" not in frame["sandbox"]
    assert f"{synopsis.answer(DOMAIN.bounds).estimate:,.0f}" in html
    assert "Adding or removing any one record" in html


def test_a_large_release_is_told_of_but_not_embedded(synopsis, monkeypatch):
    """A notebook would keep megabytes that nobody asked for."""
    monkeypatch.setattr(notebook, "MOST_CELLS", 10)
    html = synopsis._repr_html_()

    assert Frames(html).found == []
    assert "synopsis.map()" in html


def test_a_map_is_saved_and_opened(synopsis, tmp_path, monkeypatch):
    """As one file, in the browser of the machine."""
    opened = []
    monkeypatch.setattr(notebook.webbrowser, "open", opened.append)
    shown = synopsis.map(title="Trips <of> a day")
    path = shown.save(tmp_path / "map.html")

    assert path.read_text(encoding="utf-8") == shown.page
    assert "<title>Trips &lt;of&gt; a day</title>" in shown.page
    assert shown.open().read_text(encoding="utf-8") == shown.page
    assert len(opened) == 1


def test_the_title_of_a_frame_is_text(synopsis):
    """Quotes do not end an attribute."""
    [frame] = Frames(synopsis.map(title='"><script>')._repr_html_()).found

    assert frame["title"] == '"><script>'
