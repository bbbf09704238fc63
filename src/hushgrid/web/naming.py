"""What a release is called where it is shown: a title for people, a name for addresses."""

import re
import unicodedata
from collections.abc import Collection
from itertools import chain, count
from pathlib import Path

ENDINGS = (".parquet", ".dp")  # of a release file
UNFIT = re.compile(r"[^a-z0-9]+")  # for an address
LONGEST_NAME = 60
NAMELESS = "release"


def title_of(file: Path) -> str:
    """The name of a file without what says that it is a release.

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


def numbered(text: str, taken: Collection[str], *, before: str) -> str:
    """A text that is not taken yet: itself, or the first that is free with a number behind it.

    Examples
    --------
    >>> numbered("trips", {"trips", "trips-2"}, before="-")
    'trips-3'
    """
    candidates = chain([text], (f"{text}{before}{number}" for number in count(2)))
    return next(candidate for candidate in candidates if candidate not in taken)
