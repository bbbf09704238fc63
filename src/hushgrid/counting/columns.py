"""Finds the columns that hold the coordinates.

Only names are looked at, never values.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from hushgrid.errors import ArgumentError, InputError

USUAL_NAMES = (("lon", "lat"), ("long", "lat"), ("lng", "lat"), ("longitude", "latitude"), ("x", "y"))
USUAL_PARTS = (("longitude", "latitude"), ("long", "lat"), ("lon", "lat"), ("lng", "lat"), ("easting", "northing"))
MOST_NAMES_SHOWN = 40


def check_column_arguments(lon: str | None, lat: str | None, geometry: str | None) -> None:
    """Refuse half a pair of names, and a pair together with a geometry.

    Whoever reads points relies on it: a request is checked once, before anything is opened.

    Examples
    --------
    >>> check_column_arguments("x", None, None)
    Traceback (most recent call last):
    hushgrid.errors.ArgumentError: lon and lat go together, got lon='x', lat=None. Name both columns, or neither.
    Try lat='COLUMN'.
    """
    if (lon is None) != (lat is None):
        msg = f"lon and lat go together, got lon={lon!r}, lat={lat!r}. Name both columns, or neither."
        raise ArgumentError(msg, instead={"lat": "COLUMN"} if lat is None else {"lon": "COLUMN"})
    if lon is not None and lon == lat:
        msg = f"lon and lat must name two columns, got {lon!r} for both."
        raise ArgumentError(msg)
    if lon is not None and geometry is not None:
        msg = f"give lon and lat, or geometry, not both; got lon={lon!r}, lat={lat!r}, geometry={geometry!r}."
        raise ArgumentError(msg)


def find_columns(
    names: Sequence[str],
    *,
    lon: str | None = None,
    lat: str | None = None,
    geometry: str | None = None,
    primary_geometry: str | None = None,
    where: str,
    unlisted: str | None = None,
) -> tuple[str, ...]:
    """Columns of longitude and latitude, or of geometries.

    Names that are given must be there. Otherwise the usual pairs are recognised, upper or lower case; there must be
    exactly one. A table without any falls back on `primary_geometry`. A message lists the names there are, or says
    `unlisted` where they may not be shown; `names` are then what `quotable_names` lets through.

    Examples
    --------
    >>> find_columns(["id", "Longitude", "Latitude"], where="trips.csv")
    ('Longitude', 'Latitude')
    >>> find_columns(["id", "geometry"], primary_geometry="geometry", where="trips.parquet")
    ('geometry',)
    """
    given = {"lon": lon, "lat": lat, "geometry": geometry}
    named = {argument: name for argument, name in given.items() if name is not None}
    if named:
        for name in named.values():
            _check_present(name, names, where, unlisted, instead=_nearest(named, names))
        return tuple(named.values())
    pairs = _usual_pairs(names)
    if len(pairs) > 1:
        listed = ", ".join(f"{east!r} and {north!r}" for east, north in pairs)
        msg = f"{where} has more than one pair of columns that may be the coordinates: {listed}. Name them."
        raise InputError(msg, instead=dict(zip(("lon", "lat"), pairs[0], strict=True)))
    if pairs:
        return pairs[0]
    if primary_geometry is not None:
        _check_present(primary_geometry, names, where, unlisted)
        return (primary_geometry,)
    msg = f"{where} has no columns known as coordinates (lon and lat, longitude and latitude, x and y). "
    by = "lon=, lat=, or geometry= (--lon, --lat, --geometry)" if unlisted is None else "lon=, lat= (--lon, --lat)"
    msg += f"Name them: {by}. {listing(names) if unlisted is None else unlisted}"
    raise InputError(msg, instead=_likely_pair(names))


def _usual_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for usual_east, usual_north in USUAL_NAMES:
        easts = [name for name in names if name.lower() == usual_east]
        norths = [name for name in names if name.lower() == usual_north]
        pairs += [(east, north) for east in easts for north in norths]
    return pairs


def quotable_names(names: Sequence[str], asked: Iterable[str | None]) -> list[str]:
    """Names that a message may quote.

    A record may stand where the names should, so only the usual ones and those asked for.

    Examples
    --------
    >>> quotable_names(["Erika", "Mustermann", "Lon"], [None, "ERIKA"])
    ['Erika', 'Lon']
    """
    known = {name.lower() for name in asked if name is not None}.union(*USUAL_NAMES)
    return [name for name in names if name.lower() in known]


def listing(names: Sequence[str]) -> str:
    """A sentence that lists the columns."""
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES_SHOWN])
    more = len(names) - MOST_NAMES_SHOWN
    return f"Its columns are: {shown or 'none'}{f' and {more} more' if more > 0 else ''}."


def nearest_name(name: str, names: Sequence[str]) -> str | None:
    """The column that was likely meant, if any.

    Examples
    --------
    >>> nearest_name("pickup_long", ["id", "Pickup_Lon", "Pickup_Lat"])
    'Pickup_Lon'
    """
    lower = {known.lower(): known for known in names}
    near = get_close_matches(name.lower(), lower, n=1)
    return lower[near[0]] if near else None


def _nearest(given: Mapping[str, str], names: Sequence[str]) -> dict[str, object]:
    """The columns that were likely meant, or none."""
    near = {argument: name if name in names else nearest_name(name, names) for argument, name in given.items()}
    if None not in near.values() and len(set(near.values())) == len(near):
        return dict(near)
    pairs = _usual_pairs(names)
    return dict(zip(("lon", "lat"), pairs[0], strict=True)) if pairs and "geometry" not in given else {}


def _likely_pair(names: Sequence[str]) -> dict[str, object]:
    """A pair of columns such as pickup_lon and pickup_lat."""
    lower = {name.lower(): name for name in names}
    for name in lower:
        for east, north in USUAL_PARTS:
            if east in name and name.replace(east, north) in lower:
                return {"lon": lower[name], "lat": lower[name.replace(east, north)]}
    return {}


def _check_present(
    name: str, names: Sequence[str], where: str, unlisted: str | None, *, instead: Mapping[str, object] | None = None
) -> None:
    if name not in names:
        msg = f"{where} has no column {name!r}. {listing(names) if unlisted is None else unlisted}"
        raise InputError(msg, instead=instead)
    if names.count(name) > 1:
        msg = f"{where} has more than one column {name!r}. Rename all but one."
        raise InputError(msg)
