"""Finds the columns that hold the coordinates, and the signs of CSV.

Only names are looked at, never values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NamedTuple, Self

import pyarrow as pa

from hushgrid.errors import ArgumentError, InputError, quoted
from hushgrid.files.columns import USUAL_NAMES, usual_pairs

USUAL_PARTS = (("longitude", "latitude"), ("long", "lat"), ("lon", "lat"), ("lng", "lat"), ("easting", "northing"))
MOST_NAMES_SHOWN = 40
COLUMN = "COLUMN"  # a blank to fill in


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
        raise ArgumentError(msg, instead={"lat": COLUMN} if lat is None else {"lon": COLUMN})
    if lon is not None and lon == lat:
        msg = f"lon and lat must name two columns, got {lon!r} for both."
        raise ArgumentError(msg, instead={"lat": COLUMN})
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
    pairs = list(dict.fromkeys(usual_pairs(names)))
    if len(pairs) > 1:
        listed = ", ".join(f"{east!r} and {north!r}" for east, north in pairs)
        msg = f"{where} has more than one pair of columns that may be the coordinates: {listed}. Name them."
        raise InputError(msg, instead=dict(zip(("lon", "lat"), pairs[0], strict=True)))
    if pairs:
        for name in pairs[0]:
            _check_present(name, names, where, unlisted)
        return pairs[0]
    if primary_geometry is not None:
        _check_present(primary_geometry, names, where, unlisted)
        return (primary_geometry,)
    msg = f"{where} has no columns known as coordinates (lon and lat, longitude and latitude, x and y). "
    by = "lon=, lat=, or geometry= (--lon, --lat, --geometry)" if unlisted is None else "lon=, lat= (--lon, --lat)"
    msg += f"Name them: {by}. {listing(names) if unlisted is None else unlisted}"
    raise InputError(msg, instead=_likely_pair(names) or {"lon": COLUMN, "lat": COLUMN})


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


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, without categories and extensions."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return plain_type(kind.value_type) if pa.types.is_dictionary(kind) else kind


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _nearest(given: Mapping[str, str], names: Sequence[str]) -> dict[str, object]:
    """The columns that were likely meant, or none."""
    near = {argument: name if name in names else nearest_name(name, names) for argument, name in given.items()}
    if None not in near.values() and len(set(near.values())) == len(near):
        return dict(near)
    pairs = usual_pairs(names)
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


DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}  # and what messages call them
TAB_NAMES = ("\\t", "tab")  # as they are typed in a shell
DECIMALS = (".", ",")


class Signs(NamedTuple):
    """What stands between the columns of a CSV file, and in its numbers."""

    delimiter: str
    decimals: str


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """Signs of CSV files as somebody named them.

    Where one is None, nobody did: the header line tells the delimiter, and a number has a decimal point; or a decimal
    comma, if no commas stand between columns.
    """

    delimiter: str | None = None
    decimal: str | None = None

    @classmethod
    def of(cls, *, delimiter: str | None = None, decimal: str | None = None) -> Self:
        r"""Check the arguments of `hushgrid.publish`.

        Examples
        --------
        >>> Dialect.of(delimiter="tab", decimal=",")
        Dialect(delimiter='\t', decimal=',')
        """
        if isinstance(delimiter, str) and delimiter.lower() in TAB_NAMES:
            delimiter = "\t"
        if delimiter is not None and delimiter not in DELIMITERS:
            msg = f"delimiter must be ',', ';', '|' or 'tab', got delimiter={quoted(delimiter)}."
            raise ArgumentError(msg)
        if decimal is not None and decimal not in DECIMALS:
            msg = f"decimal must be '.' or ',', got decimal={quoted(decimal)}."
            raise ArgumentError(msg)
        if decimal is not None and decimal == delimiter:
            msg = "decimal and delimiter are both ',': nobody could tell the number 52,5 from two columns. Name the "
            msg += "sign between the columns, or save the table with semicolons between them."
            raise ArgumentError(msg, instead={"delimiter": ";"})
        return cls(delimiter=delimiter, decimal=decimal)

    @property
    def is_given(self) -> bool:
        """Whether somebody named a sign."""
        return self.delimiter is not None or self.decimal is not None

    def signs(self, delimiter: str, *, where: str) -> Signs:
        """The signs of a file, by the delimiter of its header.

        Each number tells its own sign, where nobody named it and it cannot be taken for a delimiter: 52,5 and 52.5 are
        one number, and 1,052.5 is none.
        """
        if self.decimal == delimiter:
            msg = f"{where} has commas between its columns, so that the number 52,5 would be two of them. Save it with "
            msg += "semicolons or tabs between its columns, or leave out decimal (--decimal)."
            raise InputError(msg)
        return Signs(delimiter, self.decimal or ("." if delimiter == "," else ".,"))


NOT_NAMED = Dialect()


def refuse_signs(dialect: Dialect, where: str) -> None:
    """Refuse signs that were named for points that are not CSV."""
    if dialect.is_given:
        msg = f"decimal and delimiter (--decimal, --delimiter) are about CSV files, and {where} is not one. Leave them "
        msg += "out."
        raise ArgumentError(msg)


Meaning = Literal["longitude", "latitude", "points", "user", "slice"]


class DeclaredColumn(NamedTuple):
    """A column that points are read from, by its declaration."""

    meaning: Meaning
    name: str
    kind: str  # its declared type


@dataclass(frozen=True, kw_only=True)
class PointSchema:
    """What points are, and which columns they are read from.

    Privacy
    -------
    Nothing of it depends on a row: no number of rows, and no name that nobody asked for and that may be a record.
    """

    form: str
    columns: tuple[DeclaredColumn, ...] = ()


def schema_of(points: object) -> PointSchema | None:
    """What opened points tell of their columns, if they do."""
    schema: PointSchema | None = getattr(points, "schema", None)
    return schema


def columns_by_meaning(
    coordinates: Mapping[str, object],
    users: Mapping[str, object] | None = None,
    slices: Mapping[str, object] | None = None,
) -> tuple[DeclaredColumn, ...]:
    """Columns with their meaning, each given as its name and declared type.

    Two columns of coordinates are longitude and latitude; one holds points. Slices and periods are by the values of
    others.

    Examples
    --------
    >>> [column.meaning for column in columns_by_meaning({"x": "double", "y": "double"}, {"who": "string"})]
    ['longitude', 'latitude', 'user']
    """
    meanings: tuple[Meaning, ...] = ("longitude", "latitude") if len(coordinates) == 2 else ("points",)
    places = zip(meanings, coordinates.items(), strict=True)
    return (
        *(DeclaredColumn(meaning, name, str(kind)) for meaning, (name, kind) in places),
        *(DeclaredColumn("user", name, str(kind)) for name, kind in (users or {}).items()),
        *(DeclaredColumn("slice", name, str(kind)) for name, kind in (slices or {}).items()),
    )
