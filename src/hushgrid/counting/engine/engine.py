"""What hushgrid needs of an engine beyond narwhals."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.counting.areas import AreaIndex
from hushgrid.errors import ArgumentError, EngineError, HushgridError

Frame = nw.LazyFrame[Any]
Columns = Mapping[str, NDArray[np.generic]]
Texts = Callable[[Iterable[Any]], pa.LargeStringArray]

LONGITUDE, LATITUDE, USER, AREA = "longitude", "latitude", "user", "area"
TABLE = "the table"  # in messages, whatever it is called


def lazy(native: Any) -> Frame:
    """Hand a table of an engine to narwhals."""
    return cast("Frame", nw.from_native(native))


def as_doubles(frame: Frame, names: Sequence[str], /) -> Frame:
    """Cast columns of numbers to doubles.

    For most engines, whose cast no value can make fail.
    """
    return frame.with_columns(nw.col(name).cast(nw.Float64) for name in names)


def as_declared(frame: Frame, _names: Sequence[str], _texts: Texts, /) -> Frame:
    """Leave columns as they are.

    For most engines, which have no column that may hold anything.
    """
    return frame


def batch_with_areas(batch: pa.RecordBatch, index: AreaIndex) -> pa.RecordBatch:
    """Add the area of each point to a batch."""
    longitudes, latitudes = (batch.column(name).to_numpy(zero_copy_only=False) for name in (LONGITUDE, LATITUDE))
    return batch.append_column(AREA, pa.array(index.numbers(longitudes, latitudes), pa.int64()))


class Engine(Protocol):
    """One kind of engine.

    Implemented by `PolarsEngine`, `DuckDbEngine`, `DaskEngine`, `SparkEngine` and `IbisEngine`.
    """

    @property
    def name(self) -> str:
        """Name of the engine in messages."""

    def number(self, value: float) -> nw.Expr:
        """A float64 that keeps its bits in the engine."""

    def doubles(self, frame: Frame, names: Sequence[str], /) -> Frame:
        """Cast columns of numbers to doubles.

        Null where a number is near none; never an error.
        """

    def objects_as_text(self, frame: Frame, names: Sequence[str], texts: Texts, /) -> Frame:
        """Turn columns of Python objects, which may hold anything, into text; never an error.

        `texts` does it with some values.
        """

    def table(self, columns: Columns) -> Frame:
        """A small public table that the engine can join.

        Such as the cells of a first level.
        """

    def check_users(self, frame: Frame, /) -> None:
        """Refuse user ids where the engine lacks SHA-256.

        Before anything is looked at.
        """

    def with_sha256(self, frame: Frame, text: str, digest: str, /) -> Frame:
        """Add a column with the SHA-256 of texts.

        In hexadecimal digits.
        """

    def with_areas(self, frame: Frame, index: AreaIndex, /) -> AbstractContextManager[Frame]:
        """Add a column with the area of each point.

        `index` finds it, batch by batch, so that every engine has the areas that are found in memory; `NONE`, or no
        row, for a point in none of them.

        Privacy
        -------
        Points stay with the engine, or come to this process and no further.
        """

    def parquet(self, frame: Frame, /) -> AbstractContextManager[Path]:
        """A copy of the rows on this machine, made by one query.

        A Parquet file, or a folder of them. Times keep their declared type: with a zone they are instants, without one
        what a clock showed, whatever the time zone of a session.

        Privacy
        -------
        The copy is in a folder that only its owner may enter, and gone at the end. No value can make it fail.
        """

    def snapshot(self, frame: Frame) -> AbstractContextManager[Frame]:
        """A copy of the rows as they are now.

        Later changes of the data do not reach it. It is gone at the end.

        Privacy
        -------
        Every pass of a release reads this one copy: docs/decisions/0007 says where each engine keeps it.
        """


@contextmanager
def working(engine: str) -> Iterator[None]:
    """Explain what an engine raises, quoting nothing.

    Its messages may hold rows. What hushgrid raises itself passes; anything else is taken for a run that failed, of
    points that did not change.
    Warnings about arithmetic, such as numpy's of a signalling NaN, would be one record's doing and are not shown; nor
    are they errors, where somebody told numpy to raise them.
    """
    try:
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning), np.errstate(all="ignore"):
            yield
    except HushgridError:
        raise
    except Exception as error:  # noqa: BLE001  # an engine may raise anything
        msg = f"{engine} failed while counting ({type(error).__name__}). Its own message is not shown, because it may "
        msg += "quote rows. Nothing was released. Check that the engine can read all of the table, and has room for a "
        msg += "copy of its coordinates."
        raise EngineError(msg) from None


def no_sha256(engine: str, way_out: str) -> ArgumentError:
    """Error for an engine that lacks SHA-256."""
    msg = f"{engine} has no SHA-256, which decides the records of each user to keep. {way_out}"
    return ArgumentError(msg)
