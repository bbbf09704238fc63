"""Points in a table that its engine counts.

It is opened by its schema, and read once.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import url2pathname

import narwhals as nw
from narwhals.exceptions import NarwhalsError

from hushgrid.counting.area_loops import NONE
from hushgrid.counting.arrow import not_a_number
from hushgrid.counting.bounding import KeyedRule, MissingUser
from hushgrid.counting.columns import DeclaredColumn, PointSchema, columns_by_meaning, find_columns
from hushgrid.counting.counter import BeforeRows, BoundedCounter, nothing
from hushgrid.counting.engine.cells import inside
from hushgrid.counting.engine.copied import RowsToCopy
from hushgrid.counting.engine.counter import EngineCounter, capped_total, kept_records, user_tallies
from hushgrid.counting.engine.engine import AREA, LATITUDE, LONGITUDE, TABLE, USER, Engine, Frame, working
from hushgrid.counting.source import PointSource, Snapshot, files_state
from hushgrid.counting.users import LONGEST_ID, check_user_name, no_ids
from hushgrid.errors import ArgumentError, InputError
from hushgrid.geometry.domain import Domain
from hushgrid.slices.by import By
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

    def __init__(
        self,
        engine: Engine,
        frame: Frame,
        files: Sequence[str] = (),
        columns: Sequence[DeclaredColumn] = (),
        to_copy: RowsToCopy | None = None,
    ) -> None:
        self._engine = engine
        self._to_copy = to_copy
        self._frame = frame
        self._files = files
        self.schema = PointSchema(form=f"a table that {engine.name} counts", columns=tuple(columns))

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        lon: str | None = None,
        lat: str | None = None,
        geometry: str | None = None,
        user: str | None = None,
        by: By | None = None,
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
        by : By, optional
            Slices to read. Rows are then copied out, and need not be counted in the engine.
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
        if user is not None and by is None:
            engine.check_users(frame)
        before_rows()
        with working(engine.name):
            schema = frame.collect_schema()
        names = list(schema.names())
        if not all(isinstance(name, str) for name in names):
            msg = f"{TABLE} has columns whose names are not text. Rename them: table.rename(columns=str)."
            raise InputError(msg)
        coordinates = find_columns(names, lon=lon, lat=lat, where=TABLE)
        for name in coordinates:
            if not schema[name].is_numeric():
                raise not_a_number(name, schema[name], TABLE)
        wanted = [nw.col(name).alias(ours) for name, ours in zip(coordinates, (LONGITUDE, LATITUDE), strict=True)]
        if user is not None:
            check_user_name(user, names, coordinates=coordinates, where=TABLE)
            if not (schema[user].is_integer() or schema[user] == nw.String):
                raise no_ids(user, schema[user], TABLE)
            wanted.append(nw.col(user).cast(nw.String).alias(USER))
        to_copy = None
        if by is not None:
            to_copy = RowsToCopy.of(engine, frame, schema, coordinates=coordinates, user=user, by=by)
        with working(engine.name):
            rows = engine.doubles(frame, coordinates).select(*wanted)
        ids = None if user is None else {user: schema[user]}
        sliced = {} if by is None else {name: schema[name] for name in by.columns}
        declared = columns_by_meaning({name: schema[name] for name in coordinates}, ids, sliced)
        return cls(engine, rows, files, declared, to_copy)

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
            with working(engine.name):
                rows = snapshot.filter(~nw.col(LONGITUDE).is_null())
                if rule.areas is not None:
                    found = stack.enter_context(engine.with_areas(rows, rule.areas))
                    rows = found.filter(nw.col(AREA) != NONE)
                records = rows.filter(has_user & (nw.col(USER).str.len_chars() <= LONGEST_ID))  # null is not true
                kept = kept_records(engine, records, rule)
                true_capped_total = int(capped_total(records, rule).collect().item() or 0)
                strangers = rows.filter(nw.col(USER).is_null() | ~has_user) if missing == "own" else None
                if strangers is not None:
                    true_capped_total += int(strangers.select(nw.len()).collect().item())
                    kept = nw.concat([kept, strangers.select(LONGITUDE, LATITUDE)])
                true_tallies = None if rule.tally is None else user_tallies(engine, records, strangers, rule.tally)
                chosen = stack.enter_context(engine.snapshot(kept))
            counter = EngineCounter(rule.domain, engine, chosen)
            yield BoundedCounter(counter=counter, true_capped_total=true_capped_total, true_tallies=true_tallies)

    def copied(self) -> AbstractContextManager[PointSource]:
        """The rows with their slices, as a file of this machine."""
        assert self._to_copy is not None
        return self._to_copy.copied()

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
