"""Counts in tables of Ibis, PostgreSQL among them."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from hushgrid.counting.area_loops import NONE
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.engine.copied import streamed_copy
from hushgrid.counting.engine.engine import (
    AREA,
    LATITUDE,
    LONGITUDE,
    Columns,
    Frame,
    Texts,
    as_doubles,
    batch_with_areas,
    lazy,
    no_sha256,
)
from hushgrid.counting.engine.local import parquet_copy
from hushgrid.errors import ArgumentError
from hushgrid.slices.axes import FIRST_YEAR, LAST_YEAR

if TYPE_CHECKING:
    import psycopg


NAMES = {"postgres": "PostgreSQL", "duckdb": "DuckDB"}
PLACE = "place"
PLACED_AREAS = pa.schema({PLACE: pa.int64(), AREA: pa.int64()})
ROWS_AT_ONCE = 2**20  # rows that are fetched at once
FETCHED_ROWS = 2**15  # of PostgreSQL with times and texts, each an object of Python
TEXTS = ("text", "varchar", "bpchar", "name")  # as PostgreSQL calls them
ROUNDS_TO_ZERO, ROUNDS_TO_INFINITY = "2.4703282292062328e-324", "1.7976931348623158e308"  # decimals below and above


class IbisEngine:
    """Tables of Ibis.

    The snapshot is a temporary table of the database.

    Parameters
    ----------
    backend : str
        The database, as Ibis calls it.
    """

    def __init__(self, backend: str) -> None:
        self.name = NAMES.get(backend, backend)

    def number(self, value: float) -> nw.Expr:
        """The number as text, cast to a double.

        Ibis would write a decimal, of which a database makes a double in its own way.
        """
        return nw.lit(repr(float(value))).cast(nw.Float64)

    def doubles(self, frame: Frame, names: Sequence[str], /) -> Frame:
        """Cast columns of numbers to doubles.

        PostgreSQL's decimals only where a double is near: else its cast would be an error.
        """
        table: Any = frame.to_native()
        if table.get_backend().name != "postgres":
            return as_doubles(frame, names)
        decimals = [name for name in names if table.schema()[name].is_decimal()]
        guarded = table.mutate(**{name: _nearest_double(table[name]) for name in decimals})
        return as_doubles(lazy(guarded), names)

    def objects_as_text(self, frame: Frame, _names: Sequence[str], _texts: Texts, /) -> Frame:
        """Leave columns as they are.

        Refuse SQLite, where any of them may hold anything: rows that do not fit the declared type cannot be copied.
        """
        backend: Any = frame.to_native()
        if backend.get_backend().name == "sqlite":
            msg = "a column in SQLite may hold values of any type, so that one record could stop a release in slices "
            msg += "or of a period. Hand over a frame of pandas or a Parquet file."
            raise ArgumentError(msg)
        return frame

    def table(self, columns: Columns) -> Frame:
        """A table that Ibis hands to the database."""
        import ibis  # type: ignore[import-untyped]  # no types of its own

        return lazy(ibis.memtable(pa.table(dict(columns))))

    @contextmanager
    def with_areas(self, frame: Frame, index: AreaIndex, /) -> Iterator[Frame]:
        """Fetch points in batches, and join the areas by place.

        User ids stay in the database; points in none of the areas are left out.
        """
        import ibis

        table: Any = frame.to_native()
        with self.snapshot(lazy(table.mutate(**{PLACE: ibis.row_number()}))) as copy:
            placed: Any = copy.to_native()
            points = self._fetched(placed.select(PLACE, LONGITUDE, LATITUDE))
            found = (_in_areas(batch, index) for batch in points)
            with self._stored(found, placed.get_backend()) as areas:
                yield lazy(placed.join(areas, PLACE).drop(PLACE))

    def _fetched(self, points: Any) -> Iterator[pa.RecordBatch]:
        """Batches of points, one query for each piece."""
        for first in range(0, int(points.count().to_pyarrow().as_py()), ROWS_AT_ONCE):
            piece = points.filter((points[PLACE] >= first) & (points[PLACE] < first + ROWS_AT_ONCE))
            yield from piece.to_pyarrow().to_batches()

    @contextmanager
    def _stored(self, batches: Iterator[pa.RecordBatch], _backend: Any) -> Iterator[Any]:
        """A table of the batches that the database can join."""
        import ibis

        yield ibis.memtable(pa.Table.from_batches(batches, PLACED_AREAS))

    def check_users(self, frame: Frame, /) -> None:
        """Refuse databases for which Ibis knows no SHA-256.

        PostgreSQL's own is called without it.
        """
        import ibis.expr.operations as ops  # type: ignore[import-untyped]

        backend = frame.to_native().get_backend()
        if backend.name != "postgres" and not backend.has_operation(ops.HexDigest):
            raise no_sha256(backend.name, "Hand over a Spark frame or a DuckDB relation.")

    def with_sha256(self, frame: Frame, text: str, digest: str, /) -> Frame:
        """Add the SHA-256 by a function of the database."""
        table: Any = frame.to_native()
        if table.get_backend().name == "postgres":
            return lazy(table.mutate(**{digest: _postgres_sha256(table[text])}))
        return lazy(table.mutate(**{digest: table[text].hexdigest("sha256")}))

    @contextmanager
    def parquet(self, frame: Frame, /) -> Iterator[Path]:
        """A file of the rows, fetched in batches."""
        table: Any = frame.to_native()
        backend = table.get_backend()
        possible = table.mutate(**{name: _possible_time(table[name]) for name in _times(table)})
        with ExitStack() as stack:
            if backend.name == "postgres":
                with self._transaction(backend.con):
                    schema = _fetched_schema(table)
                    rows = _fetched_rows(backend.con, backend.compile(possible), schema)
                    path = stack.enter_context(streamed_copy(rows, schema))
            else:
                path = stack.enter_context(parquet_copy(lazy(possible)))
            yield path

    def _transaction(self, connection: "psycopg.Connection[Any]") -> AbstractContextManager[Any]:
        """A transaction of PostgreSQL that rows are fetched in."""
        return connection.transaction()

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A temporary table, made by one statement."""
        table: Any = frame.to_native()
        backend = table.get_backend()
        name = f"hushgrid_{uuid4().hex}"
        try:
            yield lazy(self._copied(table, name))
        finally:
            with suppress(Exception):  # a lost connection takes its temporary tables along
                backend.raw_sql(f"DROP TABLE IF EXISTS {name}")

    def _copied(self, table: Any, name: str) -> Any:
        return table.get_backend().create_table(name, table, temp=True)


