"""Engines in this process: polars, DuckDB and Dask.

Their snapshot is a copy of the coordinates as Parquet, in a folder that only its owner may enter.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals as nw
import pyarrow as pa

from hushgrid.counting.engine.engine import Columns, Frame, as_doubles, lazy, no_sha256
from hushgrid.errors import MissingExtraError

if TYPE_CHECKING:
    import duckdb


PREFIX = "hushgrid-"
POINTS = "points.parquet"
SPILL = "spill"
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

    def number(self, value: float) -> nw.Expr:
        """The number itself."""
        return nw.lit(value, nw.Float64)

    def table(self, columns: Columns) -> Frame:
        """A lazy frame of the columns."""
        import polars as pl

        return lazy(pl.LazyFrame(dict(columns)))

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        with private_folder() as folder:
            path = Path(folder, POINTS)
            frame.sink_parquet(path)
            yield nw.scan_parquet(str(path), backend="polars")


class DuckDbEngine:
    """Relations of DuckDB.

    The copy is written by the connection that the relation belongs to, and read by another one, of our own: nothing
    appears among the user's tables. Ours spills beside the copy; where the user's does is a setting of it.
    """

    name: ClassVar[str] = "DuckDB"
    doubles = staticmethod(as_doubles)

    def __init__(self) -> None:
        self._connection = connect_duckdb()
        self._spills = False

    def number(self, value: float) -> nw.Expr:
        """The number itself, marked as a double."""
        return nw.lit(value, nw.Float64)

    def table(self, columns: Columns) -> Frame:
        """A relation of the columns."""
        return lazy(self._connection.from_arrow(pa.table(dict(columns))))

    def check_users(self, _frame: Frame, /) -> None:
        """Accept user ids."""

    def with_sha256(self, frame: Frame, text: str, digest: str, /) -> Frame:
        """Add the SHA-256 by DuckDB's own function."""
        relation: Any = frame.to_native()
        return lazy(relation.select(f"*, sha256({text}) AS {digest}"))

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        with private_folder() as folder, ExitStack() as stack:
            path = Path(folder, POINTS)
            frame.sink_parquet(path)
            if not self._spills:  # the later copy of kept records is gone before this one
                self._spills = True
                spill_to(stack.enter_context(self._connection), folder)
            yield lazy(self._connection.read_parquet(str(path)))


class DaskEngine(_WithoutSha256):
    """Frames of Dask.

    Its ``temporary-directory`` must be one that all workers can reach.
    """

    name: ClassVar[str] = "Dask"
    way_out: ClassVar[str] = "Hand over frame.compute(), or a DuckDB relation or Spark frame of the same files."
    doubles = staticmethod(as_doubles)

    def number(self, value: float) -> nw.Expr:
        """The number itself."""
        return nw.lit(value)

    def table(self, columns: Columns) -> Frame:
        """A frame of one partition."""
        import dask.dataframe as dd

        of_pandas: Any = dd.from_pandas
        return lazy(of_pandas(pa.table(dict(columns)).to_pandas(use_threads=False), npartitions=1))

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        import dask

        place = dask.config.get("temporary-directory", None)
        with private_folder(place) as folder:
            path = str(Path(folder, POINTS))
            frame.sink_parquet(path)
            yield nw.scan_parquet(path, backend="dask")
