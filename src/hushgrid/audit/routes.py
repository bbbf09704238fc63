"""Every way into a release that an audit takes.

There are methods with their variants, files, engines, users, areas and a ledger.
"""

import importlib.util
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.audit.examples import SMALL
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

Handed = tuple[Any, Mapping[str, Any]]  # points, and the arguments that say where ids are
HandOver = Callable[[Records, Path, ExitStack], Handed]

PARTS = 3  # files of a folder; every user has records in all of them
DATASET = "audited"


def as_array(records: Records, _folder: Path, _stack: ExitStack) -> Handed:
    """Points in memory, with ids beside them."""
    if records.users is None:
        return records.points, {}
    return records.points, {"user": np.array(records.users, object)}


def as_csv(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A CSV file."""
    path = folder / "points.csv"
    ids = records.users or ("",) * len(records.points)
    lines = (f"{lon!r},{lat!r},{user or ''}" for (lon, lat), user in zip(records.points.tolist(), ids, strict=True))
    path.write_text("\n".join(["lon,lat,person", *lines, ""]))
    return path, _named(records)


def as_parquet(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A Parquet file of several row groups."""
    path = folder / "points.parquet"
    pq.write_table(as_table(records), path, row_group_size=16)
    return path, _named(records)


def as_folder(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A folder of Parquet files.

    Every user's records are dealt out among them.
    """
    table, inner = as_table(records), folder / "points"
    inner.mkdir()
    for part in range(PARTS):
        pq.write_table(table.take(np.arange(part, table.num_rows, PARTS)), inner / f"part-{part}.parquet")
    return inner, _named(records)


def as_arrow(records: Records, _folder: Path, _stack: ExitStack) -> Handed:
    """An Arrow table."""
    return as_table(records), _named(records)


def as_polars(records: Records, _folder: Path, _stack: ExitStack) -> Handed:
    """A lazy frame of polars."""
    import polars as pl

    return pl.from_arrow(as_table(records)).lazy(), _named(records)  # type: ignore[union-attr]  # a table, no series


def as_duckdb(records: Records, _folder: Path, stack: ExitStack) -> Handed:
    """A relation of DuckDB."""
    import duckdb

    connection = stack.enter_context(duckdb.connect())
    return connection.from_arrow(as_table(records)), _named(records)


def as_dask(records: Records, _folder: Path, _stack: ExitStack) -> Handed:
    """A frame of Dask."""
    import dask.dataframe as dd

    frame = dd.from_pandas(as_table(records).to_pandas(use_threads=False), npartitions=2)  # type: ignore[no-untyped-call]
    return frame, _named(records)


def as_spark(records: Records, folder: Path, _stack: ExitStack) -> Handed:
    """A frame of a small Spark session."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("hushgrid audit")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }.items():
        builder = builder.config(key, value)
    path = folder / "spark.parquet"
    pq.write_table(as_table(records), path)
    return builder.getOrCreate().read.parquet(str(path)), _named(records)


def as_table(records: Records) -> pa.Table:
    """Columns of coordinates, and of ids for users."""
    columns = {"lon": pa.array(records.points[:, 0]), "lat": pa.array(records.points[:, 1])}
    if records.users is not None:
        columns["person"] = pa.array(list(records.users), pa.string())
    return pa.table(columns)


def _named(records: Records) -> Mapping[str, Any]:
    return {} if records.users is None else {"user": "person"}


class NotHereError(Exception):
    """A way in does not exist on this machine."""


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
    yield Route(
        title="users, ledger",
        method="ug",
        arguments={**USER, "method": grid, "scale_to_total": "private"},
        ledger=True,
        sets="some",
        of_users=True,
    )


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
    nested = {"method": squares_in_rows(3)}
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


assert CAP == 10 * MOST_PER_USER
