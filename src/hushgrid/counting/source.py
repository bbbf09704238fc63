"""Sources of points, read in independent parts.

A release reads one state of its points. Of files it is what the file system knows of them and, of Parquet, the footers;
of points in memory, a digest of all that is read of them. Every comparison in hushgrid goes by what is made here.
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, Protocol, Self, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.counting.users import content_and_edges
from hushgrid.errors import InputError

Coordinates = NDArray[np.float32] | NDArray[np.float64]


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
    slices: NDArray[np.int32] | None = None  # numbers of slices, -1 for none, where a source was asked for them

    @classmethod
    def of(
        cls,
        longitudes: NDArray[np.generic],
        latitudes: NDArray[np.generic],
        share: float,
        users: pa.LargeBinaryArray | None = None,
        slices: NDArray[np.int32] | None = None,
    ) -> "Block":
        """Make a block of two arrays of numbers.

        Of float32 if both are, else of float64. Nothing is copied that need not be.
        """
        single = longitudes.dtype == latitudes.dtype == np.float32
        precision = np.float32 if single else np.float64
        return cls(_read_only(longitudes, precision), _read_only(latitudes, precision), share, users, slices)

    def doubles(self) -> tuple[Floats, Floats]:
        """Both coordinates in double precision.

        Privacy
        -------
        Silent: numpy warns of a signalling NaN that is widened, and so of the one record that has it.
        """
        with np.errstate(all="ignore"):
            longitudes, latitudes = (axis.astype(np.float64, copy=False) for axis in (self.longitudes, self.latitudes))
        return longitudes, latitudes

    def __repr__(self) -> str:
        return "Block(...)"


@dataclass(frozen=True, repr=False)
class FilePart:
    """One part of a file among several files.

    `share` is that of the file in the whole source.
    """

    part: Iterable[Block]
    share: float

    def __iter__(self) -> Iterator[Block]:
        for block in self.part:
            yield block._replace(share=block.share * self.share)


class PointSource(Protocol):
    """Rows that may hold points, read by passes.

    A row whose coordinates are null, NaN or unreadable comes as NaN or not at all; nothing about one row can stop a
    pass or change how another row is read.

    Implemented by `ArrayPoints`, `TablePoints`, `ParquetPoints`, `ParquetFolder`, `CsvPoints`, `CsvFiles` and
    `SpooledPoints`.
    """

    def rows(self) -> int:
        """Number of rows, points or not.

        Adding a record adds at most one.
        """

    def parts(self) -> Sequence[Iterable[Block]]:
        """Parts that together are all rows.

        Each can be read on its own thread.
        """

    def check_unchanged(self) -> None:
        """Refuse data that changed since it was opened."""

    def state(self) -> bytes:
        """Digest that tells these rows from others; private."""


def _read_only(array: NDArray[np.generic], precision: type[np.float32] | type[np.float64]) -> Coordinates:
    # Arrays from Arrow are read-only; if all are, numba compiles each kernel once for all sources.
    with np.errstate(all="ignore"):  # one record, a long double too large for a double, would cause a warning
        view = array.astype(precision, copy=False).view()
    view.flags.writeable = False
    return cast("Coordinates", view)


PARQUET_END = b"PAR1"
PIECE = 2**20  # bytes of a footer that are read at once


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The state of a file, to notice changes.

    Its size, times, number on the disk, and Parquet footer. The time of a change of content can be set back; that of a
    change of anything, `status_changed`, cannot.

    Privacy
    -------
    All of it may depend on the data. It is compared, never shown, and kept in a ledger only under seal.
    """

    path: Path
    size: int = field(repr=False)
    changed: int = field(repr=False)
    status_changed: int = field(repr=False)
    inode: int = field(repr=False)
    footer: str = field(repr=False)

    @classmethod
    def of(cls, path: Path) -> Self:
        """Snapshot of the file as it is now."""
        with reading(path, "regular"), path.open("rb") as file:
            footer = _footer_digest(file)
            status = os.fstat(file.fileno())
        return cls(
            path=path,
            size=status.st_size,
            changed=status.st_mtime_ns,
            status_changed=status.st_ctime_ns,
            inode=status.st_ino,
            footer=footer,
        )

    def check(self) -> None:
        """Refuse a file that has changed since."""
        if Snapshot.of(self.path) != self:
            msg = f"{self.path} changed while it was being published. Publish a copy that nothing writes to."
            raise InputError(msg)


