"""Divides rows by user, on disk where they are many."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import pyarrow as pa

from hushgrid.counting.by_user.rows import ROWS, ROWS_IN_SLICES, UserRows
from hushgrid.errors import HushgridError

PARTITIONS = 64  # files that are written at once; fewer than `rows.NOWHERE`
FEW_BYTES = 2**22  # of rows that are not worth a division
DEEPEST = 4  # times that rows are divided among files: 64**4 files' worth of memory


class UserPartitions:
    """Rows divided by user: in memory, and on disk where these are many.

    Rows may be added by several threads. While one of them writes to files, others go on until memory is full again.

    Privacy
    -------
    The files hold points and ids as they are in the data. They lie in a folder that nobody else may enter, and their
    names and number say nothing of the data.
    """

    def __init__(self, folder: Path, *, memory_bytes: int, level: int = 0) -> None:
        self.level = level
        self._folder = folder
        self._memory_bytes = memory_bytes
        self._are_few = True
        self._few: list[UserRows] = []  # as they came, while they were few
        self._held: list[list[UserRows]] = []  # divided
        self._size = 0
        self._sliced = False  # whether files have the slices of rows
        self._holding, self._writing = Lock(), Lock()
        self._writers: list[pa.ipc.RecordBatchStreamWriter] = []

    def add(self, rows: UserRows) -> None:
        """Add rows, each to its user's partition."""
        with self._holding:
            self._are_few &= self._size + rows.nbytes < min(FEW_BYTES, self._memory_bytes)
            if self._are_few:
                self._few.append(rows)
                self._size += rows.nbytes
                return
        parts = rows.by_user(PARTITIONS, salt=self.level)
        with self._holding:  # both at once: rows that are counted but not yet held, another thread would seek in vain
            self._held.append(parts)
            self._size += rows.nbytes
            is_full = self._size >= self._memory_bytes
        if is_full:
            self._write()

    def _write(self) -> None:
        with self._writing:
            with self._holding:
                if self._size < self._memory_bytes:  # another thread was faster
                    return
                held, self._held, self._size = self._held, [], 0
            with spilling():
                self._open_files(sliced=held[0][0].slices is not None)
                for number, writer in enumerate(self._writers):
                    writer.write_batch(UserRows.joined([parts[number] for parts in held]).batch())

    def _open_files(self, *, sliced: bool) -> None:
        if not self._writers:
            self._folder.mkdir(mode=0o700)
            self._sliced, kind = sliced, ROWS_IN_SLICES if sliced else ROWS
            self._writers = [pa.ipc.new_stream(str(self._path(number)), kind) for number in range(PARTITIONS)]

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.arrows"

    def close(self) -> list["UserPartition"]:
        """End adding, and return the partitions.

        One has them all where they are few.
        """
        if self._are_few:
            return [UserPartition(self._few, None, self.level)]
        held = [*self._held, *(rows.by_user(PARTITIONS, salt=self.level) for rows in self._few)]
        with spilling():
            for writer in self._writers:
                writer.close()
        self._few, self._held = [], []
        return [
            UserPartition(
                [parts[number] for parts in held],
                self._path(number) if self._writers else None,
                self.level,
                sliced=self._sliced,
            )
            for number in range(PARTITIONS)
        ]


@dataclass(frozen=True, repr=False, eq=False)
class UserPartition:
    """All rows of some users, in memory and in a file.

    Without a file, they are all in memory.
    """

    held: list[UserRows]
    path: Path | None
    level: int
    sliced: bool = False  # whether the file has the slices of rows

    def __iter__(self) -> Iterator[UserRows]:
        yield from self.held
        if self.path is not None:
            with spilling(), pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file) as reader:
                for batch in reader:
                    yield UserRows.of_batch(batch)

    def whole_users(self, memory_bytes: int) -> Iterator[UserRows]:
        """All rows, those of one user together.

        They are larger than memory only where the rows of one user are. The file is removed.
        """
        if self.path is None or self.path.stat().st_size <= memory_bytes or self.level == DEEPEST:
            rows = UserRows.joined(list(self))
            self._remove()
            yield rows
            return
        finer = UserPartitions(self.path.with_suffix(""), memory_bytes=memory_bytes, level=self.level + 1)
        for rows in self:
            finer.add(rows)
        self._remove()
        for partition in finer.close():
            yield from partition.whole_users(memory_bytes)

    def _remove(self) -> None:
        if self.path is not None:
            self.path.unlink()


@contextmanager
def spilling() -> Iterator[None]:
    """Explain what went wrong with temporary files."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        msg = f"temporary files could not be written or read ({reason}). Set TMPDIR to a folder with room for a copy "
        msg += "of the coordinates and user ids, on a disk that may hold private data."
        raise HushgridError(msg) from None
