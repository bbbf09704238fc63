"""Made-up streets that cross the whole domain, on which STAQ is no better than AG (decision 15)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain


@dataclass(frozen=True, kw_only=True)
class StreetDataset:
    """Points evenly along streets from edge to edge, as many across as along.

    Parameters
    ----------
    streets : int
        Of either direction; the places they run at are drawn.

    Examples
    --------
    >>> domain = Domain(west=0, south=0, east=2, north=1)
    >>> dataset = StreetDataset(name="toy", domain=domain, largest_query=(1, 0.5), size=100, streets=3, seed=1)
    >>> dataset.points().shape
    (100, 2)
    """

    name: str
    domain: Domain
    largest_query: tuple[float, float]
    size: int
    streets: int
    seed: int

    @property
    def at_hand(self) -> bool:
        """Everywhere."""
        return True

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the points, shape (n, 2); the same at every call."""
        rng = np.random.default_rng(self.seed)
        places = rng.random((2, self.streets))
        axis, street = rng.integers(2, size=self.size), rng.integers(self.streets, size=self.size)
        unit = rng.random((self.size, 2))
        unit[np.arange(self.size), axis] = places[axis, street]
        return (self.domain.west, self.domain.south) + unit * (self.domain.width, self.domain.height)
