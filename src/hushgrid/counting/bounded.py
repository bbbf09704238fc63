"""Copies out at most K records of each user.

The copy is made once, and later passes can reach nothing else. Rows are divided among partitions by a hash of the user,
so that every thread has users of its own; the hash decides nothing else.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.compiled import run_each, thread_count
from hushgrid.counting.area_loops import NONE
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.bounding import Kept, KeyedRule, MissingUser
from hushgrid.counting.by_user.ids import Ids, unwritable
from hushgrid.counting.by_user.partitions import UserPartition, UserPartitions, spilling
from hushgrid.counting.by_user.rows import NOWHERE, ROWS, SLICE, UserRows, find_records, rows_by_partition
from hushgrid.counting.by_user.tallies import TrueTallies
from hushgrid.counting.memory import ArrayPoints
from hushgrid.counting.source import Block, PointSource, Snapshot, files_state
from hushgrid.counting.users import LONGEST_ID
from hushgrid.errors import HushgridError
from hushgrid.geometry.domain import Domain
from hushgrid.work import current_work


def rows_in_domain(block: Block, domain: Domain, missing: MissingUser, areas: AreaIndex | None = None) -> UserRows:
    """Rows of a block that count as records.

    These lie in the domain, in one of the areas where areas are given, and in one of the slices where there are slices.
    They have an id, unless each row without one is a user of its own. A row whose id is too long never counts, because
    its user may have many more.
    """
    assert block.users is not None
    ids = Ids.of(block.users)
    partitions = np.empty(ids.numbers.size, np.uint8)
    is_user = ids.not_longer_than(LONGEST_ID, empty=missing == "own")
    find_records(block.longitudes, block.latitudes, domain.bounds, unwritable(ids.numbers), is_user, partitions)
    if block.slices is not None:
        partitions[block.slices < 0] = NOWHERE
    (rows,) = rows_by_partition(ids, block.longitudes, block.latitudes, block.slices, partitions, 1)
    if areas is not None:
        in_none = areas.numbers(rows.longitudes, rows.latitudes) == NONE
        (rows,) = rows_by_partition(*rows, np.where(in_none, np.uint8(NOWHERE), np.uint8(0)), 1)
    return rows


MEMORY_BYTES = 2**27  # of rows held at once; about twice that while some are written, or bounded
POINTS = pa.schema([ROWS.field("longitude"), ROWS.field("latitude")])
POINTS_IN_SLICES = POINTS.append(SLICE)


class Points(NamedTuple):
    """Kept points, and the slices of those that have one."""

    longitudes: Floats
    latitudes: Floats
    slices: NDArray[np.int32] | None

    @classmethod
    def joined(cls, several: Sequence["Points"]) -> "Points":
        """All points of several, one after the other."""
        longitudes, latitudes, slices = zip(*several, strict=True)
        all_slices = None if slices[0] is None else np.concatenate(slices)
        return cls(np.concatenate(longitudes), np.concatenate(latitudes), all_slices)

    def __repr__(self) -> str:
        return "Points(...)"

    def batch(self) -> pa.RecordBatch:
        """Points as they are written to a file."""
        if self.slices is None:
            return pa.record_batch([self.longitudes, self.latitudes], schema=POINTS)
        return pa.record_batch(list(self), schema=POINTS_IN_SLICES)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedPoints:
    """Kept points, the capped total of records, and tallies if asked for.

    Privacy
    -------
    Holds no way back to the records that were not kept.
    """

    source: PointSource
    true_capped_total: int
    true_tallies: TrueTallies | None = None

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
            partitions = UserPartitions(Path(folder) / "users", memory_bytes=memory_bytes)
            _read(source, rule, missing, partitions)
            points = _bounded(partitions.close(), rule, Path(folder) / "kept.arrow", memory_bytes)
        finally:
            # Check after an error too: a file that is being written to looks damaged.
            source.check_unchanged()
        del source, partitions
        yield points


def _read(source: PointSource, rule: KeyedRule, missing: MissingUser, partitions: UserPartitions) -> None:
    """Read all records, every part on the next free thread."""
    work = current_work()

    def read(part: Iterable[Block]) -> None:
        for block in part:
            partitions.add(rows_in_domain(block, rule.domain, missing, rule.areas))
            work.add("reading", block.share)

    run_each(read, source.parts())


def _bounded(partitions: list[UserPartition], rule: KeyedRule, path: Path, memory_bytes: int) -> BoundedPoints:
    """Keep records: in memory, or in a file where there were too many rows."""
    current_work().begin("bounding")
    if partitions[0].path is None:
        points: list[Points] = []
        true_total, true_tallies = _keep_all(partitions, rule, memory_bytes, points.append)
        joined = Points.joined(points)
        source = ArrayPoints((joined.longitudes, joined.latitudes), slices=joined.slices)
        return BoundedPoints(source=source, true_capped_total=true_total, true_tallies=true_tallies)
    one_at_a_time = Lock()
    with spilling(), pa.ipc.new_file(str(path), POINTS_IN_SLICES if partitions[0].sliced else POINTS) as writer:

        def write(points: Points) -> None:
            with one_at_a_time:
                writer.write_batch(points.batch())

        true_total, true_tallies = _keep_all(partitions, rule, memory_bytes, write)
    return BoundedPoints(source=SpooledPoints(path), true_capped_total=true_total, true_tallies=true_tallies)


def _keep_all(
    partitions: list[UserPartition], rule: KeyedRule, memory_bytes: int, add: Callable[[Points], object]
) -> tuple[int, TrueTallies | None]:
    """Keep records, every partition on the next free thread.

    Kept points are added, and the capped total and the tallies are returned.
    """
    true_totals: list[int] = []
    true_tallies: list[TrueTallies] = []
    work = current_work()

    def keep(partition: UserPartition) -> None:
        for rows in partition.whole_users(memory_bytes // thread_count()):
            kept = _keep(rows, rule)
            slices = None if rows.slices is None else rows.slices[kept.rows]
            add(Points(rows.longitudes[kept.rows], rows.latitudes[kept.rows], slices))
            true_totals.append(kept.true_capped_total)
            if kept.true_tallies is not None:
                true_tallies.append(kept.true_tallies)
        work.add("bounding", 1 / len(partitions))

    run_each(keep, partitions)
    return sum(true_totals), reduce(operator.add, true_tallies) if true_tallies else None


def _keep(rows: UserRows, rule: KeyedRule) -> Kept:
    try:
        return rule.keep(rows.ids, rows.longitudes, rows.latitudes, rows.slices)
    except MemoryError:
        msg = "bounding the records of each user needs more memory than there is: all records of one user are held at "
        msg += "once. Give the process more memory."
        raise HushgridError(msg) from None


class SpooledPoints:
    """Points in a temporary Arrow file, batch by batch."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._snapshot = Snapshot.of(path)
        with spilling(), pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            sizes = [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]
        self._sizes = dict(enumerate(sizes))

    def of_batches(self, numbers: Sequence[int]) -> "SpooledPoints":
        """Points of some batches of the file."""
        some = copy(self)
        some._sizes = {number: self._sizes[number] for number in numbers}  # noqa: SLF001  # a copy of its own
        return some

    def rows(self) -> int:
        """Number of points."""
        return sum(self._sizes.values())

    def parts(self) -> Sequence[Iterable[Block]]:
        """Batches of the file."""
        rows = self.rows()
        return [SpooledBatch(self._path, number, size / rows) for number, size in self._sizes.items() if size]

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
        points = batch.column("longitude").to_numpy(), batch.column("latitude").to_numpy()
        slices = batch.column(SLICE.name).to_numpy() if SLICE.name in batch.schema.names else None
        yield Block.of(*points, self.share, slices=slices)
