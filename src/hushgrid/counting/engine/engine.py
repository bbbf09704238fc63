"""What hushgrid needs of an engine beyond the expressions that narwhals translates for it."""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError, EngineError, HushgridError

Frame = nw.LazyFrame[Any]
Columns = Mapping[str, NDArray[np.generic]]

GATEWAY = "py4j"  # between Python and Spark
TABLE = "the table"  # in messages, whatever it is called


def lazy(native: Any) -> Frame:
    """A table of an engine, as narwhals has it."""
    return cast("Frame", nw.from_native(native))


def as_doubles(frame: Frame, names: Sequence[str], /) -> Frame:
    """The frame with some columns of numbers as doubles: the cast of most engines, which no value can make fail."""
    return frame.with_columns(nw.col(name).cast(nw.Float64) for name in names)


class Engine(Protocol):
    """One kind of engine.

    Implemented by `PolarsEngine`, `DuckDbEngine`, `DaskEngine`, `SparkEngine` and `IbisEngine`.
    """

    @property
    def name(self) -> str:
        """What messages call it."""

    def number(self, value: float) -> nw.Expr:
        """A float64 that arrives in the engine with the very same bits."""

    def doubles(self, frame: Frame, names: Sequence[str], /) -> Frame:
        """The frame with some columns of numbers as doubles, null where a number is near none; never an error."""

    def table(self, columns: Columns) -> Frame:
        """A small public table, such as the cells of a first level, that the engine can join."""

    def check_users(self, frame: Frame, /) -> None:
        """Refuse user ids where the engine has no SHA-256, before anything is looked at."""

    def with_sha256(self, frame: Frame, text: str, digest: str, /) -> Frame:
        """The frame, and beside a column of texts another with their SHA-256 in hexadecimal digits."""

    def snapshot(self, frame: Frame) -> AbstractContextManager[Frame]:
        """The rows of a frame as they are now, whatever happens to the data afterwards; gone at the end.

        Privacy
        -------
        Every pass of a release reads this one copy: docs/decisions/0007 says where each engine keeps it.
        """


@contextmanager
def working(engine: str) -> Iterator[None]:
    """Turn whatever an engine raises into an error that names it and quotes nothing: its messages may hold rows.

    What hushgrid raises itself passes; anything else is taken for a run that broke off, of points that did not change.
    Warnings about arithmetic, such as numpy's of a signalling NaN, would be one record's doing and are not shown.
    """
    quiet = _QuietGateway()
    logging.getLogger().addFilter(quiet)
    try:
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            yield
    except HushgridError:
        raise
    except Exception as error:  # noqa: BLE001  # an engine may raise anything
        msg = f"{engine} did not finish counting ({type(error).__name__}). Its own message may quote rows and is not "
        msg += "shown. Nothing was released. Check that the engine can read all of the table, and has room for a copy "
        msg += "of its coordinates."
        raise EngineError(msg) from None
    finally:
        logging.getLogger().removeFilter(quiet)


class _QuietGateway(logging.Filter):
    """Keeps what Spark's gateway logs of a broken connection, with all that led to it, out of everybody's sight."""

    def filter(self, record: logging.LogRecord) -> bool:
        return GATEWAY not in Path(record.pathname).parts


def no_sha256(engine: str, way_out: str) -> ArgumentError:
    """The error for an engine that cannot choose the records of a user."""
    msg = f"{engine} has no SHA-256, which decides the records of a user that are kept. {way_out}"
    return ArgumentError(msg)
