"""Made-up crossroads of two states in a larger box, like the paper's "road" set, which could not be had."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain

STATES = (  # about the outlines of Washington and New Mexico, and their shares of the points
    (Domain(west=-124.7, south=45.5, east=-116.9, north=49.0), 0.6),
    (Domain(west=-109.05, south=31.3, east=-103.0, north=37.0), 0.4),
)
COUNTRY_SHARE = 0.5  # of the points of a state lie on country roads, the others in towns
COUNTRY_BLOCK, TOWN_BLOCK = 1 / 64, 1 / 512  # degrees between parallel roads
JITTER = 0.1  # of a block: roads are not quite straight
TOWNS = 300  # in a state
TOWN_WIDTHS = (0.01, 0.2)  # degrees, the narrowest and the widest


@dataclass(frozen=True, kw_only=True)
class TwoStatesDataset:
    """Two dense rectangles with blank space between them; most of each is filled evenly.

    Examples
    --------
    >>> domain = Domain(west=-126, south=30, east=-101, north=50)
    >>> TwoStatesDataset(name="toy", domain=domain, largest_query=(16, 16), size=100).points().shape
    (100, 2)
    """

    name: str
    domain: Domain
    largest_query: tuple[float, float]
    size: int
    seed: int = 2006

    @property
    def at_hand(self) -> bool:
        """Everywhere."""
        return True

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the crossroads, shape (n, 2); the same at every call."""
        rng = np.random.default_rng(self.seed)
        first = round(self.size * STATES[0][1])
        numbers = (first, self.size - first)
        return np.concatenate(
            [_crossroads(state, number, rng) for (state, _), number in zip(STATES, numbers, strict=True)]
        )


def _crossroads(state: Domain, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Crossroads of one state: a lattice of country roads, and the finer ones of towns."""
    low, extent = np.array((state.west, state.south)), np.array((state.width, state.height))
    centres = rng.random((TOWNS, 2)) * extent
    narrowest, widest = TOWN_WIDTHS
    widths = narrowest * (widest / narrowest) ** rng.random(TOWNS)
    weights = 1 / np.arange(1, TOWNS + 1)
    town = rng.choice(TOWNS, size=size, p=weights / weights.sum())
    in_town = centres[town] + widths[town, None] * rng.standard_normal((size, 2))
    in_country = rng.random((size, 2)) * extent
    country = rng.random((size, 1)) < COUNTRY_SHARE
    block = np.where(country, COUNTRY_BLOCK, TOWN_BLOCK)
    place = (np.floor(np.where(country, in_country, in_town) / block) + JITTER * rng.random((size, 2))) * block
    # What crosses the border goes on at the opposite one.
    return np.asarray(low + place % extent)
