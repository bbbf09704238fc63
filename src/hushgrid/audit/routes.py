"""Every way into a release that an audit takes.

There are methods with their variants, files, engines, users, areas and a ledger.
"""

import importlib.util
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hushgrid.audit.examples import SMALL
from hushgrid.audit.handing import (
    BY_DAY,
    BY_KIND,
    Handed,
    HandOver,
    NotHereError,
    as_array,
    as_arrow,
    as_csv,
    as_dask,
    as_duckdb,
    as_folder,
    as_parquet,
    as_polars,
    as_spark,
    beside_a_prior,
    in_a_month,
    with_little_memory,
)
from hushgrid.audit.neighbours import CAP, MOST_PER_USER, Family, Records, record_family, user_family
from hushgrid.methods import METHODS
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.areas import Areas
from hushgrid.methods.differentiated_grid import DifferentiatedGrid
from hushgrid.methods.kd import KdHybrid, KdTree
from hushgrid.methods.method import Method
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.staq import Staq
from hushgrid.methods.uniform_grid import UniformGrid

DATASET = "audited"


@dataclass(frozen=True, kw_only=True)
class Route:
    """One way to publish.

    Parameters
    ----------
    title : str
        What is special about it, in a few words.
    method : str
        Name of the method.
    arguments : mapping
        Of `hushgrid.publish`, as a user would give them.
    hand_over : callable
        Puts records where the release finds them.
    needs : str, optional
        A package or program that this route needs.
    sets : "all", "some" or "few"
        How many data sets take this route: fewer where releases are slow.
    ledger : bool
        Whether an account is kept.
    calibrate : bool
        Whether intervals are calibrated.
    of_users : bool
        Whether users are protected, and not records.
    command : sequence of str, optional
        Options of ``hushgrid publish``, where the command is run and not `hushgrid.publish`.
    """

    title: str
    method: str
    arguments: Mapping[str, Any]
    hand_over: HandOver = as_array
    needs: str | None = None
    sets: Literal["all", "some", "few"] = "all"
    ledger: bool = False
    calibrate: bool = False
    of_users: bool = False
    command: tuple[str, ...] | None = None

    @property
    def family(self) -> Family:
        """The data sets that take this route."""
        family = user_family() if self.of_users else record_family()
        return {"all": lambda: family, "some": family.some, "few": family.few}[self.sets]()

    def handed(self, records: Records, folder: Path, stack: ExitStack) -> Handed:
        """Put the records where a release finds them."""
        if self.missing is not None:
            raise NotHereError(self.missing)
        try:
            return self.hand_over(records, folder, stack)
        except Exception as error:
            if self.needs is None:
                raise
            msg = f"{self.needs} is installed, but did not take a table ({type(error).__name__})"
            raise NotHereError(msg) from error

    @property
    def missing(self) -> str | None:
        """Why the route cannot be taken, if so."""
        if self.needs is None:
            return None
        if self.needs == SERVER:
            return "an audit starts no server and touches no database"
        found = importlib.util.find_spec(self.needs) is not None
        if self.needs == "pyspark" and found and shutil.which("java") is None:
            return "Spark needs Java, which is not installed"
        return None if found else f"{self.needs} is not installed"


def every_route(methods: tuple[str, ...]) -> Iterator[Route]:
    """All ways in, for the methods asked for.

    Ways that are not about one method are always included.
    """
    for name in methods:
        method = SMALL[name]
        yield Route(title="given sizes", method=name, arguments={"method": method})
        if METHODS[name]() != method:
            yield Route(title="as it is", method=name, arguments={"method": name}, sets="some")
        for title, variant in VARIANTS.get(name, {}).items():
            yield Route(title=title, method=name, arguments={"method": variant})
    yield from _sizes()
    yield from _ways_in()
    yield from _users()
    yield from _areas()
    yield from _slices(methods)


VARIANTS: Mapping[str, Mapping[str, Method]] = {
    "ag": {"sloped leaves": AdaptiveGrid(first_side=2, smooth=True)},
    "staq": {
        "belief": Staq(first_level=1, deepest=3),
        "bayes": Staq(first_level=1, deepest=3, inference="bayes"),
    },
    "dag": {"one group": DifferentiatedGrid(first_side=3, groups="all")},
    "kd": {"every node cut": KdTree(height=2, stop_below=0)},
    "kd-hybrid": {
        "quadtree first": KdHybrid(first="quadtree", height=4, switch=2, stop_below=0),
        "every node cut": KdHybrid(height=4, switch=2, stop_below=0),
    },
    "privtree": {"most for the structure": PrivTree(depth=3, structure_share=0.8)},
}


