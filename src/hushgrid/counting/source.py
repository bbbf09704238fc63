"""Where points come from: rows in memory or in files, in parts that are read independently."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.kernels.bins import Coordinates


class Block(NamedTuple):
    """A few points that are in memory together.

    Privacy
    -------
    Holds coordinates as they are in the data, of rows outside the domain too. It goes to a kernel and nowhere else.
    """

    longitudes: Coordinates
    latitudes: Coordinates
    share: float  # of the whole source, for progress
    users: pa.LargeBinaryArray | None = None  # canonical ids, where a source was asked for them

    @classmethod
    def of(
        cls,
        longitudes: NDArray[np.generic],
        latitudes: NDArray[np.generic],
        share: float,
        users: pa.LargeBinaryArray | None = None,
    ) -> "Block":
        """Block of two arrays of numbers, as float32 if both are, else as float64; no copy where none is needed."""
        single = longitudes.dtype == latitudes.dtype == np.float32
        precision = np.float32 if single else np.float64
        return cls(_read_only(longitudes, precision), _read_only(latitudes, precision), share, users)

    def __repr__(self) -> str:
        return "Block(...)"


@dataclass(frozen=True, repr=False)
class FilePart:
    """One part of a file, and the share of the whole source that its file is."""

    part: Iterable[Block]
    share: float

    def __iter__(self) -> Iterator[Block]:
        for block in self.part:
            yield block._replace(share=block.share * self.share)


class PointSource(Protocol):
    """Rows that may hold points, read anew in every pass.

    A row whose coordinates are null, NaN or unreadable comes as NaN or not at all; nothing about one row can stop a
    pass or change how another row is read.

    Implemented by `ArrayPoints`, `TablePoints`, `ParquetPoints`, `ParquetFolder`, `CsvPoints`, `CsvFiles` and
    `SpooledPoints`.
    """

    def rows(self) -> int:
        """Number of rows, points or not; adding a record adds at most one."""

    def parts(self) -> Sequence[Iterable[Block]]:
        """Parts that together are all rows, each of which can be read on its own thread."""

    def check_unchanged(self) -> None:
        """Refuse to go on if the data is no longer what was opened."""

    def state(self) -> bytes:
        """What tells these rows from those that another run reads; private."""


def _read_only(array: NDArray[np.generic], precision: type[np.float32] | type[np.float64]) -> Coordinates:
    # As what comes from Arrow is, so that numba compiles each kernel once for all sources.
    with np.errstate(all="ignore"):  # a long double too large for a double would be a warning: one record's doing
        view = array.astype(precision, copy=False).view()
    view.flags.writeable = False
    return cast("Coordinates", view)