class PostgresEngine(IbisEngine):
    """PostgreSQL on a connection of our own.

    There, whatever a query or a view calls cannot write.
    """

    def __init__(self) -> None:
        super().__init__("postgres")

    def _transaction(self, connection: "psycopg.Connection[Any]") -> AbstractContextManager[Any]:
        """A transaction in which nothing can be written."""
        return read_only(connection)

    def _copied(self, table: Any, name: str) -> Any:
        backend = table.get_backend()
        copy = backend.create_table(name, schema=table.schema(), temp=True)
        with read_only(backend.con) as connection:  # where temporary tables can be filled, but not made
            connection.execute(f"INSERT INTO {name} {backend.compile(table)}")
        return copy

    def _fetched(self, points: Any) -> Iterator[pa.RecordBatch]:
        """Batches of points, by a cursor of the server."""
        yield from points.to_pyarrow_batches(chunk_size=ROWS_AT_ONCE)

    @contextmanager
    def _stored(self, batches: Iterator[pa.RecordBatch], backend: Any) -> Iterator[Any]:
        """A temporary table, filled by COPY, batch by batch."""
        import ibis

        name = f"hushgrid_{uuid4().hex}"
        made = backend.create_table(name, schema=ibis.schema(PLACED_AREAS), temp=True)
        try:
            for batch in batches:
                with backend.con.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
                    copy.write(_csv(batch))
            yield made
        finally:
            with suppress(Exception):  # a lost connection takes its temporary tables along
                backend.raw_sql(f"DROP TABLE IF EXISTS {name}")


def _in_areas(batch: pa.RecordBatch, index: AreaIndex) -> pa.RecordBatch:
    """Places and areas of the points that lie in one."""
    found = batch_with_areas(batch, index).select(PLACED_AREAS.names)
    return found.filter(pc.not_equal(found.column(AREA), NONE)).cast(PLACED_AREAS)


