"""The releases that are served, ready from the start."""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from types import MappingProxyType
from typing import TYPE_CHECKING

from hushgrid.errors import LONGEST_QUOTE
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.page import HERE, map_page
from hushgrid.web.questions import NOT_FOUND, RefusalError

if TYPE_CHECKING:
    from hushgrid.web.series.served import ServedSeries

UNFIT = re.compile(r"[^a-z0-9]+")  # for an address
LONGEST_NAME = 60
NAMELESS = "release"
NAME_OF_SERIES = "series"


def name_of(title: str) -> str:
    """A title as small letters, digits and hyphens.

    Examples
    --------
    >>> name_of("Vélos: 2024/../etc"), name_of("東京")
    ('velos-2024-etc', 'release')
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return UNFIT.sub("-", plain)[:LONGEST_NAME].strip("-") or NAMELESS


def distinct_names(text: str, taken: Collection[str], *, before: str) -> str:
    """The text, with a number if it is taken.

    Examples
    --------
    >>> distinct_names("trips", {"trips", "trips-2"}, before="-")
    'trips-3'
    """
    candidates = chain([text], (f"{text}{before}{number}" for number in count(2)))
    return next(candidate for candidate in candidates if candidate not in taken)


RESERVED = frozenset({"v1", "healthz", NAME_OF_SERIES})  # names of other addresses


@dataclass(frozen=True, kw_only=True, eq=False)
class Shelved:
    """A release with its name and title.

    The name stands in addresses, the title on pages.
    """

    name: str
    title: str
    release: Synopsis | Slices

    @cached_property
    def shown(self) -> Synopsis:
        """The release, or what stands for all of its slices."""
        return self.release.shown() if isinstance(self.release, Slices) else self.release

    @cached_property
    def facts(self) -> Facts:
        """What every answer says of the release."""
        return Facts.of(self.shown)

    @property
    def label(self) -> str:
        """The title, and whether it is a simulation."""
        return f"{self.title} (simulation)" if self.release.simulation else self.title

    def prepare(self) -> None:
        """Make the tables that all answers share, which threads should not race for."""
        self.release.answer(self.release.domain.bounds)
        if isinstance(self.release, Slices):
            self.release.total_of_all()
        if not self.shown.partition.tiles:
            self.release.table()


class Page:
    """A page as bytes, and a tag of them."""

    def __init__(self, text: str) -> None:
        self.content = text.encode()
        self.tag = f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


class Shelf:
    """Releases by name, each with its page.

    Parameters
    ----------
    titled : iterable of (str, Synopsis or Slices)
        In the order they are shown. Titles that occur twice get a number.
    series : ServedSeries, optional
        What they are together.
    """

    def __init__(
        self, titled: Iterable[tuple[str, Synopsis | Slices]], *, series: "ServedSeries | None" = None
    ) -> None:
        self.entries: Mapping[str, Shelved] = MappingProxyType(_entries(titled))
        self.series = series
        self.series_page = None if series is None else Page(series.page(self._links(NAME_OF_SERIES)))
        self.pages = {name: Page(self._page(entry)) for name, entry in self.entries.items()}
        for entry in self.entries.values():
            entry.prepare()

    def entry(self, name: str) -> Shelved:
        """The release of that name."""
        if name not in self.entries:
            msg = f"there is no release {name[:LONGEST_QUOTE]!r}; served are: {', '.join(self.entries)}."
            raise RefusalError(NOT_FOUND, msg)
        return self.entries[name]

    def _page(self, entry: Shelved) -> str:
        others = self._links(entry.name)
        return map_page(entry.release, title=entry.title, releases=others if len(others) > 1 else {})

    def _links(self, here: str) -> dict[str, str]:
        """Titles of all pages, by their addresses relative to one of them."""
        labels = {} if self.series is None else {NAME_OF_SERIES: self.series.label}
        labels |= {name: entry.label for name, entry in self.entries.items()}
        return {HERE if name == here else f"../{name}/": label for name, label in labels.items()}


def _entries(titled: Iterable[tuple[str, Synopsis | Slices]]) -> dict[str, Shelved]:
    entries: dict[str, Shelved] = {}
    titles: set[str] = set()
    for wanted, release in titled:
        title = distinct_names(wanted, titles, before=" ")
        name = distinct_names(name_of(title), RESERVED | entries.keys(), before="-")
        titles.add(title)
        entries[name] = Shelved(name=name, title=title, release=release)
    return entries
