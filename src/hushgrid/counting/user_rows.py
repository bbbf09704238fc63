"""Rows on their way to being bounded: in the domain, with the id of their user, in memory or on disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushgrid.counting.area_index import AreaIndex
from hushgrid.counting.source import Block
from hushgrid.counting.users import IDS, LONGEST_ID, content_and_edges, id_lengths, joined, numbered
from hushgrid.errors import HushgridError
from hushgrid.geometry.domain import Domain
from hushgrid.kernels.area_bins import NONE
from hushgrid.kernels.ids import hash_ids

MissingUser = Literal["drop", "own"]

ROWS = pa.schema({"user": pa.dictionary(pa.int32(), IDS), "longitude": pa.float64(), "latitude": pa.float64()})
PARTITIONS = 64  # files that are written at once


def rows_in_domain(
    block: Block, domain: Domain, missing: MissingUser, areas: AreaIndex | None = None
) -> pa.RecordBatch:
    """The points of a block that lie in the domain and have a user; those without an id too, if each is its own.

    A row whose id is too long is none, whatever becomes of those without: its user may have many more.
    Where areas are given, only those that lie in one of them.
    """
    # Adding zero turns a negative zero, which equals zero and has other bits, into zero.
    with np.errstate(invalid="ignore"):  # a NaN that signals would be a warning: one record's doing
        longitudes, latitudes = np.float64(0) + block.longitudes, np.float64(0) + block.latitudes
    west, south, east, north = domain.bounds
    wanted = (longitudes >= west) & (longitudes <= east) & (latitudes >= south) & (latitudes <= north)
    assert block.users is not None
    has_user = pc.less_equal(id_lengths(block.users), LONGEST_ID).fill_null(missing == "own")
    wanted &= has_user.to_numpy(zero_copy_only=False)
    if areas is not None:
        wanted &= areas.numbers(longitudes, latitudes) != NONE
    columns = [numbered(block.users.filter(pa.array(wanted))), longitudes[wanted], latitudes[wanted]]
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
        """Write rows, each to the file of its user, and each number's id once."""
        users = joined(rows.column("user").chunks)
        longitudes, latitudes = rows.column("longitude").to_numpy(), rows.column("latitude").to_numpy()
        codes = users.indices.fill_null(-1).to_numpy()
        files_of_ids = np.append(_files(users.dictionary, self.level), 0)  # one more, for -1
        # Whoever has no id is a user of one record, who may lie in any file: evenly, so that none grows too large.
        files = np.where(codes < 0, np.arange(codes.size) % PARTITIONS, files_of_ids[codes])
        order, edges = _sorted_by(files)
        id_order, id_edges = _sorted_by(files_of_ids[:-1])
        ids, places = users.dictionary.take(pa.array(id_order)), np.empty(id_order.size + 1, np.int64)
        places[id_order] = np.arange(id_order.size)
        with spilling():
            for file, writer in enumerate(self._writers):
                part = order[edges[file] : edges[file + 1]]
                if part.size:
                    numbers = pa.array(places[codes[part]] - id_edges[file], pa.int32(), mask=codes[part] < 0)
                    own = ids.slice(id_edges[file], id_edges[file + 1] - id_edges[file])
                    columns = [pa.DictionaryArray.from_arrays(numbers, own), longitudes[part], latitudes[part]]
                    writer.write_batch(pa.record_batch(columns, schema=ROWS))

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


def _files(ids: pa.LargeBinaryArray, salt: int) -> NDArray[np.int64]:
    hashes = np.empty(len(ids), np.uint64)
    hash_ids(*content_and_edges(ids), salt, hashes)
    return (hashes % np.uint64(PARTITIONS)).astype(np.int64)


def _sorted_by(files: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order by file, and where each file begins and the last one ends."""
    # Numbers of one byte are sorted ten times as fast.
    order = np.argsort(files.astype(np.uint8), kind="stable")
    return order, np.concatenate([[0], np.cumsum(np.bincount(files, minlength=PARTITIONS))])
