"""The map in a notebook: a page in a frame that reaches nothing outside."""

import tempfile
import webbrowser
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.figures import CONFIDENCE
from hushgrid.web.page import map_page, usual_title

HEIGHT = 460  # CSS pixels of a frame
MOST_CELLS = 300_000  # that a notebook is given to keep unasked; a million are ten megabytes
FRAME = (
    '<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" title="{title}" '
    'style="width: 100%; height: {height}px; border: 1px solid #ccd3da; border-radius: 8px"></iframe>'
)


@dataclass(frozen=True, kw_only=True)
class Map:
    """A release as a web page, which shows itself in a notebook.

    Parameters
    ----------
    title : str
        What it is called.
    page : str
        HTML that stands alone.
    """

    title: str
    page: str = field(repr=False)

    def _repr_html_(self) -> str:
        return FRAME.format(page=escape(self.page), title=escape(self.title), height=HEIGHT)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, and return its path."""
        path = Path(path)
        path.write_text(self.page, encoding="utf-8")
        return path

    def open(self) -> Path:
        """Show the page in a browser, and return the path of its file."""
        folder = Path(tempfile.mkdtemp(prefix="hushgrid-"))
        path = self.save(folder / "map.html")
        webbrowser.open(path.as_uri())
        return path


def map_of(synopsis: Synopsis, *, title: str | None = None, description: str | None = None) -> Map:
    """The map of a release."""
    title = title or usual_title(synopsis)
    return Map(title=title, page=map_page(synopsis, title=title, description=description))


def shown_in_notebook(synopsis: Synopsis) -> str:
    """A release as HTML: its guarantee, its total and its map.

    The map is left out where it would be too large.
    """
    facts, total = Facts.of(synopsis), synopsis.answer(synopsis.domain.bounds)
    bounds = f"{total.low:,.0f} to {total.high:,.0f} {facts.after_bounds(CONFIDENCE)}"
    said = f"About {total.estimate:,.0f} {facts.counted}, {bounds}"
    lines = [said, *facts.caveats, facts.how_made, facts.claim.sentence]
    frame = ""
    if synopsis.partition.cells > MOST_CELLS:
        lines.append(f"{synopsis.partition.cells:,} cells are much for a notebook to keep: synopsis.map() shows them.")
    else:
        frame = map_of(synopsis)._repr_html_()
    return "".join(f"<p style='margin: .2em 0'>{escape(line)}</p>" for line in lines) + frame