def _sizes() -> Iterator[Route]:
    grid = UniformGrid()
    yield Route(title="size of the domain", method="ug", arguments={"method": grid, "size_from": "domain"})
    yield Route(title="half for the size", method="ug", arguments={"method": grid, "size_share": "0.5"})
    yield Route(title="public size", method="ug", arguments={"method": grid, "public_size": 100})
    yield Route(title="automatic", method="auto", arguments={})
    yield Route(title="calibrated", method="auto", arguments={}, calibrate=True, sets="few")
    yield Route(title="calibrated", method="ag", arguments={"method": "ag"}, calibrate=True, sets="few")


def _ways_in() -> Iterator[Route]:
    for title, hand_over, needs in WAYS_IN:
        for method in (UniformGrid(side=4), AdaptiveGrid(first_side=2)):
            yield Route(
                title=title,
                method=method.name,
                arguments={"method": method},
                hand_over=hand_over,
                needs=needs,
                sets="few" if title in SLOW else "some",
            )
            if title == "Spark":
                break  # a few seconds a release
    yield Route(title="PostgreSQL", method="ug", arguments={}, needs=SERVER, sets="few")
    command = ("--method", "ag", "--manifest")
    yield Route(title="command", method="ag", arguments={}, hand_over=as_csv, command=command, sets="some")
    deep = {"method": Staq(first_level=2, deepest=6)}
    yield Route(title="public prior", method="staq", arguments=deep, hand_over=beside_a_prior, sets="some")
    yield Route(title="period", method="ug", arguments={"method": UniformGrid()}, hand_over=in_a_month, sets="some")
    yield Route(
        title="period, users",
        method="ug",
        arguments={"method": UniformGrid(side=4), **USER},
        hand_over=in_a_month,
        of_users=True,
        sets="some",
    )
    for name in ("ag", "privlet", "privtree"):
        yield Route(title="ledger", method=name, arguments={"method": SMALL[name]}, ledger=True, sets="some")


def new_account(path: Path, *, of_users: bool) -> dict[str, Any]:
    """Arguments that charge a release to a new ledger."""
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(path, create=True) as ledger:
        ledger.add_dataset(DATASET, budget=1000, unit="user" if of_users else "record")
    return {"ledger": path, "dataset": DATASET}


WAYS_IN: tuple[tuple[str, HandOver, str | None], ...] = (
    ("Arrow table", as_arrow, None),
    ("CSV file", as_csv, None),
    ("Parquet file", as_parquet, None),
    ("Parquet folder", as_folder, None),
    ("polars", as_polars, "polars"),
    ("DuckDB", as_duckdb, "duckdb"),
    ("Dask", as_dask, "dask"),
    ("Spark", as_spark, "pyspark"),
)
SERVER = "PostgreSQL"
SLOW = ("Dask", "DuckDB", "Spark")
USER = {"max_per_user": MOST_PER_USER}
OF_USERS: Mapping[str, Mapping[str, Any]] = {
    "private total": {"scale_to_total": "private"},
    "distinct": {"distinct": True},
    "all records": {"estimate": "all-records"},
}
USER_METHODS = ("ug", "ag", "staq", "kd", "privtree", "quadtree", "privlet")


def _users() -> Iterator[Route]:
    for name in USER_METHODS:
        yield Route(title="users", method=name, arguments={"method": SMALL[name], **USER}, of_users=True)
    grid = UniformGrid(side=4)
    options: Mapping[str, Mapping[str, Any]] = {
        "users, noisy size": {"method": "ug"},
        "users, without the share kept": {"method": grid, "kept_share": False},
        "users, private total": {"method": grid, "scale_to_total": "private"},
        "users, public total": {"method": grid, "scale_to_total": 500},
        "users, all records": {"method": grid, "estimate": "all-records"},
        "users, all records of a public total": {
            "method": grid,
            "estimate": "all-records",
            "scale_to_total": 500,
            "max_for_total": 7,
        },
        "users, a record without id is its own": {"method": grid, "missing_user": "own"},
        "distinct users": {"method": grid, "distinct": True},
    }
    for title, more in options.items():
        yield Route(title=title, method="ug", arguments={**USER, **more}, of_users=True)
    yield Route(
        title="users, calibrated",
        method="ug",
        arguments={**USER, "method": grid},
        calibrate=True,
        sets="few",
        of_users=True,
    )
    yield from _users_by_ways_in(grid)
    yield Route(
        title="users, public prior",
        method="staq",
        arguments={**USER, "method": Staq(first_level=2, deepest=6)},
        hand_over=beside_a_prior,
        sets="some",
        of_users=True,
    )
    yield Route(
        title="users, ledger",
        method="ug",
        arguments={**USER, "method": grid, "scale_to_total": "private"},
        ledger=True,
        sets="some",
        of_users=True,
    )


