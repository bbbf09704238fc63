"""What trials need to know of a data set."""

from collections.abc import Hashable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain


class Dataset(Hashable, Protocol):
    """Points, the domain they are published on, and the size of the largest query asked of them.

    Implemented by `TableDataset`, `ClusterDataset`, `TwoStatesDataset` and `LawDataset`.
    """

    @property
    def name(self) -> str:
        """What trials call it."""

    @property
    def domain(self) -> Domain:
        """The public rectangle."""

    @property
    def largest_query(self) -> tuple[float, float]:
        """Width and height of the largest query, q6, in the units of the domain."""

    @property
    def size(self) -> int:
        """About how many points there are; sizes that are tried lie around those it suggests."""

    @property
    def at_hand(self) -> bool:
        """Whether its points can be had on this machine."""

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the points in the domain, shape (n, 2)."""
