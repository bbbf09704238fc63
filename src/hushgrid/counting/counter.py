"""Exact counts: the one way methods touch data.

Our own loops count on all processors, or the engine that holds the points does.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import thread_count
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule, MissingUser
from hushgrid.counting.by_user.tallies import TrueTallies
from hushgrid.counting.cell_loops import (
    MOST_POINTS,
    Curve,
    Tally,
    count_in_grid,
    count_in_nested_grid,
    quadrants_tally,
    refinement_tally,
    tree_tally,
)
from hushgrid.counting.filtered import outside
from hushgrid.counting.quadtree import QuadrantCounts, Refinement
from hushgrid.counting.source import Block, PointSource
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.quadrants import Quadrants
from hushgrid.geometry.tree import Tree
from hushgrid.work import Work, current_work


class Counter(Protocol):
    """Exact counts of the points in a domain.

    Every answer is private: it may leave only through `Budget`, which adds the noise. Every pass of one counter reads
    the same snapshot of the data.

    Implemented by `PointCounter` over any `PointSource`, and by `EngineCounter` in whatever engine holds the points.
    """

    @property
    def domain(self) -> Domain:
        """The rectangle points are counted in.

        Others are ignored, one row at a time.
        """

    def rows(self) -> int:
        """Number of rows, in the domain or not.

        As cheaply as it can be had; adding a record adds at most one.
        """

    def total(self) -> int:
        """Number of points in the domain."""

    def count(self, partition: Partition) -> NDArray[np.int64]:
        """Points in every cell of the partition.

        Zeros too, in the partition's order.
        """


def _grid_tally(grid: Grid) -> Tally:
    place = (grid.domain.bounds, (grid.column_scale, grid.row_scale), (grid.rows, grid.columns))

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_in_grid(block.longitudes, block.latitudes, *place, true_counts)

    return add


def _nested_grid_tally(nested: NestedGrid) -> Tally:
    return _leaf_tally(nested, nested.offsets[:-1])


def _grouped_grid_tally(grouped: GroupedGrid) -> Tally:
    return _leaf_tally(grouped.nested, grouped.cell_offsets)


def _leaf_tally(nested: NestedGrid, cell_offsets: NDArray[np.int64]) -> Tally:
    grid = nested.grid
    place = (grid.domain.bounds, (grid.column_scale, grid.row_scale), (grid.rows, grid.columns))
    edges = (grid.column_edges, grid.row_edges)
    leaf_scales = (nested.column_scales, nested.row_scales)
    sides, offsets = nested.sides.astype(np.int32), cell_offsets.astype(np.int32)

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_in_nested_grid(block.longitudes, block.latitudes, *place, edges, leaf_scales, sides, offsets, true_counts)

    return add


def _patchwork_tally(areas: AreaPartition) -> Tally:
    index = AreaIndex.of(areas)

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        index.count(block.longitudes, block.latitudes, true_counts)

    return add


TALLIES: Mapping[type, Callable[[Any], Tally]] = {
    Grid: _grid_tally,
    NestedGrid: _nested_grid_tally,
    GroupedGrid: _grouped_grid_tally,
    Tree: tree_tally,
    Quadrants: quadrants_tally,
    AreaPartition: _patchwork_tally,
    Refinement: refinement_tally,
}


def tally_for(partition: Partition | Refinement) -> Tally:
    """The tally of a partition.

    It adds the points of a block to ``partition.cells + 1`` true counts; the last takes the points outside the domain.
    """
    for kind, make in TALLIES.items():
        if isinstance(partition, kind):
            return make(partition)
    known = ", ".join(kind.__name__ for kind in TALLIES)
    msg = f"points can be counted on {known}; got a {type(partition).__name__}."
    raise TypeError(msg)


# Every thread has counts of its own. On large partitions fewer threads run, so that all counts fit into this.
COUNTS_BYTES = 2**28


class PointCounter:
    """Counts points of a source, one pass a partition.

    Quadtree cells are counted from points sorted along the Morton curve, in one pass for all, if these are few; else
    from dense counts of a level, and passes that look a few levels ahead.

    Parameters
    ----------
    domain : Domain
        Points outside are ignored, one row at a time.
    source : PointSource

    Privacy
    -------
    Every answer is exact, hence private. Adding or removing one record changes one count of any partition by one. No
    record can cause an error, and neither the object's text nor the progress of the work says anything of the data: in
    how many passes a question is answered depends on the number of rows, and is not told.
    """

    def __init__(self, domain: Domain, source: PointSource) -> None:
        self._domain = domain
        self._source = source
        self._curve: Curve | None = None
        self._quadrant_counts = QuadrantCounts(domain)

    @property
    def domain(self) -> Domain:
        """The rectangle points are counted in."""
        return self._domain

    def outside(self, areas: AreaPartition) -> "PointCounter":
        """A counter of the points that lie in none of the areas."""
        return PointCounter(self._domain, outside(self._source, areas))

    def rows(self) -> int:
        """Number of rows, in the domain or not."""
        with self._one_snapshot():
            return self._source.rows()

    def total(self) -> int:
        """Number of points in the domain."""
        return int(self.count(Grid(domain=self._domain, rows=1, columns=1))[0])

    def count(self, partition: Partition) -> NDArray[np.int64]:
        """Points in every cell of the partition.

        Zeros too, in the partition's order.
        """
        if partition.domain != self._domain:
            msg = f"the partition must tile the counter's domain {self._domain}, got {partition.domain}."
            raise ArgumentError(msg)
        work = current_work()
        work.begin("counting")
        with self._one_snapshot():
            if not isinstance(partition, Quadrants):
                return self._pass(partition)
            if self._source.rows() > MOST_POINTS:
                return self._quadrant_counts.count(partition, self._pass)
            self._curve = self._curve or Curve.of(self._source, self._domain, work)
            return self._curve.count(partition)

    def _pass(self, partition: Partition | Refinement) -> NDArray[np.int64]:
        return _Pass(self._source.parts(), tally_for(partition), partition.cells, current_work()).run()

    @contextmanager
    def _one_snapshot(self) -> Iterator[None]:
        self._source.check_unchanged()
        try:
            yield
        finally:
            # Check after an error too: a file that is being written to looks damaged.
            self._source.check_unchanged()


class _Pass:
    """One reading of all parts.

    Every thread takes the next part until none is left.
    """

    def __init__(self, parts: Sequence[Iterable[Block]], tally: Tally, cells: int, work: Work) -> None:
        self._parts = deque(parts)
        self._tally = tally
        self._cells = cells
        self._work = work

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
                self._work.add("counting", block.share)


BeforeRows = Callable[[], None]  # called before a step that may look at rows


def nothing() -> None:
    """Do nothing before rows are looked at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedCounter:
    """Counts of kept records, and sums over all.

    The total is of the records of all users, each user's capped. There are tallies where the rule asks for them.

    Privacy
    -------
    Holds no way back to the records that were not kept.
    """

    counter: Counter
    true_capped_total: int
    true_tallies: TrueTallies | None = None

    def __repr__(self) -> str:
        return "BoundedCounter(...)"


