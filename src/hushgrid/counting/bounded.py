"""Copies out at most K records of each user.

The copy is made once, and later passes can reach nothing else.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushgrid.counting.areas import NONE, AreaIndex
from hushgrid.counting.bounding import Kept, KeyedRule, MissingUser
from hushgrid.counting.memory import ArrayPoints
from hushgrid.counting.source import Block, PointSource, Snapshot, files_state
from hushgrid.counting.users import IDS, LONGEST_ID, content_and_edges, hash_ids, id_lengths, joined, numbered
from hushgrid.errors import HushgridError
from hushgrid.geometry.domain import Domain
from hushgrid.work import current_work

ROWS = pa.schema({"user": pa.dictionary(pa.int32(), IDS), "longitude": pa.float64(), "latitude": pa.float64()})
PARTITIONS = 64  # files that are written at once


def rows_in_domain(
    block: Block, domain: Domain, missing: MissingUser, areas: AreaIndex | None = None
) -> pa.RecordBatch:
    """Rows of a block that count as records.

    These lie in the domain, and in one of the areas where areas are given. They have an id, unless each row without one
    is a user of its own. A row whose id is too long never counts, because its user may have many more.
    """
    # Adding zero turns a negative zero, which equals zero and has other bits, into zero.
    with np.errstate(invalid="ignore"):  # one record, a signalling NaN, would cause a warning
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
    """Rows on disk, divided among files by user.

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
        """Write rows, each to its user's file.

        An id is written once for all rows that share its number.
        """
        users = joined(rows.column("user").chunks)
        longitudes, latitudes = rows.column("longitude").to_numpy(), rows.column("latitude").to_numpy()
        codes = users.indices.fill_null(-1).to_numpy()
        files_of_ids = np.append(_files(users.dictionary, self.level), 0)  # one more, for -1
        # A row without an id may go to any file: they are dealt out evenly, so that none grows too large.
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
        """Close the files, and return their paths."""
        with spilling():
            for writer in self._writers:
                writer.close()
        return self._paths


def read_rows(path: Path) -> Iterator[pa.RecordBatch]:
    """Read rows of a file, batch by batch."""
    with spilling(), pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        yield from reader


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


def _files(ids: pa.LargeBinaryArray, salt: int) -> NDArray[np.int64]:
    hashes = np.empty(len(ids), np.uint64)
    hash_ids(*content_and_edges(ids), salt, hashes)
    return (hashes % np.uint64(PARTITIONS)).astype(np.int64)


def _sorted_by(files: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order by file, and where each file begins.

    One more entry says where the last one ends.
    """
    # Numbers of one byte are sorted ten times as fast.
    order = np.argsort(files.astype(np.uint8), kind="stable")
    return order, np.concatenate([[0], np.cumsum(np.bincount(files, minlength=PARTITIONS))])


MEMORY_BYTES = 2**27  # of rows held at once; a few times that while they are sorted
DEEPEST = 4  # times that rows are divided among files: 64**4 files' worth of memory
POINTS = pa.schema([ROWS.field("longitude"), ROWS.field("latitude")])


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedPoints:
    """Kept points, and the capped total of records.

    Privacy
    -------
    Holds no way back to the records that were not kept.
    """

    source: PointSource
    true_capped_total: int

    def __repr__(self) -> str:
        return "BoundedPoints(...)"


@contextmanager
def bounded_points(
    source: PointSource,
    rule: KeyedRule,
    *,
    missing: MissingUser = "drop",
    memory_bytes: int = MEMORY_BYTES,
) -> Iterator[BoundedPoints]:
    """Points that a rule keeps, while the context lasts.

    Rows that are not in the domain, or in none of the rule's areas, and rows without an id unless each is its own user,
    do not count as records. What does not fit in memory is divided by user among temporary files, in a folder of the
    user's own; it is removed at the end, whatever happens.

    Privacy
    -------
    Which points are kept is a function of the rule's key and of each user's own records. Whether files were needed
    shows nowhere.
    """
    source.check_unchanged()
    with TemporaryDirectory(prefix="hushgrid-") as folder:
        try:
            rows = _tables(_batches(source, rule, missing), memory_bytes)
            points = _bounded(rows, rule, Path(folder), memory_bytes)
        finally:
            # Check after an error too: a file that is being written to looks damaged.
            source.check_unchanged()
        del source, rows
        yield points


def _batches(source: PointSource, rule: KeyedRule, missing: MissingUser) -> Iterator[pa.RecordBatch]:
    for part in source.parts():
        for block in part:
            yield rows_in_domain(block, rule.domain, missing, rule.areas)
            current_work().add("reading", block.share)


def _bounded(tables: Iterator[pa.Table], rule: KeyedRule, folder: Path, memory_bytes: int) -> BoundedPoints:
    first = next(tables, ROWS.empty_table())
    if first.nbytes < memory_bytes:  # then it is the only one
        current_work().begin("bounding")
        kept = _keep(first, rule)
        return BoundedPoints(source=ArrayPoints(_points(first, kept)), true_capped_total=kept.true_capped_total)
    partitions = UserPartitions(folder / "users")
    partitions.add(first)
    del first
    for table in tables:
        partitions.add(table)
    current_work().begin("bounding")
    path, true_capped_total = folder / "kept.arrow", 0
    with spilling(), pa.ipc.new_file(str(path), POINTS) as writer:
        for rows in _users_together(partitions, memory_bytes):
            kept = _keep(rows, rule)
            writer.write_table(pa.table(_points(rows, kept), schema=POINTS))
            true_capped_total += kept.true_capped_total
            current_work().add("bounding", 1 / PARTITIONS)
    return BoundedPoints(source=SpooledPoints(path), true_capped_total=true_capped_total)


def _tables(batches: Iterator[pa.RecordBatch], memory_bytes: int) -> Iterator[pa.Table]:
    """Join batches to tables of about `memory_bytes`."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= memory_bytes:
            yield pa.Table.from_batches(held, ROWS)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held, ROWS)


