"""Engines in this process: polars, DuckDB and Dask.

Their snapshot is a copy of the coordinates as Parquet, in a folder that only its owner may enter.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

import narwhals as nw
import pyarrow as pa

from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.engine.engine import (
    AREA,
    LATITUDE,
    LONGITUDE,
    Columns,
    Frame,
    Texts,
    as_declared,
    as_doubles,
    lazy,
    no_sha256,
)
from hushgrid.errors import MissingExtraError

if TYPE_CHECKING:
    import duckdb


PREFIX = "hushgrid-"
POINTS = "points.parquet"
SPILL = "spill"
ARROW_TEXT = "string[pyarrow]"
# Settings of all our connections. By default DuckDB spills rows to a folder of its own choice, and takes a name in a
# query for a variable of Python.
DUCKDB_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "temp_directory": "",
    "python_enable_replacements": False,
}


def private_folder(place: str | None = None) -> AbstractContextManager[str]:
    """A new folder that only its owner may enter.

    It is gone at the end, after errors and Ctrl-C too.
    """
    return TemporaryDirectory(prefix=PREFIX, dir=place)


def connect_duckdb() -> "duckdb.DuckDBPyConnection":
    """A connection of our own.

    It writes nothing to disk before `spill_to` says where.
    """
    try:
        import duckdb
    except ImportError as error:
        msg = 'DuckDB is not installed: pip install "hushgrid[duckdb]".'
        raise MissingExtraError(msg) from error
    return duckdb.connect(config=DUCKDB_SETTINGS)


def spill_to(connection: "duckdb.DuckDBPyConnection", folder: str) -> None:
    """Let a connection spill to a private folder."""
    place = str(Path(folder, SPILL)).replace("'", "''")
    connection.execute(f"SET temp_directory = '{place}'")


@contextmanager
def parquet_copy(frame: Frame, place: str | None = None) -> Iterator[Path]:
    """Rows that an engine writes to a private folder itself."""
    with private_folder(place) as folder:
        path = Path(folder, POINTS)
        frame.sink_parquet(path)
        yield path


class _WithoutSha256:
    """An engine that lacks SHA-256."""

    name: ClassVar[str]
    way_out: ClassVar[str]

    def check_users(self, _frame: Frame, /) -> None:
        """Refuse user ids."""
        raise no_sha256(self.name, self.way_out)

    def with_sha256(self, _frame: Frame, _text: str, _digest: str, /) -> Frame:
        """Refuse to hash texts."""
        raise no_sha256(self.name, self.way_out)


class PolarsEngine(_WithoutSha256):
    """Lazy frames of polars."""

    name: ClassVar[str] = "polars"
    way_out: ClassVar[str] = "Hand over frame.collect(), or a DuckDB relation of the same files."
    doubles = staticmethod(as_doubles)
    objects_as_text = staticmethod(as_declared)
    parquet = staticmethod(parquet_copy)

    def number(self, value: float) -> nw.Expr:
        """The number itself."""
        return nw.lit(value, nw.Float64)

    def table(self, columns: Columns) -> Frame:
        """A lazy frame of the columns."""
        import polars as pl

        return lazy(pl.LazyFrame(dict(columns)))

    @contextmanager
    def with_areas(self, frame: Frame, index: AreaIndex, /) -> Iterator[Frame]:
        """Add the area of each point, batch by batch."""
        import polars as pl

        def areas(points: Any) -> Any:
            return pl.Series(index.numbers(*(points.struct.field(name).to_numpy() for name in (LONGITUDE, LATITUDE))))

        native: Any = frame.to_native()
        found = pl.struct(LONGITUDE, LATITUDE).map_batches(areas, return_dtype=pl.Int64, is_elementwise=True)
        yield lazy(native.with_columns(found.alias(AREA)))

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        with parquet_copy(frame) as path:
            yield nw.scan_parquet(str(path), backend="polars")


class DuckDbEngine:
    """Relations of DuckDB.

    The copy is written by the connection that the relation belongs to, and read by another one, of our own: nothing
    appears among the user's tables. Ours spills beside the copy; where the user's does is a setting of it.
    """

    name: ClassVar[str] = "DuckDB"
    doubles = staticmethod(as_doubles)
    objects_as_text = staticmethod(as_declared)
    parquet = staticmethod(parquet_copy)

    def __init__(self) -> None:
        self._connection = connect_duckdb()
        self._spills = False

    def number(self, value: float) -> nw.Expr:
        """The number itself, marked as a double."""
        return nw.lit(value, nw.Float64)

    def table(self, columns: Columns) -> Frame:
        """A relation of the columns."""
        return lazy(self._connection.from_arrow(pa.table(dict(columns))))

    @contextmanager
    def with_areas(self, frame: Frame, index: AreaIndex, /) -> Iterator[Frame]:
        """Add the area of each point, by a function of our own connection."""
        from duckdb.func import PythonUDFType

        def areas(longitudes: Any, latitudes: Any) -> Any:
            return pa.array(index.numbers(longitudes.to_numpy(), latitudes.to_numpy()))

        relation: Any = frame.to_native()
        name = f"areas_{uuid4().hex}"
        self._connection.create_function(name, areas, ["double", "double"], "bigint", type=PythonUDFType.ARROW)
        yield lazy(relation.select(f"*, {name}({LONGITUDE}, {LATITUDE}) AS {AREA}"))

    def check_users(self, _frame: Frame, /) -> None:
        """Accept user ids."""

    def with_sha256(self, frame: Frame, text: str, digest: str, /) -> Frame:
        """Add the SHA-256 by DuckDB's own function."""
        relation: Any = frame.to_native()
        return lazy(relation.select(f"*, sha256({text}) AS {digest}"))

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        with parquet_copy(frame) as path, ExitStack() as stack:
            if not self._spills:  # the later copy of kept records is gone before this one
                self._spills = True
                spill_to(stack.enter_context(self._connection), str(path.parent))
            yield lazy(self._connection.read_parquet(str(path)))


