"""Exact counts that an engine makes where the data is."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hushgrid.counting.engine.cell_numbers import CELL, cell_numbers
from hushgrid.counting.engine.cell_of_point import LONGITUDE
from hushgrid.counting.engine.engine import Engine, Frame, working
from hushgrid.counting.progress import Progress, ShareDone
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.partition import Partition

TRUE_COUNT = "true_count"


class EngineCounter:
    """Counts of the points of a snapshot, one query for each partition; only cells and their counts come back.

    Parameters
    ----------
    domain : Domain
    engine : Engine
    snapshot : Frame
        Longitudes and latitudes that nothing changes any more, null in rows that are no points of the domain.
    progress : callable, optional
        Told when a query begins, and all the other steps when it ends; see `ShareDone`.

    Privacy
    -------
    Every answer is exact, hence private; cells that the engine has no row for are zeros like others. Rows are null or
    in the domain, so that no record can make a query fail. What an engine logs and keeps is on the private side.
    """

    def __init__(self, domain: Domain, engine: Engine, snapshot: Frame, *, progress: Progress | None = None) -> None:
        self._domain = domain
        self._engine = engine
        self._snapshot = snapshot
        self._progress = progress

    @property
    def domain(self) -> Domain:
        """The rectangle points are counted in."""
        return self._domain

    def rows(self) -> int:
        """Number of rows, in the domain or not; adding a record adds at most one."""
        return int(self._run(self._snapshot.select(nw.len().alias(TRUE_COUNT)))[TRUE_COUNT][0])

    def total(self) -> int:
        """Number of points in the domain."""
        return int(self.count(Grid(domain=self._domain, rows=1, columns=1))[0])

    def count(self, partition: Partition) -> NDArray[np.int64]:
        """Points in every cell of the partition, zeros too, in the partition's order."""
        if partition.domain != self._domain:
            msg = f"the partition must tile the counter's domain {self._domain}, got {partition.domain}."
            raise ArgumentError(msg)
        with working(self._engine.name):
            points = self._snapshot.filter(~nw.col(LONGITUDE).is_null())
            cells = cell_numbers(self._engine, points, partition)
            found = self._run(cells.group_by(CELL).agg(nw.len().alias(TRUE_COUNT)))
        true_counts = np.zeros(partition.cells, np.int64)
        true_counts[found[CELL].to_numpy().astype(np.int64)] = found[TRUE_COUNT].to_numpy()
        return true_counts

    def _run(self, query: Frame) -> nw.DataFrame[Any]:
        with ShareDone(self._progress), working(self._engine.name):
            return query.collect()
