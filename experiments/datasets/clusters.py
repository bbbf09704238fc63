"""Generated points, for where there are no real ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain

BACKGROUND_SHARE = 0.05  # of the points lie anywhere


@dataclass(frozen=True, kw_only=True)
class ClusterDataset:
    """Generated points: Gaussian clusters of very different weight and width, and a few points anywhere.

    Examples
    --------
    >>> domain = Domain(west=0, south=0, east=2, north=1)
    >>> dataset = ClusterDataset(name="toy", domain=domain, largest_query=(1, 0.5), size=100, clusters=3, seed=1)
    >>> dataset.points().shape
    (100, 2)
    """

    name: str
    domain: Domain
    largest_query: tuple[float, float]
    size: int
    clusters: int
    seed: int

    @property
    def at_hand(self) -> bool:
        """Everywhere."""
        return True

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the points, shape (n, 2); the same at every call."""
        origin, extent = (self.domain.west, self.domain.south), (self.domain.width, self.domain.height)
        return origin + clustered(self.size, dimensions=2, clusters=self.clusters, seed=self.seed) * extent


def clustered(size: int, *, dimensions: int, clusters: int, seed: int) -> NDArray[np.float64]:
    """Clustered points in the unit cube of any dimension, shape (size, dimensions).

    Examples
    --------
    >>> points = clustered(1000, dimensions=3, clusters=5, seed=1)
    >>> points.shape, bool((0 <= points.min()) & (points.max() < 1))
    ((1000, 3), True)
    """
    rng = np.random.default_rng(seed)
    centres = rng.random((clusters, dimensions))
    widths = 10 ** rng.uniform(-3, -1, clusters)
    weights = 1 / np.arange(1, clusters + 1)
    member = rng.choice(clusters, size=size, p=weights / weights.sum())
    inside = centres[member] + widths[member, None] * rng.standard_normal((size, dimensions))
    anywhere = rng.random((size, dimensions))
    # A cluster that crosses an edge goes on at the opposite one.
    return np.where(rng.random((size, 1)) < BACKGROUND_SHARE, anywhere, inside) % 1
