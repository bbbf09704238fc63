"""What every partition of a domain into leaf cells offers."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain


class Partition(Protocol):
    """Disjoint leaf cells of a domain, in an order fixed before any data is read.

    Implemented by `Grid`, `NestedGrid`, `GroupedGrid` and `Tree`, which tile it, and by `Patchwork`, which need not.
    """

    @property
    def domain(self) -> Domain:
        """The rectangle the cells lie in."""

    @property
    def cells(self) -> int:
        """Number of leaf cells."""

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """West, south, east, north of the leaves `first` to `stop`, shape (leaves, 4)."""
