"""Engines that work in this process, or beside it on the same files: polars, DuckDB and Dask.

Their snapshot is a copy of the coordinates as Parquet, in a folder that only its owner may enter.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import narwhals as nw
import pyarrow as pa

from hushgrid.counting.engine.engine import Columns, Frame, lazy, no_sha256

PREFIX = "hushgrid-"
POINTS = "points.parquet"


class PolarsEngine:
    """Lazy frames of polars."""

    name: ClassVar[str] = "polars"

    def number(self, value: float) -> nw.Expr:
        """The number itself."""
        return nw.lit(value, nw.Float64)

    def table(self, columns: Columns) -> Frame:
        """A lazy frame of the columns."""
        import polars as pl

        return lazy(pl.LazyFrame(dict(columns)))

    def with_sha256(self, _frame: Frame, _text: str, _digest: str, /) -> Frame:
        """Refused."""
        raise no_sha256(self.name, "Hand over frame.collect(), or a DuckDB relation of the same files.")

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        with TemporaryDirectory(prefix=PREFIX) as folder:
            path = Path(folder, POINTS)
            frame.sink_parquet(path)
            yield nw.scan_parquet(str(path), backend="polars")


class DuckDbEngine:
    """Relations of DuckDB.

    The copy is written by the connection that the relation belongs to, and read by another one, of our own: nothing
    appears among the user's tables.
    """

    name: ClassVar[str] = "DuckDB"

    def __init__(self) -> None:
        import duckdb

        self._connection = duckdb.connect()

    def number(self, value: float) -> nw.Expr:
        """The number itself, which narwhals marks as a double."""
        return nw.lit(value, nw.Float64)

    def table(self, columns: Columns) -> Frame:
        """A relation of the columns."""
        return lazy(self._connection.from_arrow(pa.table(dict(columns))))

    def with_sha256(self, frame: Frame, text: str, digest: str, /) -> Frame:
        """By DuckDB's own function."""
        relation: Any = frame.to_native()
        return lazy(relation.select(f"*, sha256({text}) AS {digest}"))

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        with TemporaryDirectory(prefix=PREFIX) as folder:
            path = Path(folder, POINTS)
            frame.sink_parquet(path)
            try:
                yield lazy(self._connection.read_parquet(str(path)))
            finally:
                self._connection.close()


class DaskEngine:
    """Frames of Dask. Its ``temporary-directory`` must be one that all workers can reach."""

    name: ClassVar[str] = "Dask"

    def number(self, value: float) -> nw.Expr:
        """The number itself."""
        return nw.lit(value)

    def table(self, columns: Columns) -> Frame:
        """A frame of one partition."""
        import dask.dataframe as dd

        of_pandas: Any = dd.from_pandas
        return lazy(of_pandas(pa.table(dict(columns)).to_pandas(), npartitions=1))

    def with_sha256(self, _frame: Frame, _text: str, _digest: str, /) -> Frame:
        """Refused."""
        raise no_sha256(self.name, "Hand over frame.compute(), or a DuckDB relation or Spark frame of the same files.")

    @contextmanager
    def snapshot(self, frame: Frame) -> Iterator[Frame]:
        """A copy in a temporary folder."""
        import dask

        place = dask.config.get("temporary-directory", None)
        with TemporaryDirectory(prefix=PREFIX, dir=place) as folder:
            path = str(Path(folder, POINTS))
            frame.sink_parquet(path)
            yield nw.scan_parquet(path, backend="dask")
