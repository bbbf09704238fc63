"""Rows on their way to being bounded: in the domain, with the id of their user, in memory or on disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.counting.source import Block
from hushgrid.counting.users import IDS, content_and_edges
from hushgrid.errors import HushgridError
from hushgrid.geometry.domain import Domain
from hushgrid.kernels.ids import hash_ids

MissingUser = Literal["drop", "own"]

ROWS = pa.schema({"user": IDS, "longitude": pa.float64(), "latitude": pa.float64()})
PARTITIONS = 64  # files that are written at once


def rows_in_domain(block: Block, domain: Domain, missing: MissingUser) -> pa.RecordBatch:
    """The points of a block that lie in the domain and have a user; those without an id too, if each is its own."""
    # Adding zero turns a negative zero, which equals zero and has other bits, into zero.
    longitudes, latitudes = np.float64(0) + block.longitudes, np.float64(0) + block.latitudes
    west, south, east, north = domain.bounds
    wanted = (longitudes >= west) & (longitudes <= east) & (latitudes >= south) & (latitudes <= north)
    assert block.users is not None
    if missing == "drop":
        wanted &= block.users.is_valid().to_numpy(zero_copy_only=False)
    columns = [block.users.filter(pa.array(wanted)), longitudes[wanted], latitudes[wanted]]
    return pa.record_batch(columns, schema=ROWS)


class UserPartitions:
    """Rows on disk, all rows of a user in the same one of several files.

    Privacy
    -------
    The files hold points and ids as they are in the data. They lie in a folder that nobody else may enter, and their
    names and number say nothing of the data.
    """

    def __init__(self, folder: Path, *, level: int = 0) -> None:
        self.level = level
        folder.mkdir(mode=0o700)
        self._paths = [folder / f"{number}.arrows" for number in range(PARTITIONS)]
        with spilling():
            self._writers = [pa.ipc.new_stream(str(path), ROWS) for path in self._paths]

    def add(self, rows: pa.Table) -> None:
        """Write rows, each to the file of its user."""
        batch = rows.combine_chunks().to_batches()[0] if rows.num_rows else pa.record_batch([[], [], []], schema=ROWS)
        partitions = _hashes(batch.column("user"), self.level) % np.uint64(PARTITIONS)
        order = np.argsort(partitions, kind="stable")
        stops = np.cumsum(np.bincount(partitions.astype(np.int64), minlength=PARTITIONS))
        ordered = batch.take(pa.array(order))
        with spilling():
            for writer, first, stop in zip(self._writers, [0, *stops[:-1]], stops, strict=True):
                if first < stop:
                    writer.write_batch(ordered.slice(first, stop - first))

    def close(self) -> list[Path]:
        """The files, with nothing more to come."""
        with spilling():
            for writer in self._writers:
                writer.close()
        return self._paths


def read_rows(path: Path) -> Iterator[pa.RecordBatch]:
    """Rows of a file of `UserPartitions`, a few at a time."""
    with spilling(), pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        yield from reader


@contextmanager
def spilling() -> Iterator[None]:
    """Turn what goes wrong with temporary files into an error that says what to do."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        msg = f"temporary files could not be written or read ({reason}). Let TMPDIR name a folder with room for a "
        msg += "copy of the coordinates and user ids, on a disk that may hold private data."
        raise HushgridError(msg) from None


def _hashes(users: pa.LargeBinaryArray, salt: int) -> NDArray[np.uint64]:
    hashes = np.empty(len(users), np.uint64)
    hash_ids(*content_and_edges(users), salt, hashes)
    # Whoever has no id is a user of one record, who may lie in any file: evenly, so that none grows too large.
    return np.where(users.is_valid(), hashes, np.arange(len(hashes), dtype=np.uint64))
