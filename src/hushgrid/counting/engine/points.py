"""Points in a table that its engine counts.

It is opened by its schema, and read once.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import url2pathname

import narwhals as nw
import numpy as np
from narwhals.exceptions import NarwhalsError
from numpy.typing import NDArray

from hushgrid.counting.arrow import not_a_number
from hushgrid.counting.bounding import KeyedRule, MissingUser
from hushgrid.counting.columns import find_columns
from hushgrid.counting.counter import BeforeRows, BoundedCounter, nothing
from hushgrid.counting.engine.cells import (
    CELL,
    LATITUDE,
    LONGITUDE,
    USER,
    cell_keys,
    inside,
    numbers_of,
    place_expressions,
)
from hushgrid.counting.engine.engine import TABLE, Engine, Frame, working
from hushgrid.counting.quadtree import QuadrantCounts, Refinement
from hushgrid.counting.source import Snapshot, files_state
from hushgrid.counting.users import LONGEST_ID, check_user_name, no_ids
from hushgrid.errors import ArgumentError, InputError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.quadrants import Quadrants
from hushgrid.work import current_work

# Steps and expressions of Spark that take every row of a file, and nothing else.
STEPS = {"LogicalRelation", "Project", "SubqueryAlias", "View"}
EXPRESSIONS = {"AttributeReference", "Alias", "Cast"}


def known_files(table: Any) -> list[str]:
    """Files whose rows are the rows of a table.

    Known of Spark's data frames, and of no others.

    A frame that filters, samples, joins or takes rows from elsewhere may have other rows in another run, of the very
    same files, such as those of the last thirty days. It has no files here.

    Examples
    --------
    >>> import polars
    >>> known_files(polars.LazyFrame({"lon": [0.5]}))
    []
    """
    with suppress(Exception):  # a cluster may keep its plan to itself
        plan = table._jdf.queryExecution().analyzed()  # noqa: SLF001  # the public way only prints it
        if _reads_rows_alone(plan):
            return list(table.inputFiles())
    return []


def state_of_files(files: Iterable[str]) -> bytes | None:
    """Digest of files that are on this machine.

    It changes with any of them. None where any is elsewhere.

    Parameters
    ----------
    files : texts
        Paths and addresses, in any order.

    Examples
    --------
    >>> state_of_files(["s3a://city/trips.parquet"]), state_of_files([])
    (None, None)
    """
    paths = {file: _path(file) for file in files}
    if not paths or not all(path.is_file() for path in paths.values()):
        return None
    return files_state({file: Snapshot.of(path) for file, path in paths.items()})


def _path(file: str) -> Path:
    return Path(url2pathname(urlsplit(file).path) if file.startswith("file:") else file)


def _reads_rows_alone(plan: Any) -> bool:
    return (
        plan.nodeName() in STEPS
        and all(_is_column(expression) for expression in _each(plan.expressions()))
        and all(_reads_rows_alone(child) for child in _each(plan.children()))
    )


def _is_column(expression: Any) -> bool:
    return expression.nodeName() in EXPRESSIONS and all(_is_column(child) for child in _each(expression.children()))


def _each(sequence: Any) -> list[Any]:
    """Elements of a sequence of Scala."""
    return [sequence.apply(number) for number in range(sequence.size())]


COLUMN, ROW, OCCURRENCE, RECORD, PRIORITY, RANK = "column", "row", "occurrence", "record", "priority", "rank"
RECORDS = "records"


def kept_records(engine: Engine, records: Frame, rule: KeyedRule) -> Frame:
    """Coordinates of the records that a rule keeps.

    Parameters
    ----------
    records : Frame
        Points of the domain, all with a user.

    Privacy
    -------
    The same records as `KeyedRule.keep` chooses: a function of the key and of each user's own records, whatever task
    is run twice, and wherever. The key appears in the query, and so in whatever the engine logs of it.
    """
    columns, rows = rule.lattice_shape
    column, row = place_expressions(engine, rule.domain, columns=columns, rows=rows)
    placed = records.with_columns(column.alias(COLUMN), row.alias(ROW))
    numbered = placed.with_columns(
        (_running_number(LONGITUDE, USER, COLUMN, ROW, by=[LONGITUDE, LATITUDE]) - 1).alias(OCCURRENCE)
    )
    if rule.distinct_grid is not None:
        numbered = numbered.filter(nw.col(OCCURRENCE) == 0)
    parts = [
        nw.lit(rule.key.hex()),
        *(nw.col(name).cast(nw.String) for name in (COLUMN, ROW, OCCURRENCE)),
        nw.col(USER),
    ]
    written = numbered.with_columns(nw.concat_str(parts, separator=":").alias(RECORD))
    hashed = engine.with_sha256(written, RECORD, PRIORITY)
    ranked = hashed.with_columns(_running_number(PRIORITY, USER, by=[PRIORITY]).alias(RANK))
    return ranked.filter(nw.col(RANK) <= rule.most).select(LONGITUDE, LATITUDE)


def capped_total(records: Frame, rule: KeyedRule) -> Frame:
    """Number of records of all users, capped.

    At most `rule.most_for_total` of each; null if there are none.
    """
    sizes = records.group_by(USER).agg(nw.len().alias(RECORDS))
    return sizes.select(nw.col(RECORDS).cast(nw.Int64).clip(0, rule.most_for_total)).select(nw.col(RECORDS).sum())


def _running_number(counted: str, *group: str, by: list[str]) -> nw.Expr:
    """Number the rows of each group, from 1.

    What is counted is never null.
    """
    return nw.col(counted).cum_count().over(*group, order_by=by)


TRUE_COUNT = "true_count"
ROWS = -1  # in place of a cell: all rows, in the domain or not
PIECE = 2**20  # pairs of a cell and its count that are handled at once


class EngineCounter:
    """Counts points of a snapshot, one query a partition.

    Only cells and their counts come back. Quadtree cells are counted ahead, so that one query serves many rounds; the
    first of these queries counts the rows, too.

    Parameters
    ----------
    domain : Domain
    engine : Engine
    snapshot : Frame
        Longitudes and latitudes that nothing changes any more, null in rows that are not points of the domain.

    Privacy
    -------
    Every answer is exact, hence private; cells that the engine has no row for are zeros like others. Rows are null or
    in the domain, so that no record can make a query fail. What is counted ahead, and so the number and the text of
    queries, follows from the cells asked for, and these from released values. What an engine logs and keeps is on the
    private side.
    """

    def __init__(self, domain: Domain, engine: Engine, snapshot: Frame) -> None:
        self._domain = domain
        self._engine = engine
        self._snapshot = snapshot
        self._true_rows: int | None = None
        self._quadrant_counts = QuadrantCounts(domain)

    @property
    def domain(self) -> Domain:
        """The rectangle points are counted in."""
        return self._domain

    def rows(self) -> int:
        """Number of rows, in the domain or not."""
        if self._true_rows is None:
            self._true_rows = int(self._run(self._all_rows())[TRUE_COUNT][0])
        return self._true_rows

    def total(self) -> int:
        """Number of points in the domain."""
        return int(self.count(Grid(domain=self._domain, rows=1, columns=1))[0])

    def count(self, partition: Partition) -> NDArray[np.int64]:
        """Points in every cell of the partition."""
        if partition.domain != self._domain:
            msg = f"the partition must tile the counter's domain {self._domain}, got {partition.domain}."
            raise ArgumentError(msg)
        current_work().begin("counting")
        if isinstance(partition, Quadrants):
            return self._quadrant_counts.count(partition, self._query)
        return self._query(partition)

    def _query(self, partition: Partition | Refinement) -> NDArray[np.int64]:
        with working(self._engine.name):
            points = self._snapshot.filter(~nw.col(LONGITUDE).is_null())
            keys = cell_keys(self._engine, points, partition)
            query = keys.group_by(CELL).agg(nw.len().alias(TRUE_COUNT))
            if with_rows := isinstance(partition, Refinement) and self._true_rows is None:
                query = nw.concat([query, self._all_rows()])
            found = self._run(query)
        if with_rows:
            is_of_rows = found[CELL] == ROWS
            self._true_rows, found = int(found.filter(is_of_rows)[TRUE_COUNT][0]), found.filter(~is_of_rows)
        true_counts = np.zeros(partition.cells, np.int64)
        for first in range(0, len(found), PIECE):
            some = found[first : first + PIECE]
            true_counts[numbers_of(some[CELL].to_numpy().astype(np.int64), partition)] = some[TRUE_COUNT].to_numpy()
        return true_counts

    def _all_rows(self) -> Frame:
        """A query for the number of rows, as of one more cell."""
        rows = self._snapshot.select(nw.len().alias(TRUE_COUNT))
        return rows.select(nw.lit(ROWS, nw.Int64).alias(CELL), TRUE_COUNT)

    def _run(self, query: Frame) -> nw.DataFrame[Any]:
        with working(self._engine.name):
            return query.collect()


class EnginePoints:
    """Points and users in a table of an engine.

    Make one with `EnginePoints.of`, from whatever narwhals knows as lazy.

    Examples
    --------
    >>> import polars
    >>> table = polars.LazyFrame({"lon": [0.25, 0.75, None], "lat": [0.5, 0.5, 0.5]})
    >>> with EnginePoints.of(table).counter(Domain(west=0, south=0, east=1, north=1)) as counter:
    ...     counter.rows(), counter.total()
    (3, 2)
    """

    def __init__(self, engine: Engine, frame: Frame, files: Sequence[str] = ()) -> None:
        self._engine = engine
        self._frame = frame
        self._files = files

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        lon: str | None = None,
        lat: str | None = None,
        geometry: str | None = None,
        user: str | None = None,
        files: Sequence[str] = (),
        engine: Engine | None = None,
        before_rows: BeforeRows = nothing,
    ) -> Self:
        """Find the points in a lazy table.

        A lazy frame of polars, a relation of DuckDB, a frame of Dask or Spark, or a table of Ibis.

        Parameters
        ----------
        lon, lat, geometry, user : str, optional
            Names of the columns; the usual ones of coordinates are recognised.
        files : sequence of str
            Those that the table is read from, where it does not know them itself.
        engine : Engine, optional
            The one to count with, where it does not follow from the table.
        before_rows : callable
            Called before the engine is asked for the schema, which it may have to find in rows: polars and Dask guess
            types of text, DuckDB reads a query anew.

        Privacy
        -------
        Errors come from the arguments and the schema. What is wrong with the arguments alone is found first.
        """
        frame = nw.from_native(table)
        engine = engine or engine_of(frame)
        check_columns(geometry)
        if user is not None:
            engine.check_users(frame)
        before_rows()
        with working(engine.name):
            schema = frame.collect_schema()
        names = list(schema.names())
        coordinates = find_columns(names, lon=lon, lat=lat, where=TABLE)
        for name in coordinates:
            if not schema[name].is_numeric():
                raise not_a_number(name, schema[name], TABLE)
        frame = engine.doubles(frame, coordinates)
        east, north = (nw.col(name) for name in coordinates)
        if user is None:
            return cls(engine, frame.select(east.alias(LONGITUDE), north.alias(LATITUDE)), files)
        check_user_name(user, names, coordinates=coordinates, where=TABLE)
        if not (schema[user].is_integer() or schema[user] == nw.String):
            raise no_ids(user, schema[user], TABLE)
        ids = nw.col(user).cast(nw.String).alias(USER)
        return cls(engine, frame.select(east.alias(LONGITUDE), north.alias(LATITUDE), ids), files)

    def state(self) -> bytes | None:
        """Digest of the files that hold the points.

        None where these are not known.
        """
        return state_of_files(self._files or known_files(self._frame.to_native()))

    @contextmanager
    def counter(self, domain: Domain) -> Iterator[EngineCounter]:
        """A counter of a snapshot, while the context lasts."""
        with self.snapshot(domain) as snapshot:
            yield EngineCounter(domain, self._engine, snapshot)

    @contextmanager
    def bounded_counter(self, rule: KeyedRule, *, missing: MissingUser) -> Iterator[BoundedCounter]:
        """A counter of kept points, while the context lasts."""
        engine, has_user = self._engine, nw.col(USER) != ""
        with self.snapshot(rule.domain) as snapshot, ExitStack() as stack:
            current_work().begin("bounding")
            rows = snapshot.filter(~nw.col(LONGITUDE).is_null())
            records = rows.filter(has_user & (nw.col(USER).str.len_chars() <= LONGEST_ID))  # null is not true
            kept = kept_records(engine, records, rule)
            with working(engine.name):
                true_capped_total = int(capped_total(records, rule).collect().item() or 0)
                if missing == "own":
                    strangers = rows.filter(nw.col(USER).is_null() | ~has_user)
                    true_capped_total += int(strangers.select(nw.len()).collect().item())
                    kept = nw.concat([kept, strangers.select(LONGITUDE, LATITUDE)])
                chosen = stack.enter_context(engine.snapshot(kept))
            counter = EngineCounter(rule.domain, engine, chosen)
            yield BoundedCounter(counter=counter, true_capped_total=true_capped_total)

    @contextmanager
    def snapshot(self, domain: Domain) -> Iterator[Frame]:
        """A copy of the points as they are now.

        Coordinates are null in rows that are not points of the domain.
        """
        within = inside(self._engine, domain, nw.col(LONGITUDE), nw.col(LATITUDE))
        kept = [nw.when(within).then(nw.col(name)).alias(name) for name in (LONGITUDE, LATITUDE)]
        with ExitStack() as stack:
            with working(self._engine.name):
                snapshot = stack.enter_context(self._engine.snapshot(self._frame.with_columns(*kept)))
            yield snapshot


def check_columns(geometry: str | None) -> None:
    """Refuse a column of geometries.

    No engine but PostgreSQL reads one.
    """
    if geometry is not None:
        msg = f"an engine reads coordinates from two columns of numbers, got geometry={geometry!r}. Make them in "
        msg += "the query, such as ST_X(geom) AS lon, ST_Y(geom) AS lat. Geometries of PostGIS are read by a URL, "
        msg += "postgresql://HOST/DATABASE?table=NAME, and those of a GeoParquet file without an engine."
        raise ArgumentError(msg)


def is_lazy(table: Any) -> bool:
    """Whether an engine has yet to compute a table."""
    try:
        return isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame)
    except NarwhalsError:  # such as a frame with two columns of one name, which whoever reads it refuses
        return False


def engine_of(frame: Frame) -> Engine:
    """The engine that a lazy frame belongs to."""
    from hushgrid.counting.engine.ibis import IbisEngine
    from hushgrid.counting.engine.local import DaskEngine, DuckDbEngine, PolarsEngine
    from hushgrid.counting.engine.spark import SparkEngine

    match frame.implementation:
        case nw.Implementation.POLARS:
            return PolarsEngine()
        case nw.Implementation.DUCKDB:
            return DuckDbEngine()
        case nw.Implementation.DASK:
            return DaskEngine()
        case nw.Implementation.PYSPARK | nw.Implementation.PYSPARK_CONNECT:
            return SparkEngine(frame.to_native().sparkSession)
        case nw.Implementation.IBIS:
            return IbisEngine(frame.to_native().get_backend().name)
        case other:
            msg = f"tables of {other} are not counted in their engine. Known are polars, DuckDB, Dask, Spark and Ibis."
            raise InputError(msg)
