"""Sums over all records of all users, for every cap that may be chosen.

Which cap is chosen follows from noisy values, and by then the records that were not kept are out of reach. So the sums
are made for all caps while records are bounded.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.all_records import WHOLE_RECORD, bin_starts, regions_of


@dataclass(frozen=True, kw_only=True, eq=False)
class TrueTallies:
    """Exact sums over users.

    Parameters
    ----------
    true_users : array of int64, shape (bins,)
        Users by the number of their records.
    true_totals : array of int64, shape (caps,)
        Records of all users, at most the cap of each.
    true_regions : array of int64, shape (caps, regions)
        Weight of all records in each region; those of a user weigh ``WHOLE_RECORD * cap`` together at most.

    Privacy
    -------
    All of it is exact. With all records of one user, one of `true_users` changes by one, one of `true_totals` by at
    most its cap, and the sum of a row of `true_regions` by at most `WHOLE_RECORD` times that.
    """

    true_users: Indices
    true_totals: Indices
    true_regions: Indices

    def __repr__(self) -> str:
        return "TrueTallies(...)"

    def __add__(self, other: "TrueTallies") -> "TrueTallies":
        return TrueTallies(
            true_users=self.true_users + other.true_users,
            true_totals=self.true_totals + other.true_totals,
            true_regions=self.true_regions + other.true_regions,
        )


@dataclass(frozen=True, kw_only=True)
class UserTally:
    """What is summed over users: bins, caps and regions, all public.

    Parameters
    ----------
    domain : Domain
        All records lie in it.
    starts : tuple of int
        Fewest records of a user in each bin.
    caps : tuple of int
        Records of one user that may count at most, to choose from.
    """

    domain: Domain
    starts: tuple[int, ...]
    caps: tuple[int, ...]

    @classmethod
    def of(cls, domain: Domain, *, most: int, cap: int | None) -> Self:
        """The tally for K records a user, and for one cap or all.

        A cap is at least 2 K: below, kept records say as much.
        """
        starts = bin_starts(most)
        caps = tuple(start for start in starts if start >= 2 * most) if cap is None else (cap,)
        return cls(domain=domain, starts=starts, caps=caps)

    @property
    def regions(self) -> Grid:
        """The regions that records are counted in."""
        return regions_of(self.domain)

    def regions_at(self, longitudes: Floats, latitudes: Floats) -> Indices:
        """The region of each point."""
        west, south, _, _ = self.domain.bounds
        grid = self.regions
        columns = cells.cell(longitudes, west, grid.column_scale, grid.columns)
        return np.asarray(cells.cell(latitudes, south, grid.row_scale, grid.rows) * grid.columns + columns)

    def count(self, regions: Indices, places: Indices, sizes: Indices, true_counts: Indices | int = 1) -> TrueTallies:
        """Sum over records.

        Parameters
        ----------
        regions : array, shape (n,)
            Where each record, or group of records, lies.
        places : array, shape (n,)
            Where `sizes` has the number of records of its user.
        sizes : array, shape (sizes,)
            Numbers of records of users.
        true_counts : array, shape (n,)
            Records in each group.
        """
        true_records = np.zeros((self.regions.cells, len(sizes)), np.int64)
        np.add.at(true_records, (regions, places), true_counts)
        users = true_records.sum(axis=0) // sizes
        true_users = np.zeros(len(self.starts), np.int64)
        np.add.at(true_users, np.searchsorted(self.starts, sizes, side="right") - 1, users)
        capped = np.minimum(sizes[:, None], self.caps)
        weights = WHOLE_RECORD * capped // sizes[:, None]  # of each record of such a user, rounded down
        return TrueTallies(
            true_users=true_users,
            true_totals=users @ capped,
            true_regions=np.asarray((true_records @ weights).T, np.int64),
        )