def files_state(snapshots: Mapping[str, Snapshot]) -> bytes:
    """Digest that changes with any file or name.

    The order of the files does not matter.
    """
    lines = [f"{name}\0{astuple(snapshot)[1:]}" for name, snapshot in sorted(snapshots.items())]
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).digest()


def rows_state(parts: Iterable[Iterable[Block]]) -> bytes:
    """Digest of all coordinates and ids, in order.

    How rows are cut into blocks does not matter.
    """
    digests = {name: hashlib.sha256() for name in ("longitudes", "latitudes", "lengths", "ids", "numbers")}
    by_slice = hashlib.sha256()
    for part in parts:
        for block in part:
            for name, content in _contents(block):
                digests[name].update(np.ascontiguousarray(content).view(np.uint8).data)
            if block.slices is not None:
                digests["slices"] = by_slice  # only where there are slices: other states stay as they were
                by_slice.update(np.ascontiguousarray(block.slices).view(np.uint8).data)
    return hashlib.sha256(b"".join(digest.digest() for digest in digests.values())).digest()


def _contents(block: Block) -> Iterator[tuple[str, np.ndarray]]:
    yield "longitudes", block.longitudes
    yield "latitudes", block.latitudes
    if block.users is not None:
        ids = block.users
        if isinstance(ids, pa.DictionaryArray):
            yield "numbers", ids.indices.cast(pa.int64()).fill_null(-1).to_numpy()
            ids = ids.dictionary
        content, edges = content_and_edges(ids)
        yield "lengths", np.diff(edges)
        yield "ids", content[edges[0] : edges[-1]]


def _footer_digest(file: IO[bytes]) -> str:
    """Digest of a Parquet file's footer.

    Of nothing if it is another file.
    """
    digest = hashlib.sha256()
    end = file.seek(0, os.SEEK_END)
    if end >= 12:
        file.seek(end - 8)
        length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
        if magic == PARQUET_END:
            file.seek(max(0, end - 8 - length))
            while piece := file.read(PIECE):
                digest.update(piece)
    return digest.hexdigest()


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Explain a read error, quoting nothing of the file."""
    try:
        yield
    except FileNotFoundError:
        msg = f"{path} does not exist. Check the path."
        raise InputError(msg) from None
    except PermissionError:
        msg = f"{path} cannot be read: permission denied. Check who may read the file."
        raise InputError(msg) from None
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError):
        msg = f"{path} cannot be read: it is damaged, or not a {kind} file. Write it anew, or give another."
        raise InputError(msg) from None


PARQUET = (".parquet", ".geoparquet", ".pq")
CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
HIDDEN = (".", "_")  # first letters of what writers of data leave beside it, such as _SUCCESS


def parquet_files(folder: Path) -> list[Path]:
    """Parquet files in and below a folder, by name.

    Names that begin with a dot or an underscore are passed over, as Spark does. Any other file is an error, because it
    may be data that somebody believes to be published.
    """
    files = []
    with reading(folder, "Parquet"):
        for place, folders, names in os.walk(folder, onerror=_refuse):
            folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
            files += [Path(place, name) for name in names if not name.startswith(HIDDEN)]
    for file in files:
        if not file.name.lower().endswith(PARQUET):
            msg = f"{folder} is a folder that holds {file.relative_to(folder)}, which is not a Parquet "
            msg += f"file ({', '.join(PARQUET)}). Move it elsewhere, or give one file. To read CSV files as one table, "
            msg += "give a pattern such as 'trips/*.csv' with --engine duckdb."
            raise InputError(msg)
    if not files:
        msg = f"{folder} is a folder without Parquet files ({', '.join(PARQUET)}). Give one that holds some, or a file."
        raise InputError(msg)
    return sorted(files)


def _refuse(error: OSError) -> None:
    raise error
