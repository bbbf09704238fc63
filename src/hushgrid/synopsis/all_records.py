"""All records of all users, as far as a release knows them.

Counts of kept records say too little where some users have many more records than others. What is measured besides is
public in its form: how many users have how many records, and how many records lie in each of a few regions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid

REGION_SIDE = 16  # regions along either side of the domain
BLOCKS = (2, 4, 8, 16)  # along either side, at the levels that regions are corrected at
WHOLE_RECORD = 1024  # what one record weighs in a region, if its user has no more than the cap
LARGEST_START = 4096  # records of a user: the last bin begins there, or later if K is large
BINS_BEYOND = 8  # the last bin begins at 8 K at least


def bin_starts(most: int) -> tuple[int, ...]:
    """Fewest records of a user in each bin, two bins to a doubling.

    They follow from K, so that they are public.

    Examples
    --------
    >>> bin_starts(10)[:10], bin_starts(10)[-1]
    ((1, 2, 3, 4, 6, 8, 11, 16, 23, 32), 4096)
    """
    last = max(LARGEST_START, BINS_BEYOND * most)
    doublings = 2 * (last - 1).bit_length() + 1
    return tuple(dict.fromkeys(round(2 ** (half / 2)) for half in (0, 2, 3, *range(4, doublings))))


def regions_of(domain: Domain) -> Grid:
    """The public regions that all records are counted in."""
    return Grid(domain=domain, rows=REGION_SIDE, columns=REGION_SIDE)


def users_at_least(users: Sequence[int] | Indices) -> Indices:
    """Noisy numbers of users in each bin and all after it."""
    return np.cumsum(np.asarray(users, np.int64)[::-1])[::-1]


@dataclass(frozen=True, kw_only=True)
class AllRecords:
    """What turns counts of kept records into counts of all.

    Parameters
    ----------
    users : tuple of int
        Noisy number of users in each bin of `bin_starts`.
    regions : tuple of int
        Noisy weight of all records in each region, `WHOLE_RECORD` for one; of a user's, at most the cap together.
    ratios : tuple of float
        What counts in each region are multiplied by, besides the factor that makes all sum to the total.
    uneven : float
        Variance of a count for each record in it, because few records of a user stand for all.
    regional : tuple of float
        Variance of a count for each record in it, because blocks of regions are known with noise; for each of `BLOCKS`.
    region_sizes : tuple of float
        Records in the block of a record, on average.
    total_error : float
        Standard deviation of the total, as a share of it.
    """

    users: tuple[int, ...]
    regions: tuple[int, ...]
    ratios: tuple[float, ...]
    uneven: float
    regional: tuple[float, ...]
    region_sizes: tuple[float, ...]
    total_error: float

    def leaf_ratios(self, bounds: Floats, domain: Domain) -> Floats:
        """Mean ratio inside each leaf, shape (leaves,)."""
        return mean_inside(np.array(self.ratios), bounds, domain)

    def variances(self, counts: Floats, total: float) -> Floats:
        """Variances of counts, beside noise and spread; shape (n,).

        Inside a block, what its ratio gets wrong grows with the square of the count; over many, with the count. Nothing
        is uncertain about the share of an area that has all records.
        """
        inside = np.clip(counts, 0, max(total, 0))
        elsewhere = 1 - inside / max(total, 1.0)
        for_each = np.full(len(inside), self.uneven)
        for regional, size in zip(self.regional, self.region_sizes, strict=True):
            for_each += regional * np.minimum(inside / size, 1)
        return np.asarray(inside * elsewhere * for_each + (self.total_error * inside) ** 2)


def mean_inside(values: Floats, bounds: Floats, domain: Domain) -> Floats:
    """Means over rectangles of values given by region, shape (n,).

    Examples
    --------
    >>> square, halves = Domain(west=0, south=0, east=1, north=1), np.tile([1.0, 3.0], (REGION_SIDE, REGION_SIDE // 2))
    >>> mean_inside(halves.ravel(), np.array([[0, 0, 1, 1], [0, 0, 1 / 16, 0.3]]), square)
    array([2., 1.])
    """
    west, south, east, north = np.asarray(bounds, np.float64).T
    columns = _overlaps((west - domain.west) / domain.width, (east - domain.west) / domain.width)
    rows = _overlaps((south - domain.south) / domain.height, (north - domain.south) / domain.height)
    return np.asarray(((rows @ values.reshape(REGION_SIDE, REGION_SIDE)) * columns).sum(axis=1))


def _overlaps(low: Floats, high: Floats) -> Floats:
    """Shares of intervals in each column of regions, shape (n, columns)."""
    edges = np.arange(REGION_SIDE + 1)
    low, high = REGION_SIDE * low[:, None], REGION_SIDE * high[:, None]
    lengths = np.clip(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0, None)
    return np.asarray(lengths / lengths.sum(axis=1, keepdims=True))
