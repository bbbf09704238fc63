"""What a release is counted on: whatever a method finds, a public grid, or areas from a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hushgrid.cli.polygons import read_polygons, refused
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain

if TYPE_CHECKING:
    from hushgrid.cli.features import Features
    from hushgrid.methods.areas import Areas
    from hushgrid.methods.uniform_grid import UniformGrid

AUTO = "auto"
ON_AREAS = 0  # in place of the side of a grid


def chosen_method(
    method: str, areas_file: Path | None, area_name: str | None, distinct_users: int | None
) -> "str | UniformGrid | Areas":
    """The method by its name, or the grid that distinct users are counted on, or the areas given."""
    if areas_file is not None:
        if method != AUTO or distinct_users not in (None, ON_AREAS):
            msg = "--areas says what is counted on: leave --method out, and the SIDE of --distinct-users."
            raise ArgumentError(msg)
        return read_areas(areas_file, area_name)
    if area_name is not None:
        msg = f"--area-name is about areas, got --area-name {area_name} without --areas FILE."
        raise ArgumentError(msg)
    return method if distinct_users is None else _grid_of(distinct_users, method)


def chosen_domain(bounds: str | None, crs: str, method: "str | UniformGrid | Areas") -> Domain:
    """The domain written as ``W,S,E,N``, or the smallest one around the areas given."""
    from hushgrid.methods.areas import Areas

    if bounds is not None:
        return Domain.parse(bounds, crs=crs)
    if isinstance(method, Areas):
        return method.domain(crs)
    raise click.MissingParameter(param_type="option", param_hint="'--domain'")


def read_areas(path: Path, name: str | None) -> "Areas":
    """The areas of a file that `read_polygons` reads, called by a property of theirs, or as `query` calls them."""
    from hushgrid.methods.areas import Areas

    features = read_polygons(path)
    try:
        return Areas(features, names=features.names if name is None else _named(features, name))
    except ArgumentError as error:
        raise refused(path, str(error)) from None


def _named(features: "Features", name: str) -> list[str]:
    """One property of every feature, as text."""
    values = [(feature.get("properties") or {}).get(name) for feature in features.features]
    if any(value is None for value in values):
        known = sorted({str(key) for feature in features.features for key in feature.get("properties") or {}})
        msg = f"--area-name must be a property that every feature has, got {name!r}; there are: {', '.join(known)}."
        raise ArgumentError(msg)
    return [str(value) for value in values]


def _grid_of(side: int, method: str) -> "UniformGrid":
    """The public grid that distinct users are counted on."""
    from hushgrid.methods.uniform_grid import UniformGrid

    if side == ON_AREAS:
        msg = "--distinct-users needs something public to count on: the SIDE of a grid, such as 64, or --areas FILE."
        raise ArgumentError(msg)
    if method not in (AUTO, UniformGrid.name):
        msg = f"--distinct-users counts on a uniform grid: leave --method out, or give ug; got --method {method}."
        raise ArgumentError(msg)
    return UniformGrid(side=side)