def _users_by_ways_in(grid: UniformGrid) -> Iterator[Route]:
    for title, hand_over, needs in WAYS_IN:
        if title in ("Arrow table", "polars", "Dask"):
            continue  # polars and Dask bound no users: they have no SHA-256
        for what, more in OF_USERS.items():
            yield Route(
                title=f"users, {what}, {title}",
                method="ug",
                arguments={**USER, "method": grid, **more},
                hand_over=hand_over,
                needs=needs,
                sets="few" if title in SLOW else "some",
                of_users=True,
            )
            if title == "Spark":
                break


def squares(side: int) -> Any:
    """Squares that tile the unit square, as polygons."""
    import shapely

    edges = np.linspace(0, 1, side + 1)
    low, high = edges[:-1], edges[1:]
    return [shapely.box(low[i], low[j], high[i], high[j]) for j in range(side) for i in range(side)]


def squares_in_rows(side: int) -> Areas:
    """The same squares in two levels, their rows and themselves."""
    rows = [f"row {row}" for row in range(side) for _ in range(side)]
    names = [f"square {number}" for number in range(side**2)]
    return Areas({"geometry": squares(side), "row": rows, "square": names}, levels=["row", "square"])


def _areas() -> Iterator[Route]:
    if importlib.util.find_spec("shapely") is None:
        yield Route(title="areas", method="areas", arguments={}, needs="shapely")
        return
    areas = Areas(squares(3))
    yield Route(title="areas", method="areas", arguments={"method": areas})
    around: dict[str, Any] = {
        "method": Staq(first_level=1, deepest=3),
        "aim": [squares(3)[number] for number in (0, 4)],
    }
    yield Route(title="places", method="staq", arguments=around)
    yield Route(title="places, users", method="staq", arguments={**around, **USER}, of_users=True)
    yield Route(title="places, Parquet folder", method="staq", arguments=around, hand_over=as_folder, sets="some")
    nested: dict[str, Any] = {"method": squares_in_rows(3)}
    yield Route(title="areas in levels", method="areas", arguments=nested)
    yield Route(title="areas in levels, users", method="areas", arguments={**nested, **USER}, of_users=True)
    yield Route(title="areas, users", method="areas", arguments={"method": areas, **USER}, of_users=True)
    yield Route(
        title="areas, distinct users",
        method="areas",
        arguments={"method": areas, **USER, "distinct": True},
        of_users=True,
    )
    yield Route(
        title="areas, Parquet folder", method="areas", arguments={"method": areas}, hand_over=as_folder, sets="some"
    )
    in_slices = {**nested, "by": BY_KIND}
    yield Route(title="areas in levels, slices", method="areas", arguments=in_slices, hand_over=as_arrow, sets="some")


def _slices(methods: tuple[str, ...]) -> Iterator[Route]:
    for name in methods:
        arguments = {"method": SMALL[name], "by": BY_KIND}
        yield Route(title="slices", method=name, arguments=arguments, hand_over=as_arrow, sets="some")
    # The one whose total is the prior of every slice.
    total: dict[str, Any] = {"method": Staq(first_level=1, deepest=3), "by": BY_KIND}
    grid: dict[str, Any] = {"method": UniformGrid(side=4), "by": BY_KIND}
    yield Route(title="slices and their total", method="staq", arguments=total, hand_over=as_arrow)
    for name, of_method in {"ug": grid, "staq": total}.items():
        of_users = {**USER, **of_method}
        yield Route(title="slices, users", method=name, arguments=of_users, hand_over=as_arrow, of_users=True)
    yield Route(title="slices, ledger", method="staq", arguments=total, hand_over=as_arrow, ledger=True, sets="few")
    for name, of_method in {"ug": grid, "staq": total}.items():
        yield Route(
            title="slices, calibrated", method=name, arguments=of_method, hand_over=as_arrow, calibrate=True, sets="few"
        )
    by_day = {**grid, "by": BY_DAY}
    yield Route(title="slices by time, CSV file", method="ug", arguments=by_day, hand_over=as_csv, sets="some")
    little: dict[str, Any] = {"method": "ug", "hand_over": with_little_memory}
    yield Route(title="slices, little memory", arguments=grid, sets="some", **little)
    yield Route(
        title="slices, users, little memory", arguments={**USER, **grid}, of_users=True, sets="few", **little
    )  # a few seconds a release: each user has files
    for title, hand_over, needs in WAYS_IN:
        if title in ("Arrow table", "CSV file"):
            continue
        yield Route(
            title=f"slices, {title}",
            method="ug",
            arguments=grid,
            hand_over=hand_over,
            needs=needs,
            sets="few" if title in SLOW else "some",
        )


assert CAP == 10 * MOST_PER_USER
