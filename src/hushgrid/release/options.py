"""The options that shape a release: their defaults, and what each may be."""

from difflib import get_close_matches
from typing import Any, Literal, TypedDict

from hushgrid.counting.bounding import MissingUser
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.methods.method import check_whole, is_whole
from hushgrid.privacy.budget import SIZE_SHARE
from hushgrid.privacy.exact import Exactable
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
    distinct: bool
    public_size: int | None
    size_from: SizeSource
    size_share: Exactable
    max_cells: int | None
    calibrate: bool


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
    "distinct": False,
    "public_size": None,
    "size_from": "rows",
    "size_share": SIZE_SHARE,
    "max_cells": None,
    "calibrate": True,
}


def check_names(options: Options) -> None:
    """Refuse an unknown option, as Python does."""
    for name in options.keys() - DEFAULTS.keys():
        near = get_close_matches(name, DEFAULTS, n=1)
        msg = f"publish() got an unexpected keyword argument {name!r}."
        raise TypeError(f"{msg} Did you mean {near[0]!r}?" if near else msg)


def check_public_size(value: int | None) -> int | None:
    """Refuse a size that is no number of points."""
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


def check_size_from(value: SizeSource) -> SizeSource:
    """Refuse to size a partition by anything else."""
    if value not in ("rows", "domain"):
        msg = f"size_from must be 'rows' or 'domain', got size_from={value!r}."
        raise ArgumentError(msg)
    return value
