"""From the options of ``hushgrid publish`` to the arguments of `hushgrid.publish`."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

import click

from hushgrid.cli.polygons import read_polygons, refused
from hushgrid.cli.text import warn
from hushgrid.errors import ArgumentError, HushgridError, HushgridWarning
from hushgrid.files.paths import irregularity, is_same_file, near_file
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.release.auto import AUTO
from hushgrid.slices.axes import TimeKind, Unit
from hushgrid.slices.by import By

if TYPE_CHECKING:
    from hushgrid.cli.polygons import Features
    from hushgrid.counting.engine.address import Address
    from hushgrid.methods.areas import Areas
    from hushgrid.methods.uniform_grid import UniformGrid


ON_AREAS = 0  # in place of the side of a grid


@dataclass(frozen=True, kw_only=True)
class AreasAsked:
    """Areas to count on, as the options say.

    Parameters
    ----------
    file : Path, optional
        Their polygons, or in place of a file ``h3:8``, ``h3:5,8`` and the like.
    name : str, optional
        Property that names them.
    levels : tuple of str
        Properties that they lie in, the coarsest first, and last their own names.
    shares : tuple of str, optional
        Of the budget, for each level.
    """

    file: Path | None
    name: str | None
    levels: tuple[str, ...]
    shares: tuple[str, ...] | None

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Self:
        """Take the options about areas out of those of a command."""
        file, name, levels, shares = map(options.pop, ("areas_file", "area_name", "levels", "level_shares"))
        return cls(file=file, name=name, levels=levels or (), shares=shares)

    def check(self) -> None:
        """Refuse options about areas without areas, and shares without levels."""
        given = {
            f"--area-name {self.name}": self.name is not None,
            f"--levels {','.join(self.levels)}": self.levels,
            f"--level-shares {','.join(self.shares or ())}": self.shares is not None,
        }
        for option in (option for option, there in given.items() if there and self.file is None):
            msg = f"{option.split()[0]} is about areas, got {option} without --areas FILE."
            levels = ",".join(self.levels)
            raise ArgumentError(msg, instead={"areas": levels} if levels.startswith(H3) else None)
        if self.shares is not None and not self.levels and not self.is_h3:
            msg = "--level-shares divides the budget among levels: give --levels, such as --levels state,county."
            raise ArgumentError(msg)
        if self.shares is not None and self.levels and not self.is_h3:
            from hushgrid.methods.areas import level_shares

            level_shares(self.shares, self.levels)
        if self.name is not None and self.is_h3:
            msg = "H3 cells are called by their indexes. Leave out --area-name."
            raise ArgumentError(msg)

    @property
    def is_h3(self) -> bool:
        """Whether they are H3 cells."""
        return self.file is not None and str(self.file).startswith(H3)

    def h3_cells(self) -> "Areas":
        """The H3 cells of one resolution, or of several as levels."""
        from hushgrid.methods.areas import Areas

        asked = resolutions_in("--areas", str(self.file).split(","))
        levels = resolutions_in("--levels", self.levels) if self.levels else asked
        if asked not in (levels, levels[-1:]):
            both = ",".join(map(str, sorted({*asked, *levels})))
            msg = f"--areas {self.file} and --levels {','.join(self.levels)} name different H3 cells. Leave out "
            msg += f"--levels, and give --areas {H3}{both}."
            raise ArgumentError(msg)
        return Areas.h3(*levels, shares=self.shares)


H3 = "h3:"  # before the resolutions of cells


def resolutions_in(option: str, texts: Sequence[str]) -> list[int]:
    """The resolutions of H3 cells that an option names.

    Examples
    --------
    >>> resolutions_in("--levels", ["h3:5", "h3:8"]), resolutions_in("--areas", ["h3:5", "8"])
    ([5, 8], [5, 8])
    """
    try:
        return [int(text.removeprefix(H3)) for text in texts]
    except ValueError:
        given = ",".join(texts)
        msg = f"{option} takes resolutions of H3 from 0 to 15, such as h3:8, or h3:5,8 for levels; got {given}."
        raise ArgumentError(msg) from None


def chosen_method(method: str, areas: AreasAsked, distinct_users: int | None) -> "str | UniformGrid | Areas":
    """The method named, or a grid or areas to count on."""
    areas.check()
    if areas.file is not None:
        if method != AUTO or distinct_users not in (None, ON_AREAS):
            msg = "--areas says what is counted on: leave --method out, and the SIDE of --distinct-users."
            raise ArgumentError(msg)
        return areas.h3_cells() if areas.is_h3 else read_areas(areas.file, areas)
    return method if distinct_users is None else _grid_of(distinct_users, method)


def chosen_domain(
    bounds: str | None, crs: str, method: "str | UniformGrid | Areas", *, crs_of_points: str | None
) -> Domain:
    """The domain written as ``W,S,E,N``, or the smallest one around the areas."""
    from hushgrid.methods.areas import Areas, H3Areas

    if bounds is not None:
        return _parsed(bounds, crs, crs_of_points)
    if isinstance(method, Areas) and not isinstance(method, H3Areas):
        return method.domain(crs)
    raise click.MissingParameter(param_type="option", param_hint="'--domain'")


def _parsed(bounds: str, crs: str, crs_of_points: str | None) -> Domain:
    try:
        return Domain.parse(bounds, crs=crs)
    except ArgumentError as error:
        better, points = error.instead.get("domain"), crs_of_points or LONGITUDE_LATITUDE
        if better is not None and not _is_usable(better, crs, points):
            raise ArgumentError(error.complaint) from None
        if crs != LONGITUDE_LATITUDE or crs_of_points is None or not _is_usable(bounds, points, points):
            raise
        msg = f"--domain {bounds} is not in longitude and latitude, which a domain is in unless --domain-crs says "
        msg += "otherwise; --crs is about the points alone."
        raise ArgumentError(msg, instead={"domain_crs": crs_of_points}) from None


def _is_usable(bounds: object, crs: str, crs_of_points: str) -> bool:
    """Whether a domain that a message would offer is not refused itself."""
    from hushgrid.counting.opening import check_place, check_reachable

    try:
        domain = Domain.parse(bounds, crs=crs) if isinstance(bounds, str) else bounds
        if isinstance(domain, Domain):
            check_reachable(crs_of_points, domain)
            check_place(crs_of_points, domain)
    except HushgridError:
        return False
    return True


def read_areas(path: Path, asked: AreasAsked) -> "Areas":
    """Read areas, named by a property."""
    from hushgrid.methods.areas import Areas, check_number

    features = read_polygons(path, check_number=check_number)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HushgridWarning)
            names = _names(features, asked)
            areas = Areas(features, names=names, levels=asked.levels, shares=asked.shares)
    except ArgumentError as error:
        raise refused(path, error.complaint, instead=error.instead) from None
    for warning in caught:
        warn(f"{path}: {warning.message}")
    return areas


def _names(features: "Features", asked: AreasAsked) -> str | list[str] | None:
    """The property that names areas, or the ids of their features."""
    column = asked.name or (None if asked.levels else features.name_column)
    if column is not None or asked.levels:
        return column
    ids = [feature.get("id") for feature in features.features]
    if features.is_geojson and all(isinstance(each, str | int) and str(each).strip() for each in ids):
        return list(map(str, ids))
    there = f"they have: {', '.join(features.columns)}" if features.columns else "they have none"
    msg = f"say which property names its areas, --area-name PROPERTY; {there}."
    raise ArgumentError(msg, instead={"area_name": "PROPERTY"} if features.columns else None)


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


@dataclass(frozen=True, kw_only=True)
class SlicesAsked:
    """Slices to divide records into, as the options say."""

    by: str | None
    values: str | None
    other: bool
    time: str | None
    slices: TimeKind | None
    start: str | None
    end: str | None
    timezone: str | None
    time_format: str | None
    time_unit: Literal["s", "ms", "seconds", "milliseconds"] | None
    period: str | None

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Self:
        """Take the options about slices out of those of a command."""
        return cls(**{field.name: options.pop(field.name) for field in fields(cls)})

    @property
    def in_period(self) -> dict[str, str | None]:
        """The arguments of a period; those of slices are in ``by``."""
        return {} if self.period is None else {"period": self.period, "time": self.time, "timezone": self.timezone}

    def chosen(self) -> By | None:
        """What `hushgrid.publish` takes as ``by``; two options make every pair."""
        self._check()
        axes: list[By] = []
        if self.by is not None and self.values is not None:
            axes.append(By(self.by, values=listed_values(self.values), other=self.other))
        if self.time is not None and self.slices is not None:
            axes.append(
                By.time(
                    self.time,
                    self.slices,
                    timezone="UTC" if self.timezone is None else self.timezone,
                    start=self.start,
                    end=self.end,
                    format=self.time_format,
                    unit=None if self.time_unit is None else UNITS[self.time_unit],
                )
            )
        return By.of(axes) if axes else None

    def _check(self) -> None:
        """Refuse options that need another."""
        if (self.by is None) != (self.values is None):
            msg = "--by COLUMN and --values a,b,c go together: the list of slices is public, and is never read from "
            msg += "the records."
            raise ArgumentError(msg, instead={"values": "a,b,c"} if self.values is None else None)
        if self.other and self.by is None:
            msg = "--other makes one slice of all values that --values does not list. Give --by and --values, too."
            raise ArgumentError(msg)
        if self.period is not None:
            self._check_period()
            return
        if (self.time is None) != (self.slices is None):
            msg = "--time COLUMN and --slices hour (or weekday, day, week, month, quarter, year) go together. To "
            msg += "publish one period alone, give --time COLUMN and --period 2026-03."
            raise ArgumentError(msg)
        about_time = {
            "--from": self.start,
            "--to": self.end,
            "--timezone": self.timezone,
            "--time-format": self.time_format,
            "--time-unit": self.time_unit,
        }
        for option in (option for option, given in about_time.items() if given is not None and self.time is None):
            msg = f"{option} is about slices of time. Give --time COLUMN and --slices, too, or --period for one period."
            raise ArgumentError(msg)

    def _check_period(self) -> None:
        """Refuse options of slices of time, beside a period."""
        about_slices = {
            "--slices": self.slices,
            "--from": self.start,
            "--to": self.end,
            "--time-format": self.time_format,
            "--time-unit": self.time_unit,
        }
        for option in (option for option, given in about_slices.items() if given is not None):
            msg = f"{option} is about slices, and --period is one period. Leave out {option}, or --period; times of a "
            msg += "period are timestamps, dates or text in ISO 8601."
            raise ArgumentError(msg)


UNITS: Mapping[str, Unit] = MappingProxyType(
    {"s": "seconds", "ms": "milliseconds", "seconds": "seconds", "milliseconds": "milliseconds"}
)
LARGEST_LIST = 2**22  # bytes of a file of values
LISTS = (".txt", ".csv", ".tsv")  # endings of files, which no single value has


def listed_values(text: str) -> list[str]:
    """Values with commas between them, or the lines of a file.

    Examples
    --------
    >>> listed_values("car, bike")
    ['car', 'bike']
    """
    path = Path(text)
    complaint = irregularity(path)
    if "," in text or (complaint is not None and path.suffix.lower() not in LISTS):
        return [part.strip() for part in text.split(",")]
    if complaint is not None:
        near = near_file(path)
        msg = f"--values {path} {complaint}. Check the path."
        raise ArgumentError(msg, instead={"values": near} if near else None)
    with path.open("rb") as file:
        content = file.read(LARGEST_LIST + 1)
    try:
        values = [line.strip() for line in content.decode("utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError:
        values = []
    if len(content) > LARGEST_LIST or not values:
        msg = f"--values {path} must be a list, or a text file in UTF-8 with one value on each line."
        raise ArgumentError(msg)
    return values


def refuse_same(points: "Path | Address", output: Path) -> None:
    """Refuse to write a release over its points, or among them."""
    from hushgrid.counting.engine.address import files_of

    if isinstance(points, Path) and Path(os.path.realpath(points)) in output.resolve().parents:
        # A link to itself resolves to nothing.
        msg = f"--output {output} lies in the folder of the points, and would be taken for points; give another path."
        raise ArgumentError(msg)
    if any(is_same_file(output, file) for file in files_of(points)):
        msg = f"--output {output} is the file of the points themselves; give another path."
        raise ArgumentError(msg)


def refuse_as_values(points: "Path | Address", values: str | None) -> None:
    """Refuse the file of the points as the list of slices."""
    from hushgrid.counting.engine.address import files_of

    if values is not None and any(is_same_file(Path(values), file) for file in files_of(points)):
        msg = f"--values {values} is the file of the points themselves. Slices are public: list them, such as a,b,c."
        raise ArgumentError(msg, instead={"values": "a,b,c"})
