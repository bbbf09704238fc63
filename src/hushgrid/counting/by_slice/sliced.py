"""Divides points by slice, in one pass.

A release of slices reads its points once. The copy that it makes is in memory, or in one temporary file whose batches
hold one slice each; every slice is then a source of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import numpy as np
import pyarrow as pa

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import run_each
from hushgrid.counting.bounded import MEMORY_BYTES, POINTS, SpooledPoints
from hushgrid.counting.by_slice.slicing import Numbers
from hushgrid.counting.by_user.partitions import spilling
from hushgrid.counting.memory import ArrayPoints
from hushgrid.counting.source import Block, PointSource
from hushgrid.work import current_work

BATCH_ROWS = 2**20  # of one slice in the file


@dataclass(frozen=True, kw_only=True, eq=False)
class SlicedPoints:
    """Points of all slices together, and of each.

    Rows that lie in no slice are nowhere.

    Privacy
    -------
    One record more is one row more of one slice, and of all together; no other slice changes.
    """

    all: PointSource
    slices: Sequence[PointSource]

    def __repr__(self) -> str:
        return "SlicedPoints(...)"


@contextmanager
def sliced_points(source: PointSource, count: int, *, memory_bytes: int = MEMORY_BYTES) -> Iterator[SlicedPoints]:
    """Points divided by slice, while the context lasts.

    What does not fit in memory lies in a temporary file, in a folder of the user's own; it is removed at the end,
    whatever happens.

    Parameters
    ----------
    source : PointSource
        Its blocks have numbers of slices.
    count : int
        How many slices there are.

    Privacy
    -------
    Whether a file was needed, and how many rows a slice has, shows nowhere.
    """
    source.check_unchanged()
    with TemporaryDirectory(prefix="hushgrid-") as folder:
        try:
            spool = _Spool(Path(folder) / "slices.arrow", count, memory_bytes)
            _read(source, spool)
            points = spool.close()
        finally:
            # Check after an error too: a file that is being written to looks damaged.
            source.check_unchanged()
        del source
        yield points


def _read(source: PointSource, spool: "_Spool") -> None:
    work = current_work()

    def read(part: Iterable[Block]) -> None:
        for block in part:
            spool.add(_rows_in_slices(block))
            work.add("reading", block.share)

    run_each(read, source.parts())


@dataclass(frozen=True, eq=False, repr=False)
class _Rows:
    """Rows that lie in slices, in order of the slice."""

    slices: Numbers
    longitudes: Floats
    latitudes: Floats

    @classmethod
    def joined(cls, several: Sequence["_Rows"]) -> "_Rows":
        slices = np.concatenate([np.empty(0, np.int32), *(rows.slices for rows in several)])
        order = np.argsort(slices.astype(np.uint16), kind="stable")  # so few bits are sorted by radix, faster
        longitudes = np.concatenate([np.empty(0), *(rows.longitudes for rows in several)])[order]
        latitudes = np.concatenate([np.empty(0), *(rows.latitudes for rows in several)])[order]
        return cls(slices[order], longitudes, latitudes)

    @property
    def nbytes(self) -> int:
        return self.slices.nbytes + self.longitudes.nbytes + self.latitudes.nbytes

    def edges(self, count: int) -> Indices:
        """Where each slice begins, and where the last one ends."""
        return np.searchsorted(self.slices, np.arange(count + 1)).astype(np.int64)


def _rows_in_slices(block: Block) -> _Rows:
    assert block.slices is not None
    rows = np.flatnonzero(block.slices >= 0)
    longitudes, latitudes = (axis[rows] for axis in block.doubles())
    return _Rows(block.slices[rows], longitudes, latitudes)


class _Spool:
    """Holds rows that several threads add, and writes them if they are many."""

    def __init__(self, path: Path, count: int, memory_bytes: int) -> None:
        self._path = path
        self._count = count
        self._memory_bytes = memory_bytes
        self._held: list[_Rows] = []
        self._size = 0
        self._batches: list[list[int]] = [[] for _ in range(count)]
        self._written = 0
        self._writer: pa.ipc.RecordBatchFileWriter | None = None
        self._lock = Lock()

    def add(self, rows: _Rows) -> None:
        """Add rows of one block."""
        with self._lock:
            self._held.append(rows)
            self._size += rows.nbytes
            if self._size >= self._memory_bytes:
                self._write()

    def _write(self) -> None:
        rows, self._held, self._size = _Rows.joined(self._held), [], 0
        edges = rows.edges(self._count)
        with spilling():
            if self._writer is None:
                self._writer = pa.ipc.new_file(str(self._path), POINTS)
            for number in np.flatnonzero(np.diff(edges)).tolist():
                for first in range(edges[number], edges[number + 1], BATCH_ROWS):
                    part = slice(first, min(first + BATCH_ROWS, edges[number + 1]))
                    columns = [rows.longitudes[part], rows.latitudes[part]]
                    self._writer.write_batch(pa.record_batch(columns, schema=POINTS))
                    self._batches[number].append(self._written)
                    self._written += 1

    def close(self) -> SlicedPoints:
        """End adding, and give a source of each slice."""
        if self._writer is None:
            rows, self._held = _Rows.joined(self._held), []
            edges = rows.edges(self._count)
            parts = [slice(first, stop) for first, stop in pairwise(edges)]
            return SlicedPoints(
                all=ArrayPoints((rows.longitudes, rows.latitudes)),
                slices=[ArrayPoints((rows.longitudes[part], rows.latitudes[part])) for part in parts],
            )
        self._write()
        with spilling():
            self._writer.close()
        whole = SpooledPoints(self._path)
        return SlicedPoints(all=whole, slices=[whole.of_batches(batches) for batches in self._batches])
