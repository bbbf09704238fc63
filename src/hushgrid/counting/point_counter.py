"""Exact counts over any source of points, on as many threads as there are processors."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import thread_count
from hushgrid.counting.curve import MOST_POINTS, Curve
from hushgrid.counting.progress import Progress, ShareDone
from hushgrid.counting.quadrant_counts import QuadrantCounts
from hushgrid.counting.refinement import Refinement
from hushgrid.counting.source import Block, PointSource
from hushgrid.counting.tally import Tally, tally_for
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.quadrants import Quadrants

# Every thread has counts of its own; on large partitions fewer threads run, so that these fit here.
COUNTS_BYTES = 2**28


class PointCounter:
    """Counts of the points of a source, in one pass over it for each partition.

    Quadtree cells are counted from points sorted along the Morton curve, in one pass for all, if these are few; else
    from dense counts of a level, and passes that look a few levels ahead.

    Parameters
    ----------
    domain : Domain
        Points outside are ignored, one row at a time.
    source : PointSource
    progress : callable, optional
        Told the same hundred steps for every question, on whichever thread has come so far; see `ShareDone`.

    Privacy
    -------
    Every answer is exact, hence private. Adding or removing one record changes one count of any partition by one. No
    record can cause an error, and neither the object's text nor its progress says anything of the data: in how many
    passes a question is answered depends on the number of rows, and is not told.
    """

    def __init__(self, domain: Domain, source: PointSource, *, progress: Progress | None = None) -> None:
        self._domain = domain
        self._source = source
        self._progress = progress
        self._done = ShareDone(None)  # of the question that is being answered
        self._curve: Curve | None = None
        self._quadrant_counts = QuadrantCounts(domain, self._pass)

    @property
    def domain(self) -> Domain:
        """The rectangle points are counted in."""
        return self._domain

    def rows(self) -> int:
        """Number of rows, in the domain or not; adding a record adds at most one."""
        with self._one_snapshot():
            return self._source.rows()

    def total(self) -> int:
        """Number of points in the domain."""
        return int(self.count(Grid(domain=self._domain, rows=1, columns=1))[0])

    def count(self, partition: Partition) -> NDArray[np.int64]:
        """Points in every cell of the partition, zeros too, in the partition's order."""
        if partition.domain != self._domain:
            msg = f"the partition must tile the counter's domain {self._domain}, got {partition.domain}."
            raise ArgumentError(msg)
        with self._one_snapshot(), ShareDone(self._progress) as self._done:
            if not isinstance(partition, Quadrants):
                return self._pass(partition)
            if self._source.rows() > MOST_POINTS:
                return self._quadrant_counts.count(partition)
            self._curve = self._curve or Curve.of(self._source, self._domain, self._done)
            return self._curve.count(partition)

    def _pass(self, partition: Partition | Refinement) -> NDArray[np.int64]:
        return _Pass(self._source.parts(), tally_for(partition), partition.cells, self._done).run()

    @contextmanager
    def _one_snapshot(self) -> Iterator[None]:
        self._source.check_unchanged()
        try:
            yield
        finally:
            # After an error too: a file that was being written to looks damaged.
            self._source.check_unchanged()


class _Pass:
    """One reading of all parts: threads take the next part each until none is left."""

    def __init__(self, parts: Sequence[Iterable[Block]], tally: Tally, cells: int, done: ShareDone) -> None:
        self._parts = deque(parts)
        self._tally = tally
        self._cells = cells
        self._done = done

    def run(self) -> NDArray[np.int64]:
        """Sum of the counts of all threads."""
        affordable = COUNTS_BYTES // (8 * max(1, self._cells))
        threads = max(1, min(thread_count(), len(self._parts), affordable))
        if threads == 1:
            return self._count_parts()[:-1]
        with ThreadPoolExecutor(threads) as pool:
            futures = [pool.submit(self._count_parts) for _ in range(threads)]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                self._parts.clear()  # after an error or an interrupt, no thread begins another part
            true_counts = futures[0].result()
            for future in futures[1:]:
                true_counts += future.result()
        return true_counts[:-1]

    def _count_parts(self) -> NDArray[np.int64]:
        true_counts = np.zeros(self._cells + 1, np.int64)
        while True:
            try:
                part = self._parts.popleft()
            except IndexError:
                return true_counts
            for block in part:
                self._tally(block, true_counts)
                self._done.add(block.share)
