"""The public rectangle a synopsis covers."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from hushgrid.errors import ArgumentError, quoted

LONGITUDE_LATITUDE = "OGC:CRS84"
GEOGRAPHIC = frozenset({LONGITUDE_LATITUDE, "EPSG:4326"})

# Below this share of the coordinates' own size, doubles cannot tell the cells of a fine grid apart.
SMALLEST_RELATIVE_EXTENT = 1e-9
# No place lies farther out or is smaller: areas and numbers of cells in an extent stay finite and above zero.
FARTHEST = 1e100

Bounds = tuple[float, float, float, float]
BOUNDS = ("west", "south", "east", "north")


@dataclass(frozen=True, kw_only=True)
class Domain:
    """A public rectangle, never taken from the data.

    Parameters
    ----------
    west, south, east, north : float
        Bounds in the units of `crs`; degrees by default. The rectangle is closed: points on its upper edges belong
        to it.
    crs : str
        Coordinate reference system of the bounds and of the cells. The points may be in another one, given by
        ``publish(crs=...)``. Longitude comes before latitude whatever the authority says.

    Examples
    --------
    >>> Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
    Domain(west=-74.26, south=40.48, east=-73.7, north=40.92, crs='OGC:CRS84')
    >>> Domain.parse("-126,17,-66,57").width
    60.0
    """

    west: float
    south: float
    east: float
    north: float
    crs: str = LONGITUDE_LATITUDE

    def __post_init__(self) -> None:
        if not isinstance(self.crs, str):
            msg = f"crs must be a text such as 'EPSG:32618', got crs={quoted(self.crs)}."
            raise ArgumentError(msg)
        for name in BOUNDS:
            object.__setattr__(self, name, _finite_number(name, getattr(self, name)))
        fault = _fault(self.bounds, is_geographic=self.is_geographic)
        if fault is not None:
            raise ArgumentError(fault, instead=_reordered(self))

    @classmethod
    def parse(cls, text: str, *, crs: str = LONGITUDE_LATITUDE) -> Self:
        """Domain written as ``W,S,E,N``."""
        parts = text.split(",")
        is_right = len(parts) == 4 and all(map(math.isfinite, map(number_of, parts)))
        better = {} if is_right else _separated(text, crs)
        if len(parts) != 4 or better:
            msg = f"a domain is four numbers W,S,E,N separated by commas, got {quoted(text)}."
            raise ArgumentError(msg, instead=better)
        west, south, east, north = parts
        return cls(west=west, south=south, east=east, north=north, crs=crs)  # type: ignore[arg-type]  # text is converted

    @property
    def bounds(self) -> Bounds:
        """West, south, east, north."""
        return self.west, self.south, self.east, self.north

    @property
    def width(self) -> float:
        """East minus west."""
        return self.east - self.west

    @property
    def height(self) -> float:
        """North minus south."""
        return self.north - self.south

    @property
    def is_geographic(self) -> bool:
        """Whether bounds are degrees of longitude and latitude."""
        return self.crs in GEOGRAPHIC

    @property
    def axes(self) -> tuple[str, str]:
        """What the two coordinates of a point are called."""
        return ("longitude", "latitude") if self.is_geographic else ("easting", "northing")


def exact_text(bounds: Iterable[float]) -> str:
    """Bounds as ``W,S,E,N``, which reads back as the same numbers.

    Examples
    --------
    >>> exact_text((-74.0, 40.25, -73.0, 41.0))
    '-74,40.25,-73,41'
    """
    return ",".join(repr(float(bound)).removesuffix(".0") for bound in bounds)


def number_of(value: object) -> float:
    """The value as a number; NaN if it is not one, or too large.

    Examples
    --------
    >>> number_of("1.5"), number_of(None), number_of(10**400)
    (1.5, nan, nan)
    """
    if isinstance(value, complex):  # of numpy's, float() would take the real part
        return math.nan
    try:
        return float(value)  # type: ignore[arg-type]  # anything float() takes, text from the command line too
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _finite_number(name: str, value: object) -> float:
    number = number_of(value)
    if not math.isfinite(number):
        msg = f"domain {name} must be a finite number, got {name}={quoted(value)}."
        raise ArgumentError(msg)
    return number


def _fault(bounds: Bounds, *, is_geographic: bool) -> str | None:
    """Why finite bounds make no domain, or None."""
    west, south, east, north = bounds
    across_180 = " A domain across the 180th meridian is published as two, one on each side."
    if not west < east:
        said = f"domain west must be below east, got west={west}, east={east}. The order is W,S,E,N."
        return said + across_180 if is_geographic else said
    if not south < north:
        return f"domain south must be below north, got south={south}, north={north}. The order is W,S,E,N."
    if is_geographic and not -90 <= south < north <= 90:
        return (
            f"domain latitudes must be within -90 and 90, got south={south}, north={north}. "
            "Were longitude and latitude swapped? The order is W,S,E,N. "
            "For metres, name their system, as in crs='EPSG:32618' (--domain-crs EPSG:32618)."
        )
    if is_geographic and not -180 <= west < east <= 180:
        return f"domain longitudes must be within -180 and 180, got west={west}, east={east}.{across_180}"
    for low, high in ((west, east), (south, north)):
        farthest = max(abs(low), abs(high))
        if farthest > FARTHEST or high - low < max(SMALLEST_RELATIVE_EXTENT * farthest, 1 / FARTHEST):
            return f"domain from {low} to {high} is too narrow or too wide to be divided into cells."
    return None


def _reordered(domain: Domain) -> dict[str, object]:
    """The same numbers in an order that makes a domain.

    Only orders that people write are tried; nothing if none fits.
    """
    first, second, third, fourth = domain.bounds
    orders = (
        (second, first, fourth, third),  # S,W,N,E
        (third, second, first, fourth),  # E,S,W,N
        (first, fourth, third, second),  # W,N,E,S
        (third, fourth, first, second),  # E,N,W,S
        (fourth, third, second, first),  # N,E,S,W
    )
    for bounds in orders:
        west, south, east, north = bounds
        across_180 = domain.is_geographic and east - west > 180  # more likely than half the world
        if not across_180 and _fault(bounds, is_geographic=domain.is_geographic) is None:
            return {"domain": Domain(west=west, south=south, east=east, north=north, crs=domain.crs)}
    return {}


MINUS_SIGNS = str.maketrans("\u2212\u2013", "--")  # of typesetting: the minus and the dash
LONGITUDE, LATITUDE = (
    re.compile(rf"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)°?([{sides}]?)", re.IGNORECASE) for sides in ("EW", "NS")
)


def _separated(text: str, crs: str) -> dict[str, object]:
    """The domain of four numbers written otherwise, if any.

    Examples
    --------
    >>> _separated("[-74.26 40.48 -73.70 40.92]", "OGC:CRS84"), _separated("74,26W; 40,48N; 73,7W; 40,92N", "OGC:CRS84")
    ({'domain': '-74.26,40.48,-73.70,40.92'}, {'domain': '-74.26,40.48,-73.7,40.92'})
    """
    text = text.translate(MINUS_SIGNS).strip(" ,;[](){}")
    with_point, with_comma = re.split(r"[\s,;]+", text), re.split(r"[\s;]+", text)
    for words in (with_point, [word.strip(",").replace(",", ".") for word in with_comma]):
        found = [kind.fullmatch(word) for kind, word in zip((LONGITUDE, LATITUDE) * 2, words, strict=False)]
        numbers = [f"-{one[1]}" if one[2] in {*"WSws"} else one[1] for one in found if one is not None]
        if len(words) == len(numbers) == 4 and all(map(math.isfinite, map(number_of, numbers))):
            try:
                Domain.parse(",".join(numbers), crs=crs)
            except ArgumentError as error:
                return error.instead
            return {"domain": ",".join(numbers)}
    return {}
