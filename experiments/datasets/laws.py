"""Made-up points of a known law, as many as asked for: towns, streets between them, and a background.

They are made block by block, each block from a seed of its own, so that a hundred million need no file.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain

BLOCK = 10**6  # points
STREET_WIDTH = 2e-5  # standard deviation across a street, as a share of the domain's sides
SPREAD_SIGMA = 1.0  # of the logarithm of the spread of towns


@dataclass(frozen=True, kw_only=True)
class LawDataset:
    """Towns of Pareto sizes and log-normal spreads, streets from town to town, and a uniform background.

    Parameters
    ----------
    name : str
        What trials call it.
    domain : Domain
        The public rectangle.
    size : int
        Number of points.
    towns : int
        Number of towns.
    tail : float
        Exponent of the sizes of towns: the smaller, the larger the largest one.
    spread : float
        Median spread of a town, as a share of the domain's sides.
    streets, background : float
        Shares of the points that lie on streets, and anywhere.
    seed : int
        Of the law and of the points.

    Examples
    --------
    >>> domain = Domain(west=-10, south=35, east=30, north=60)
    >>> law = LawDataset(name="c", domain=domain, size=100, towns=9, tail=1, spread=0.01, streets=0.1, background=0.1)
    >>> law.points().shape
    (100, 2)
    """

    name: str
    domain: Domain
    size: int
    towns: int
    tail: float
    spread: float
    streets: float
    background: float
    seed: int = 2013

    @property
    def largest_query(self) -> tuple[float, float]:
        """Half as wide and half as high as the domain."""
        return self.domain.width / 2, self.domain.height / 2

    @property
    def at_hand(self) -> bool:
        """Everywhere."""
        return True

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the points, shape (n, 2); the same at every call."""
        points = np.empty((2, self.size)).T  # columns in one piece, as passes read them
        for number, first in enumerate(range(0, self.size, BLOCK)):
            points[first : first + BLOCK] = self._block(number, min(BLOCK, self.size - first))
        return points

    def _block(self, number: int, size: int) -> NDArray[np.float64]:
        """Some points, those of a town one after the other."""
        centres, shares, spreads, ends = self._law
        rng = np.random.default_rng([self.seed, number])
        in_towns, on_streets, anywhere = rng.multinomial(
            size, [1 - self.streets - self.background, self.streets, self.background]
        )
        town = np.repeat(np.arange(self.towns), rng.multinomial(in_towns, shares))
        street = np.repeat(np.arange(self.towns), rng.multinomial(on_streets, shares))
        along = rng.random((on_streets, 1))
        unit = np.concatenate(
            [
                centres[town] + spreads[town, None] * rng.standard_normal((in_towns, 2)),
                centres[street] * (1 - along)
                + ends[street] * along
                + STREET_WIDTH * rng.standard_normal((on_streets, 2)),
                rng.random((anywhere, 2)),
            ]
        )
        # What crosses an edge goes on at the opposite one.
        return (self.domain.west, self.domain.south) + unit % 1 * (self.domain.width, self.domain.height)

    @cached_property
    def _law(self) -> tuple[NDArray[np.float64], ...]:
        """Centres, shares and spreads of towns, and where the street of each one ends."""
        rng = np.random.default_rng(self.seed)
        centres = rng.random((self.towns, 2))
        sizes = rng.pareto(self.tail, self.towns) + 1
        spreads = self.spread * rng.lognormal(0, SPREAD_SIGMA, self.towns)
        ends = centres + 0.02 * rng.standard_normal((self.towns, 2))
        return centres, sizes / sizes.sum(), spreads, ends
