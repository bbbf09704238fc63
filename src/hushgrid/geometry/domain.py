"""The public rectangle a synopsis covers."""

import math
import re
from dataclasses import dataclass
from typing import Self

from hushgrid.errors import ArgumentError

LONGITUDE_LATITUDE = "OGC:CRS84"
GEOGRAPHIC = frozenset({LONGITUDE_LATITUDE, "EPSG:4326"})

# Below this share of the coordinates' own size, doubles cannot tell the cells of a fine grid apart.
SMALLEST_RELATIVE_EXTENT = 1e-9


@dataclass(frozen=True, kw_only=True)
class Domain:
    """A rectangle given by its bounds, public and never taken from the data.

    Parameters
    ----------
    west, south, east, north : float
        Bounds in the units of `crs`; degrees by default. The rectangle is closed: points on its upper edges belong
        to it.
    crs : str
        Coordinate reference system. Longitude comes before latitude whatever the authority says.

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
        for name in ("west", "south", "east", "north"):
            object.__setattr__(self, name, _finite_number(name, getattr(self, name)))
        _check_order(self)
        if self.is_geographic:
            _check_degrees(self)
        _check_extent(self)

    @classmethod
    def parse(cls, text: str, *, crs: str = LONGITUDE_LATITUDE) -> Self:
        """Domain written as ``W,S,E,N``."""
        parts = text.split(",")
        if len(parts) != 4:
            msg = f"a domain is four numbers W,S,E,N separated by commas, got {text!r}."
            numbers = re.split(r"[\s,;]+", text.strip(" ,;[]()"))
            raise ArgumentError(msg, instead={"domain": ",".join(numbers)} if len(numbers) == 4 else None)
        west, south, east, north = parts
        return cls(west=west, south=south, east=east, north=north, crs=crs)  # type: ignore[arg-type]  # text is converted

    @property
    def bounds(self) -> tuple[float, float, float, float]:
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
        """Whether the bounds are degrees of longitude and latitude."""
        return self.crs in GEOGRAPHIC


def _finite_number(name: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # anything float() takes, text from the command line too
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        msg = f"domain {name} must be a finite number, got {name}={value!r}."
        raise ArgumentError(msg)
    return number


def _check_order(domain: Domain) -> None:
    for low, high in (("west", "east"), ("south", "north")):
        if not getattr(domain, low) < getattr(domain, high):
            msg = (
                f"domain {low} must be below {high}, got {low}={getattr(domain, low)}, {high}={getattr(domain, high)}. "
                "The order is W,S,E,N."
            )
            if low == "west" and domain.is_geographic:
                msg += " A domain across the 180th meridian is published as two, one on each side."
            raise ArgumentError(msg, instead=_reordered(domain))


def _check_degrees(domain: Domain) -> None:
    if not -90 <= domain.south < domain.north <= 90:
        msg = (
            f"domain latitudes must be within -90 and 90, got south={domain.south}, north={domain.north}. "
            "Were longitude and latitude swapped? The order is W,S,E,N. "
            "For metres, name their system, as in crs='EPSG:32618' (--grid-crs EPSG:32618)."
        )
        raise ArgumentError(msg, instead=_reordered(domain))
    if not -180 <= domain.west < domain.east <= 180:
        msg = (
            f"domain longitudes must be within -180 and 180, got west={domain.west}, east={domain.east}. "
            "A domain across the 180th meridian is published as two, one on each side."
        )
        raise ArgumentError(msg)


def _reordered(domain: Domain) -> dict[str, object]:
    """The same four numbers in an order that makes a domain, if one of those that people write does."""
    first, second, third, fourth = domain.bounds
    orders = (
        (second, first, fourth, third),  # S,W,N,E
        (third, second, first, fourth),  # E,S,W,N
        (first, fourth, third, second),  # W,N,E,S
        (third, fourth, first, second),  # E,N,W,S
        (fourth, third, second, first),  # N,E,S,W
    )
    for west, south, east, north in orders:
        across_180 = domain.is_geographic and east - west > 180  # more likely than half the world
        if west < east and south < north and not across_180:
            try:
                return {"domain": Domain(west=west, south=south, east=east, north=north, crs=domain.crs)}
            except ArgumentError:
                continue
    return {}


def _check_extent(domain: Domain) -> None:
    for low, high in ((domain.west, domain.east), (domain.south, domain.north)):
        extent = high - low
        if not math.isfinite(extent) or extent < SMALLEST_RELATIVE_EXTENT * max(abs(low), abs(high)):
            msg = f"domain from {low} to {high} is too narrow or too wide to be divided into cells."
            raise ArgumentError(msg)