def _users_together(partitions: UserPartitions, memory_bytes: int) -> Iterator[pa.Table]:
    """Tables that hold all rows of their users.

    A table is larger than memory only where the rows of one user are.
    """
    for path in partitions.close():
        if path.stat().st_size <= memory_bytes or partitions.level == DEEPEST:
            yield pa.Table.from_batches(read_rows(path), ROWS)
        else:
            finer = UserPartitions(path.with_suffix(""), level=partitions.level + 1)
            for table in _tables(read_rows(path), memory_bytes):
                finer.add(table)
            path.unlink()
            yield from _users_together(finer, memory_bytes)
        path.unlink(missing_ok=True)


def _keep(rows: pa.Table, rule: KeyedRule) -> Kept:
    users = joined(rows.column("user").chunks)  # else users would be told apart by chunks, each of its own numbers
    try:
        return rule.keep(users, rows.column("longitude").to_numpy(), rows.column("latitude").to_numpy())
    except MemoryError:
        msg = "bounding the records of each user needs more memory than there is: all records of one user are held at "
        msg += "once. Give the process more memory."
        raise HushgridError(msg) from None


def _points(rows: pa.Table, kept: Kept) -> tuple[np.ndarray, np.ndarray]:
    return rows.column("longitude").to_numpy()[kept.rows], rows.column("latitude").to_numpy()[kept.rows]


class SpooledPoints:
    """Points in a temporary Arrow file, batch by batch."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._snapshot = Snapshot.of(path)
        with spilling(), pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            sizes = [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]
        self._sizes = sizes

    def rows(self) -> int:
        """Number of points."""
        return sum(self._sizes)

    def parts(self) -> Sequence[Iterable[Block]]:
        """Batches of the file."""
        return [SpooledBatch(self._path, number, size / self.rows()) for number, size in enumerate(self._sizes) if size]

    def check_unchanged(self) -> None:
        """Refuse a file that somebody has changed."""
        self._snapshot.check()

    def state(self) -> bytes:
        """Digest that changes whenever the file does."""
        return files_state({"": self._snapshot})


@dataclass(frozen=True, repr=False)
class SpooledBatch:
    """One batch of an Arrow file."""

    path: Path
    number: int
    share: float

    def __iter__(self) -> Iterator[Block]:
        with spilling(), pa.OSFile(str(self.path)) as file, pa.ipc.open_file(file) as reader:
            batch = reader.get_batch(self.number)
        yield Block.of(batch.column("longitude").to_numpy(), batch.column("latitude").to_numpy(), self.share)
