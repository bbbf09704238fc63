"""The synopses that are served, ready from the start."""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType

from hushgrid.geometry.areas import AreaPartition
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.page import HERE, map_page
from hushgrid.web.questions import NOT_FOUND, RefusalError

ENDINGS = (".parquet", ".dp")  # of a release file
UNFIT = re.compile(r"[^a-z0-9]+")  # for an address
LONGEST_NAME = 60
NAMELESS = "release"


def title_of(file: Path) -> str:
    """The name of a release file without its endings.

    Examples
    --------
    >>> title_of(Path("city/Trips 2024.dp.parquet"))
    'Trips 2024'
    """
    title = file.name
    for ending in ENDINGS:
        title = title.removesuffix(ending)
    return title or file.name


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


RESERVED = frozenset({"v1", "healthz"})  # names of other addresses
LONGEST_QUOTE = 80  # characters of what was asked for, in a message


@dataclass(frozen=True, kw_only=True, eq=False)
class Shelved:
    """A synopsis with its name and title.

    The name stands in addresses, the title on pages.
    """

    name: str
    title: str
    synopsis: Synopsis

    @cached_property
    def facts(self) -> Facts:
        """What every answer says of the release."""
        return Facts.of(self.synopsis)

    @property
    def label(self) -> str:
        """The title, and whether it is a simulation."""
        return f"{self.title} (simulation)" if self.synopsis.simulation else self.title


class Page:
    """A page as bytes, and a tag of them."""

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
        self.entries: Mapping[str, Shelved] = MappingProxyType(_entries(titled))
        self.pages = {name: Page(self._page(entry)) for name, entry in self.entries.items()}
        for entry in self.entries.values():
            # Makes the tables that all answers share, which threads should not race for.
            entry.synopsis.answer(entry.synopsis.domain.bounds)
            if isinstance(entry.synopsis.partition, AreaPartition):
                entry.synopsis.table()

    def entry(self, name: str) -> Shelved:
        """The synopsis of that name."""
        if name not in self.entries:
            msg = f"there is no release {name[:LONGEST_QUOTE]!r}; served are: {', '.join(self.entries)}."
            raise RefusalError(NOT_FOUND, msg)
        return self.entries[name]

    def _page(self, entry: Shelved) -> str:
        others = {HERE if other is entry else f"../{other.name}/": other.label for other in self.entries.values()}
        return map_page(entry.synopsis, title=entry.title, releases=others if len(others) > 1 else {})


def _entries(titled: Iterable[tuple[str, Synopsis]]) -> dict[str, Shelved]:
    entries: dict[str, Shelved] = {}
    titles: set[str] = set()
    for wanted, synopsis in titled:
        title = distinct_names(wanted, titles, before=" ")
        name = distinct_names(name_of(title), RESERVED | entries.keys(), before="-")
        titles.add(title)
        entries[name] = Shelved(name=name, title=title, synopsis=synopsis)
    return entries
