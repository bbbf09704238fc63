"""The one way a method touches data."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.partition import Partition


class Counter(Protocol):
    """Exact counts of the points in a domain.

    Every answer is private: it may leave only through `Budget`, which adds the noise. Every pass of one counter reads
    the same snapshot of the data.

    Implemented by `PointCounter` over any `PointSource`, and by `EngineCounter` in whatever engine holds the points.
    """

    @property
    def domain(self) -> Domain:
        """The rectangle points are counted in; others are ignored, one row at a time."""

    def rows(self) -> int:
        """Number of rows, in the domain or not, as cheaply as it can be had; adding a record adds at most one."""

    def total(self) -> int:
        """Number of points in the domain."""

    def count(self, partition: Partition) -> NDArray[np.int64]:
        """Points in every cell of the partition, zeros too, in the partition's order."""
