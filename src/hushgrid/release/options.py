"""The options that shape a release: their defaults, and what each may be."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypedDict

from hushgrid.counting.bounding import Estimate, MissingUser, UserLevel
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.methods.method import Method, PublicPartition, check_whole, is_whole
from hushgrid.privacy.budget import SIZE_SHARE
from hushgrid.privacy.exact import Exactable
from hushgrid.slices.by import By
from hushgrid.synopsis.claim import SizeSource


class Options(TypedDict, total=False):
    """The options of `hushgrid.publish` that shape a release."""

    lon: str | None
    lat: str | None
    geometry: str | None
    crs: str | None
    delimiter: str | None
    decimal: str | None
    user: Any  # a name, or ids beside an array
    max_per_user: int | None
    missing_user: MissingUser
    scale_to_total: int | Literal["private"] | None
    max_for_total: int | None
    kept_share: bool
    estimate: Estimate
    distinct: bool
    public_size: int | None
    size_from: SizeSource
    size_share: Exactable
    max_cells: int | None
    calibrate: bool
    prior: str | Path | None
    prior_weight: str | None
    aim: Any  # a scale, the path of a file, or polygons
    period: str | None
    time: str | None
    timezone: str | None


DEFAULTS: Options = {
    "lon": None,
    "lat": None,
    "geometry": None,
    "crs": None,
    "delimiter": None,
    "decimal": None,
    "user": None,
    "max_per_user": None,
    "missing_user": "drop",
    "scale_to_total": None,
    "max_for_total": None,
    "kept_share": True,
    "estimate": "kept-records",
    "distinct": False,
    "public_size": None,
    "size_from": "rows",
    "size_share": SIZE_SHARE,
    "max_cells": None,
    "calibrate": True,
    "prior": None,
    "prior_weight": None,
    "aim": None,
    "period": None,
    "time": None,
    "timezone": None,
}


def check_names(options: Options) -> None:
    """Refuse an unknown option, as Python does."""
    for name in options.keys() - DEFAULTS.keys():
        near = get_close_matches(name, DEFAULTS, n=1)
        msg = f"publish() got an unexpected keyword argument {name!r}."
        raise TypeError(f"{msg} Did you mean {near[0]!r}?" if near else msg)


def check_public_size(value: int | None) -> int | None:
    """Refuse a size that is not a number of points."""
    if value is not None and (not is_whole(value) or value < 0):
        msg = f"public_size must be a whole number of at least 0, got public_size={value!r}."
        raise ArgumentError(msg)
    return value


FEWEST_CELLS = 100  # that a limit may leave: AG begins with as many, and STAQ with 64


def check_max_cells(value: int | None) -> int | None:
    """Refuse a limit that leaves too few cells, or allows too many."""
    if value is not None:
        check_whole(value, name="max_cells", low=FEWEST_CELLS, high=CELL_LIMIT)
    return value


# What means nothing for slices, or something else, and why.
NOT_WITH_SLICES = {
    "distinct": "distinct users of several slices together would count once in each slice",
    "estimate": "estimate='all-records' corrects counts region by region, for all slices together",
    "scale_to_total": "a total is of all slices, and says nothing of how it divides among them",
    "max_for_total": "a total of all records is not measured for slices",
    "public_size": "public_size is of all points, and says nothing of how they divide among slices",
    "period": "a period is one slice of time; for several, give hg.By.time a range",
}


def check_slice_options(given: Mapping[str, Any], by: By) -> None:
    """Refuse options that do not go together with slices."""
    asked = {**given, "estimate": None if given["estimate"] == "kept-records" else given["estimate"]}
    for name, why in NOT_WITH_SLICES.items():
        if asked[name]:
            msg = f"{name} and by do not go together: {why}. Leave {name} out, or publish one slice by itself, from "
            msg += f"the rows that have its {' and '.join(by.columns)}."
            raise ArgumentError(msg)


def check_sliced_cells(slices: int, cells: int | None, max_cells: int | None) -> None:
    """Refuse slices with more cells than fit, and say what fits.

    Parameters
    ----------
    slices : int
        How many releases there are, the total too.
    cells : int or None
        Cells of each, where they are public.
    max_cells : int or None
        Most cells of each, where a limit was asked for.
    """
    most, fit = cells or max_cells or 1, CELL_LIMIT // slices
    if most > fit:
        msg = f"{slices:,} slices of {most:,} cells are over the limit of {CELL_LIMIT:,} cells. That many slices may "
        msg += f"have {fit:,} cells each, or there may be {CELL_LIMIT // most:,} slices."
        raise ArgumentError(msg, instead=None if cells else {"max_cells": fit})


def check_size_from(value: SizeSource) -> SizeSource:
    """Refuse to size a partition by anything else."""
    if value not in ("rows", "domain"):
        msg = f"size_from must be 'rows' or 'domain', got size_from={value!r}."
        raise ArgumentError(msg)
    return value


def check_estimate_of_all(cells: PublicPartition | None, *, distinct: bool) -> None:
    """Refuse to estimate all records where regions could not correct the counts."""
    if distinct:
        msg = "estimate='all-records' counts records, and distinct counts users. Leave one of them out."
        raise ArgumentError(msg)
    if cells is not None and not cells.tiles:
        msg = "estimate='all-records' corrects cells region by region, and given areas are not cells. Publish without "
        msg += "areas and ask the release about them, or scale their counts by scale_to_total='private'."
        raise ArgumentError(msg)


def check_distinct_users(method: Method, cells: PublicPartition | None, users: UserLevel | None) -> None:
    """Refuse to count distinct users without public cells.

    Which cells a user is counted in must be decided before the first count.
    """
    if users is None:
        msg = "distinct counts users, so that it needs user and max_per_user."
        raise ArgumentError(msg)
    if users.scale_to_total is not None:
        msg = "distinct counts users in cells, which sum to no total of records. Leave scale_to_total out."
        raise ArgumentError(msg)
    if cells is None:
        msg = "distinct needs a public grid, method=hg.UniformGrid(side=...), or areas, method=hg.Areas(polygons): "
        msg += "which cells of a user are counted is decided before any count is released. Got method "
        msg += f"{method.name!r}."
        raise ArgumentError(msg)
    if isinstance(cells, AreaPartition) and cells.levels:
        msg = "distinct users are counted on one level of areas: somebody in two parts of an area would count twice in "
        msg += "it. Leave the levels out, and publish each level by itself if several are needed."
        raise ArgumentError(msg)
