"""Tiles of a map server below a release, for those who ask for them."""

import re
from dataclasses import dataclass

from hushgrid.errors import ArgumentError, quoted
from hushgrid.geometry.domain import Domain

NO_REQUESTS = "It makes no network requests."

# Neither part may hold what would end a directive of the page's policy, which names the origin.
ADDRESS = re.compile(r"(?P<origin>https?://[A-Za-z0-9.-]+(?::\d{1,5})?)/(?P<path>[!-~]*)")
PLACES = ("{z}", "{x}", "{y}")
EXAMPLE = "https://tiles.example.org/{z}/{x}/{y}.png"


@dataclass(frozen=True)
class Basemap:
    """Tiles in Web Mercator, from one server.

    Parameters
    ----------
    url : str
        Address of a tile, with ``{z}``, ``{x}`` and ``{y}`` where its zoom, column and row go.
    credit : str, optional
        Whom to name on the map and below it. [default: the server]

    Examples
    --------
    >>> Basemap("https://tiles.example.org/{z}/{x}/{y}.png").origin
    'https://tiles.example.org'
    """

    url: str
    credit: str = ""

    def __post_init__(self) -> None:
        if "{s}" in self.url:
            msg = "a basemap has one server, so {s} has no place in its address. Write one of the hosts out."
            raise ArgumentError(msg)
        match = ADDRESS.fullmatch(self.url)
        named = re.findall(r"\{[^}]*\}?|\}", match["path"]) if match else []
        if match is None or sorted(named) != sorted(PLACES):
            msg = (
                f"a basemap is the http or https address of tiles with {{z}}, {{x}} and {{y}} once each, such as "
                f"{EXAMPLE}, got {quoted(self.url)}."
            )
            raise ArgumentError(msg)
        object.__setattr__(self, "credit", " ".join(self.credit.split()) or self.host)

    @property
    def origin(self) -> str:
        """Scheme, host and port of the server: all that the page may reach."""
        return self.url[: self.url.index("/", len("https://"))]

    @property
    def host(self) -> str:
        """The server as people name it."""
        return self.origin.split("//")[1]

    @property
    def words(self) -> str:
        """What the page says of the network."""
        return (
            f"Its background comes over the network from {self.host}, which learns what part of the map is looked at; "
            f"nothing else is requested. Background: {self.credit}."
        )

    def check_domain(self, domain: Domain) -> None:
        """Refuse coordinates of a plane, which tiles do not fit."""
        if not domain.is_geographic:
            msg = (
                f"a basemap needs a release in longitude and latitude, and this one is in {domain.crs}. "
                "Draw it without, or give lines of your own as an overlay."
            )
            raise ArgumentError(msg)
