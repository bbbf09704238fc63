"""The synopses that are served, by name. Everything is made at the start, so that answering is cheap."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.naming import name_of, numbered
from hushgrid.web.page import HERE, map_page
from hushgrid.web.refusal import NOT_FOUND, RefusalError

RESERVED = frozenset({"v1", "healthz"})  # names of other addresses
LONGEST_QUOTE = 80  # characters of what was asked for, in a message


@dataclass(frozen=True, kw_only=True, eq=False)
class Entry:
    """A synopsis with what it is called: a name in addresses and a title on pages."""

    name: str
    title: str
    synopsis: Synopsis

    @property
    def label(self) -> str:
        """The title, and whether it is a simulation."""
        return f"{self.title} (simulation)" if self.synopsis.simulation else self.title


class Page:
    """The map of a synopsis as bytes, and a tag that changes when they do."""

    def __init__(self, text: str) -> None:
        self.content = text.encode()
        self.tag = f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


class Shelf:
    """Synopses by name, each with its page.

    Parameters
    ----------
    titled : iterable of (str, Synopsis)
        In the order they are shown. Titles that occur twice get a number.
    """

    def __init__(self, titled: Iterable[tuple[str, Synopsis]]) -> None:
        self.entries: Mapping[str, Entry] = MappingProxyType(_entries(titled))
        self.pages = {name: Page(self._page(entry)) for name, entry in self.entries.items()}
        for entry in self.entries.values():
            # Makes the tables that all answers share, which threads should not race for.
            entry.synopsis.answer(entry.synopsis.domain.bounds)

    def entry(self, name: str) -> Entry:
        """The synopsis of that name."""
        if name not in self.entries:
            msg = f"there is no release {name[:LONGEST_QUOTE]!r}; served are: {', '.join(self.entries)}."
            raise RefusalError(NOT_FOUND, msg)
        return self.entries[name]

    def _page(self, entry: Entry) -> str:
        others = {HERE if other is entry else f"../{other.name}/": other.label for other in self.entries.values()}
        return map_page(entry.synopsis, title=entry.title, releases=others if len(others) > 1 else {})


def _entries(titled: Iterable[tuple[str, Synopsis]]) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    titles: set[str] = set()
    for wanted, synopsis in titled:
        title = numbered(wanted, titles, before=" ")
        name = numbered(name_of(title), RESERVED | entries.keys(), before="-")
        titles.add(title)
        entries[name] = Entry(name=name, title=title, synopsis=synopsis)
    return entries