def _csv(batch: pa.RecordBatch) -> bytes:
    """Whole numbers as lines of text."""
    lines = pa.BufferOutputStream()
    pyarrow.csv.write_csv(batch, lines, pyarrow.csv.WriteOptions(include_header=False))
    return bytes(lines.getvalue())


@contextmanager
def read_only(connection: "psycopg.Connection[Any]") -> Iterator["psycopg.Connection[Any]"]:
    """A transaction that sees one state and cannot write.

    Except to temporary tables.

    Privacy
    -------
    Nothing that runs in it can end it or turn it into another: the server refuses that after the first query.
    """
    connection.commit()
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield connection


def _times(table: Any) -> list[str]:
    """Columns of times and dates."""
    return [name for name, kind in table.schema().items() if kind.is_timestamp() or kind.is_date()]


def _possible_time(time: Any) -> Any:
    """A time that may lie in a slice; null for another.

    Python has no infinity of time, nor years of five digits: fetching one would be an error.
    """
    import ibis

    low, high = (ibis.literal(f"{year}-01-01").cast(time.type()) for year in (FIRST_YEAR - 1, LAST_YEAR + 2))
    return ibis.cases(((time >= low) & (time < high), time), else_=ibis.null(time.type()))


def _fetched_schema(table: Any) -> pa.Schema:
    """Types of Arrow for a table, all times to the microsecond."""
    times = {name: pa.timestamp("us", kind.timezone) for name, kind in table.schema().items() if kind.is_timestamp()}
    return pa.schema([field.with_type(times.get(field.name, field.type)) for field in table.schema().to_pyarrow()])


def _fetched_rows(connection: "psycopg.Connection[Any]", query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows of a query of PostgreSQL, by a cursor of the server.

    Texts are bytes here, because one that cannot be decoded would be an error; different ones stay different.
    """
    from psycopg.adapt import Loader

    encoding = connection.info.encoding

    class Undecoded(Loader):
        def load(self, data: Any) -> bytes:
            text = bytes(data)
            return (
                text if encoding == "utf-8" else text.decode(encoding, "surrogateescape").encode(errors="surrogatepass")
            )

    with connection.cursor(name=f"hushgrid_{uuid4().hex}") as cursor:
        for kind in TEXTS:
            cursor.adapters.register_loader(kind, Undecoded)
        cursor.execute(query)
        while rows := cursor.fetchmany(FETCHED_ROWS):
            columns = zip(zip(*rows, strict=True), schema, strict=True)
            yield pa.record_batch([_fetched_column(values, field.type) for values, field in columns], schema=schema)


def _fetched_column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.binary()).view(kind) if pa.types.is_string(kind) else pa.array(values, kind)


def _nearest_double(decimal: Any) -> Any:
    """The double nearest to a decimal.

    Zero for one below all doubles; null for one beyond them, for infinity and for NaN.
    """
    import ibis

    smallest, largest = (ibis.literal(text).cast("decimal") for text in (ROUNDS_TO_ZERO, ROUNDS_TO_INFINITY))
    size = decimal.abs()
    near = (size < smallest, ibis.literal(0.0)), (size < largest, decimal.cast("float64"))
    return ibis.cases(*near, else_=ibis.null("float64"))


def _postgres_sha256(text: Any) -> Any:
    """SHA-256 of texts, by PostgreSQL's own functions.

    Ibis does not know them. They are declared here and run there: their bodies are never called.
    """
    import ibis

    builtin: Any = ibis.udf.scalar.builtin

    @builtin  # type: ignore[untyped-decorator]
    def getdatabaseencoding() -> str:
        raise NotImplementedError

    @builtin  # type: ignore[untyped-decorator]
    def convert_to(text: str, encoding: str) -> bytes:
        raise NotImplementedError

    @builtin  # type: ignore[untyped-decorator]
    def sha256(content: bytes) -> bytes:
        raise NotImplementedError

    @builtin  # type: ignore[untyped-decorator]
    def encode(content: bytes, form: str) -> str:
        raise NotImplementedError

    # In the encoding of the database, mostly UTF-8. Converting some signs to another one would be an error.
    return encode(sha256(convert_to(text, getdatabaseencoding())), "hex")