class DaskEngine(_WithoutSha256):
    """Frames of Dask.

    Its ``temporary-directory`` must be one that all workers can reach.
    """

    name: ClassVar[str] = "Dask"
    way_out: ClassVar[str] = "Hand over frame.compute(), or a DuckDB relation or Spark frame of the same files."
    doubles = staticmethod(as_doubles)

    def objects_as_text(self, frame: Frame, names: Sequence[str], texts: Texts, /) -> Frame:
        """Turn objects into text, partition by partition.

        What a file of Parquet can hold of them depends on all values of a partition. Half a pair of surrogates, which
        no file can hold, becomes another sign.
        """
        native: Any = frame.to_native()
        of_python = [name for name in names if _is_of_python(native.dtypes[name])]

        def in_text(part: Any) -> Any:
            found = {name: texts(part[name]).cast(pa.large_binary()).to_pylist() for name in of_python}
            written = {name: [each and each.decode(errors="replace") for each in found[name]] for name in of_python}
            return part.assign(**written).astype(dict.fromkeys(of_python, ARROW_TEXT))

        return lazy(native.map_partitions(in_text, meta=in_text(native._meta))) if of_python else frame  # noqa: SLF001

    def number(self, value: float) -> nw.Expr:
        """The number itself."""
        return nw.lit(value)

    def table(self, columns: Columns) -> Frame:
        """A frame of one partition."""
        import dask.dataframe as dd

        of_pandas: Any = dd.from_pandas
        return lazy(of_pandas(pa.table(dict(columns)).to_pandas(use_threads=False), npartitions=1))

    @contextmanager
    def with_areas(self, frame: Frame, index: AreaIndex, /) -> Iterator[Frame]:
        """Add the area of each point, partition by partition."""

        def areas(part: Any) -> Any:
            return part.assign(**{AREA: index.numbers(part[LONGITUDE].to_numpy(), part[LATITUDE].to_numpy())})

        native: Any = frame.to_native()
        yield lazy(native.map_partitions(areas, meta=areas(native._meta)))  # noqa: SLF001  # as Dask's own examples do

    def parquet(self, frame: Frame, /) -> AbstractContextManager[Path]:
        """A folder that the workers write."""
        import dask

        return parquet_copy(frame, dask.config.get("temporary-directory", None))

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        with self.parquet(frame) as path:
            yield nw.scan_parquet(str(path), backend="dask")


def _is_of_python(kind: Any) -> bool:
    """Whether values of a type of pandas may be objects of Python, as categories are."""
    return str(kind) in ("object", "category") or getattr(kind, "storage", None) == "python"
