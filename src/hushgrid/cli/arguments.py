"""From the options of ``hushgrid publish`` to the arguments of `hushgrid.publish`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hushgrid.cli.polygons import read_polygons, refused
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.release.auto import AUTO

if TYPE_CHECKING:
    from hushgrid.cli.polygons import Features
    from hushgrid.counting.engine.address import Address
    from hushgrid.methods.areas import Areas
    from hushgrid.methods.uniform_grid import UniformGrid


ON_AREAS = 0  # in place of the side of a grid


def chosen_method(
    method: str, areas_file: Path | None, area_name: str | None, distinct_users: int | None
) -> "str | UniformGrid | Areas":
    """The method named, or a grid or areas to count on."""
    if areas_file is not None:
        if method != AUTO or distinct_users not in (None, ON_AREAS):
            msg = "--areas says what is counted on: leave --method out, and the SIDE of --distinct-users."
            raise ArgumentError(msg)
        return read_areas(areas_file, area_name)
    if area_name is not None:
        msg = f"--area-name is about areas, got --area-name {area_name} without --areas FILE."
        raise ArgumentError(msg)
    return method if distinct_users is None else _grid_of(distinct_users, method)


def chosen_domain(
    bounds: str | None, crs: str, method: "str | UniformGrid | Areas", *, crs_of_points: str | None
) -> Domain:
    """The domain written as ``W,S,E,N``, or the smallest one around the areas."""
    from hushgrid.methods.areas import Areas

    if bounds is not None:
        return _parsed(bounds, crs, crs_of_points)
    if isinstance(method, Areas):
        return method.domain(crs)
    raise click.MissingParameter(param_type="option", param_hint="'--domain'")


def _parsed(bounds: str, crs: str, crs_of_points: str | None) -> Domain:
    try:
        return Domain.parse(bounds, crs=crs)
    except ArgumentError:
        if crs != LONGITUDE_LATITUDE or crs_of_points is None or not _is_domain(bounds, crs_of_points):
            raise
        msg = f"--domain {bounds} is not in longitude and latitude, which a domain is in unless --domain-crs says "
        msg += "otherwise; --crs is about the points alone."
        raise ArgumentError(msg, instead={"domain_crs": crs_of_points}) from None


def _is_domain(bounds: str, crs: str) -> bool:
    try:
        Domain.parse(bounds, crs=crs)
    except ArgumentError:
        return False
    return True


def read_areas(path: Path, name: str | None) -> "Areas":
    """Read areas, named by a property or as `query` does."""
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


EngineChoice = Literal["auto", "duckdb", "spark"]


def points_address(text: str, engine: EngineChoice, spark_conf: tuple[str, ...]) -> "Path | Address":
    """A path for our own readers, or an address for an engine.

    Examples
    --------
    >>> points_address("SELECT lon, lat FROM 'trips/*.parquet'", "duckdb", ()).engine
    'duckdb'
    >>> points_address("postgresql://me@host/trips?table=points", "auto", ()).engine
    'postgres'
    """
    from hushgrid.counting.engine.address import Address, is_query
    from hushgrid.counting.engine.postgres import is_postgres

    settings = dict(_setting(pair) for pair in spark_conf)
    if settings and engine != "spark":
        msg = "--spark-conf is about Spark. Give --engine spark as well, or leave it out."
        raise ArgumentError(msg)
    if is_postgres(text):
        if engine != "auto":
            msg = f"a URL of PostgreSQL is counted by its server. Leave out --engine {engine}."
            raise ArgumentError(msg)
        return Address(text=text, engine="postgres")
    if engine != "auto":
        return Address(text=text, engine=engine, spark_conf=settings)
    if is_query(text):
        msg = "a query needs an engine that answers it: --engine duckdb, or --engine spark."
        raise ArgumentError(msg)
    if "://" in text:
        msg = f"{text} is not a file here. --engine spark reads s3a://, hdfs:// and whatever else its session knows."
        raise ArgumentError(msg)
    return Path(text)


def _setting(pair: str) -> tuple[str, str]:
    key, sign, value = pair.partition("=")
    if not key or not sign:
        msg = f"--spark-conf is a setting of Spark, KEY=VALUE; got {pair!r}."
        raise ArgumentError(msg)
    return key, value


def refuse_same(points: "Path | Address", output: Path) -> None:
    """Refuse to write a release over its points, or among them."""
    if not isinstance(points, Path):
        return
    if output.exists() and points.exists() and output.samefile(points):
        msg = f"--output {output} is the file of the points themselves; give another path."
        raise ArgumentError(msg)
    if Path(os.path.realpath(points)) in output.resolve().parents:  # a link to itself resolves to nothing
        msg = f"--output {output} lies in the folder of the points, and would be taken for points; give another path."
        raise ArgumentError(msg)
