"""Counts by an engine: of all its points, or of those kept.

Records are kept and counted by queries. Only cells and their counts come back.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hushgrid.counting.area_loops import NONE
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.by_user.tallies import TrueTallies, UserTally
from hushgrid.counting.engine.cells import CELL, cell_keys, numbers_of, place_expressions
from hushgrid.counting.engine.engine import AREA, LATITUDE, LONGITUDE, USER, Engine, Frame, working
from hushgrid.counting.quadtree import QuadrantCounts, Refinement
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.quadrants import Quadrants
from hushgrid.work import current_work

COLUMN, ROW, OCCURRENCE, RECORD, PRIORITY, RANK = "column", "row", "occurrence", "record", "priority", "rank"
RECORDS = "records"


def kept_records(engine: Engine, records: Frame, rule: KeyedRule) -> Frame:
    """Coordinates of the records that a rule keeps.

    Parameters
    ----------
    records : Frame
        Points of the domain, all with a user; where the rule has areas, with the one that each lies in.

    Privacy
    -------
    The same records as `KeyedRule.keep` chooses: a function of the key and of each user's own records, whatever task
    is run twice, and wherever. The key appears in the query, and so in whatever the engine logs of it.
    """
    if rule.distinct_areas:
        column, row = nw.col(AREA), nw.lit(0, nw.Int64)
    else:
        columns, rows = rule.lattice_shape
        column, row = place_expressions(engine, rule.domain, columns=columns, rows=rows)
    placed = records.with_columns(column.alias(COLUMN), row.alias(ROW))
    numbered = placed.with_columns(
        (_running_number(LONGITUDE, USER, COLUMN, ROW, by=[LONGITUDE, LATITUDE]) - 1).alias(OCCURRENCE)
    )
    if rule.distinct:
        numbered = numbered.filter(nw.col(OCCURRENCE) == 0)
    parts = [
        nw.lit(rule.key.hex()),
        *(nw.col(name).cast(nw.String) for name in (COLUMN, ROW, OCCURRENCE)),
        nw.col(USER),
    ]
    written = numbered.with_columns(nw.concat_str(parts, separator=":").alias(RECORD))
    hashed = engine.with_sha256(written, RECORD, PRIORITY)
    ranked = hashed.with_columns(_running_number(PRIORITY, USER, by=[PRIORITY]).alias(RANK))
    return ranked.filter(nw.col(RANK) <= rule.most).select(LONGITUDE, LATITUDE)


def capped_total(records: Frame, rule: KeyedRule) -> Frame:
    """Number of records of all users, capped.

    At most `rule.most_for_total` of each; null if there are none.
    """
    sizes = records.group_by(USER).agg(nw.len().alias(RECORDS))
    return sizes.select(nw.col(RECORDS).cast(nw.Int64).clip(0, rule.most_for_total)).select(nw.col(RECORDS).sum())


def user_tallies(engine: Engine, records: Frame, strangers: Frame | None, tally: UserTally) -> TrueTallies:
    """Sums over all records of all users.

    The engine counts records by region and by how many their user has; weights are given here, so that they are the
    same from every engine. Strangers are users with one record.
    """
    sized = [records.with_columns(nw.len().over(USER).cast(nw.Int64).alias(RECORDS))]
    if strangers is not None:
        sized.append(strangers.with_columns(nw.lit(1, nw.Int64).alias(RECORDS)))
    regions = tally.regions
    column, row = place_expressions(engine, regions.domain, columns=regions.columns, rows=regions.rows)
    placed = nw.concat([rows.select(column.alias(COLUMN), row.alias(ROW), RECORDS) for rows in sized])
    found = placed.group_by(COLUMN, ROW, RECORDS).agg(nw.len().alias(TRUE_COUNT)).collect()
    columns, rows, records_of_user, true_counts = (
        found[name].to_numpy().astype(np.int64) for name in (COLUMN, ROW, RECORDS, TRUE_COUNT)
    )
    sizes, places = np.unique(records_of_user, return_inverse=True)
    return tally.count(rows * regions.columns + columns, places, sizes, true_counts)


def _running_number(counted: str, *group: str, by: list[str]) -> nw.Expr:
    """Number the rows of each group, from 1.

    What is counted is never null.
    """
    return nw.col(counted).cum_count().over(*group, order_by=by)


TRUE_COUNT = "true_count"
ROWS = -1  # in place of a cell: all rows, in the domain or not
PIECE = 2**20  # pairs of a cell and its count that are handled at once


class EngineCounter:
    """Counts points of a snapshot, one query a partition.

    Only cells and their counts come back, and from databases the points whose areas are found here. Quadtree cells are
    counted ahead, so that one query serves many rounds; the first of these queries counts the rows, too.

    Parameters
    ----------
    domain : Domain
    engine : Engine
    snapshot : Frame
        Longitudes and latitudes that nothing changes any more, null in rows that are not points of the domain.

    Privacy
    -------
    Every answer is exact, hence private; cells that the engine has no row for are zeros like others. Rows are null or
    in the domain, so that no record can make a query fail. What is counted ahead, and so the number and the text of
    queries, follows from the cells asked for, and these from released values. What an engine logs and keeps is on the
    private side.
    """

    def __init__(self, domain: Domain, engine: Engine, snapshot: Frame) -> None:
        self._domain = domain
        self._engine = engine
        self._snapshot = snapshot
        self._true_rows: int | None = None
        self._quadrant_counts = QuadrantCounts(domain)

    @property
    def domain(self) -> Domain:
        """The rectangle points are counted in."""
        return self._domain

    def rows(self) -> int:
        """Number of rows, in the domain or not."""
        if self._true_rows is None:
            with working(self._engine.name):
                self._true_rows = int(self._all_rows().collect()[TRUE_COUNT][0])
        return self._true_rows

    def total(self) -> int:
        """Number of points in the domain."""
        return int(self.count(Grid(domain=self._domain, rows=1, columns=1))[0])

    def count(self, partition: Partition) -> NDArray[np.int64]:
        """Points in every cell of the partition."""
        if partition.domain != self._domain:
            msg = f"the partition must tile the counter's domain {self._domain}, got {partition.domain}."
            raise ArgumentError(msg)
        current_work().begin("counting")
        if isinstance(partition, Quadrants):
            return self._quadrant_counts.count(partition, self._query)
        return self._query(partition)

    def _query(self, partition: Partition | Refinement) -> NDArray[np.int64]:
        with working(self._engine.name), self._cells_of(partition) as keys:
            query = keys.group_by(CELL).agg(nw.len().alias(TRUE_COUNT))
            if with_rows := isinstance(partition, Refinement) and self._true_rows is None:
                query = nw.concat([query, self._all_rows()])
            found = query.collect()
        if with_rows:
            is_of_rows = found[CELL] == ROWS
            self._true_rows, found = int(found.filter(is_of_rows)[TRUE_COUNT][0]), found.filter(~is_of_rows)
        if isinstance(partition, AreaPartition):
            found = found.filter(found[CELL] != NONE)
        true_counts = np.zeros(partition.cells, np.int64)
        for first in range(0, len(found), PIECE):
            some = found[first : first + PIECE]
            true_counts[numbers_of(some[CELL].to_numpy().astype(np.int64), partition)] = some[TRUE_COUNT].to_numpy()
        return true_counts

    @contextmanager
    def _cells_of(self, partition: Partition | Refinement) -> Iterator[Frame]:
        """The cell of each point, from the engine; or its area, from our kernel."""
        points = self._snapshot.filter(~nw.col(LONGITUDE).is_null())
        if not isinstance(partition, AreaPartition):
            yield cell_keys(self._engine, points, partition)
            return
        with self._engine.with_areas(points, AreaIndex.of(partition)) as found:
            yield found.select(nw.col(AREA).alias(CELL))

    def _all_rows(self) -> Frame:
        """A query for the number of rows, as of one more cell."""
        rows = self._snapshot.select(nw.len().alias(TRUE_COUNT))
        return rows.select(nw.lit(ROWS, nw.Int64).alias(CELL), TRUE_COUNT)