@runtime_checkable
class EngineSource(Protocol):
    """Points that an engine counts where they are.

    Implemented by `EnginePoints`.
    """

    def counter(self, domain: Domain) -> AbstractContextManager[Counter]:
        """Open a counter of the points."""

    def bounded_counter(self, rule: KeyedRule, *, missing: MissingUser) -> AbstractContextManager[BoundedCounter]:
        """Open a counter of the kept points."""

    def copied(self) -> AbstractContextManager[PointSource]:
        """Copy the rows to this machine, with slices if they were opened with them."""

    def state(self) -> bytes | None:
        """Digest that tells these points from others; private.

        None where nothing tells them.
        """


OpenedPoints = PointSource | EngineSource
SourceKind = Literal["table", "csv", "engine"]


def kind_of(points: OpenedPoints) -> SourceKind:
    """What reading points is like.

    CSV files have to be read to be counted, and engines work by queries.
    """
    kind: SourceKind = "engine" if isinstance(points, EngineSource) else getattr(points, "kind", "table")
    return kind


@contextmanager
def open_counter(domain: Domain, points: OpenedPoints) -> Iterator[Counter]:
    """A counter of points, while the context lasts."""
    if isinstance(points, EngineSource):
        with points.counter(domain) as counter:
            yield counter
    else:
        yield PointCounter(domain, points)


@contextmanager
def open_bounded_counter(points: OpenedPoints, rule: KeyedRule, *, missing: MissingUser) -> Iterator[BoundedCounter]:
    """A counter of kept points, while the context lasts."""
    if isinstance(points, EngineSource):
        with points.bounded_counter(rule, missing=missing) as bounded:
            yield bounded
        return
    with bounded_points(points, rule, missing=missing) as kept:
        del points  # from here on, only kept records can be read
        counter = PointCounter(rule.domain, kept.source)
        yield BoundedCounter(counter=counter, true_capped_total=kept.true_capped_total, true_tallies=kept.true_tallies)
