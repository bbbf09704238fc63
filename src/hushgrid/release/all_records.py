"""What is measured of all records of users, beside counts of kept ones."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.counting.bounding import PRIVATE, UserLevel
from hushgrid.counting.by_user.tallies import TrueTallies, UserTally
from hushgrid.counting.counter import BoundedCounter
from hushgrid.errors import ArgumentError
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.privacy.budget import KEPT_SHARE, SIZE_SHARE, TOTAL_SHARE, Budget
from hushgrid.synopsis.all_records import WHOLE_RECORD, users_at_least
from hushgrid.synopsis.claim import REGIONS, USERS
from hushgrid.synopsis.region_fit import to_all_records
from hushgrid.synopsis.scale import Scale
from hushgrid.synopsis.synopsis import Synopsis

# Of epsilon: for users by their records, the total, and all records by region. The rest is for counts of kept records.
USERS_SHARE, RECORDS_SHARE, REGIONS_SHARE = Fraction(1, 20), Fraction(1, 10), Fraction(1, 5)
ALL_RECORDS_SHARE = USERS_SHARE + RECORDS_SHARE + REGIONS_SHARE
# Standard deviations of noise beyond which users are believed, of many bins together and of one bin, whose noise has
# the longer tail: noise alone looks like users once in some thousand times.
CLEARLY_MANY, CLEARLY_ONE_BIN = 3.5, 6.0


@dataclass(frozen=True, kw_only=True)
class NoisyRecords:
    """What was measured of all records: noisy, and paid for."""

    users: tuple[int, ...]
    cap: int
    total: int
    regions: tuple[int, ...]

    def scaled(self, synopsis: Synopsis, public_total: int | None) -> Synopsis:
        """The release with counts of all records.

        Of each user they count at most the cap, unless the total is public.
        """
        if public_total is None:
            scale = Scale.to(self.total, synopsis.counts, source="private", cap=self.cap)
        else:
            scale = Scale.to(public_total, synopsis.counts, source="public")
        known = to_all_records(synopsis, scale, users=self.users, regions=self.regions)
        return synopsis.scaled(replace(scale, all_records=known))


def measure_all_records(tally: UserTally, true_tallies: TrueTallies, budget: Budget) -> NoisyRecords:
    """Measure users by their records, then the total and the regions.

    The numbers of users choose the cap for the other two.

    Privacy
    -------
    A user is in one bin, adds at most the cap to the total, and `WHOLE_RECORD` times the cap to all regions together.
    The cap follows from the noisy bins.
    """
    users = budget.noisy_by_unit(true_tallies.true_users, change=1, share=USERS_SHARE, purpose=USERS)
    epsilon = budget.claim().spent_on(USERS) / USERS_SHARE
    chosen = best_cap(tally, users, users_rate=epsilon * USERS_SHARE, total_rate=epsilon * RECORDS_SHARE)
    cap = tally.caps[chosen]
    total = budget.noisy_total(int(true_tallies.true_totals[chosen]), cap=cap, share=RECORDS_SHARE)
    regions = budget.noisy_by_unit(
        true_tallies.true_regions[chosen], change=WHOLE_RECORD * cap, share=REGIONS_SHARE, purpose=REGIONS
    )
    return NoisyRecords(users=tuple(users.tolist()), cap=cap, total=total, regions=tuple(regions.tolist()))


def best_cap(tally: UserTally, users: Indices, *, users_rate: Fraction, total_rate: Fraction) -> int:
    """Number of the cap whose total promises the least error.

    The error has the noise, which grows with the cap, and the records beyond it, as far as the number of users who have
    these stands out of its noise.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> tally = UserTally.of(Domain(west=0, south=0, east=1, north=1), most=1, cap=None)
    >>> few, many = np.eye(len(tally.starts), dtype=int)[[1, 12]]  # users with 2 records, and with 91 or more
    >>> rates = {"users_rate": Fraction(1), "total_rate": Fraction(1)}
    >>> [tally.caps[best_cap(tally, users, **rates)] for users in (500 * few, 500 * few + 100 * many)]
    [3, 128]
    """
    above = _records_above(tally, users, deviation=float(np.sqrt(discrete_laplace_variance(users_rate))))
    caps = np.array(tally.caps)
    noise = np.array([discrete_laplace_variance(total_rate / cap) for cap in tally.caps])
    return int(np.argmin(noise + np.interp(caps, tally.starts, above) ** 2))


def _records_above(tally: UserTally, users: Indices, *, deviation: float) -> Floats:
    """Records beyond the start of each bin, of users who are not noise."""
    tails, bins = users_at_least(users), np.arange(len(users), 0, -1)
    largest = np.maximum.accumulate(users[::-1])[::-1]
    clearly = CLEARLY_MANY + (CLEARLY_ONE_BIN - CLEARLY_MANY) / bins
    many = np.where(tails > clearly * deviation * np.sqrt(bins), tails, 0)
    believed = np.maximum(many, np.where(largest > CLEARLY_ONE_BIN * deviation, largest, 0))
    widths = np.diff(tally.starts, append=2 * tally.starts[-1])
    return np.asarray(np.cumsum((believed * widths)[::-1])[::-1], np.float64)


def noisy_records(users: UserLevel, bounded: BoundedCounter, budget: Budget) -> NoisyRecords | None:
    """What an estimate of all records takes: noisy and paid for."""
    if bounded.true_tallies is None:
        return None
    tally = users.tally(bounded.counter.domain)
    assert tally is not None
    return measure_all_records(tally, bounded.true_tallies, budget)


def total_of_records(users: UserLevel, bounded: BoundedCounter, budget: Budget) -> int | None:
    """The number of all records: declared, or noisy and paid for."""
    if users.scale_to_total != PRIVATE and not users.kept_share:
        return users.scale_to_total
    assert users.max_for_total is not None
    return budget.noisy_total(bounded.true_capped_total, cap=users.max_for_total, share=total_share(users))


def total_share(users: UserLevel) -> Fraction:
    """Share of the budget for what is measured of all records."""
    if users.all_records:
        return ALL_RECORDS_SHARE
    if users.scale_to_total == PRIVATE:
        return TOTAL_SHARE
    return KEPT_SHARE if users.kept_share else Fraction(0)


def scale_of_total(users: UserLevel, total: int, synopsis: Synopsis) -> Scale:
    """How counts of kept records are scaled to the number of all."""
    if users.scale_to_total == PRIVATE:
        return Scale.to(total, synopsis.counts, source="private", cap=users.max_for_total)
    return Scale.to(total, synopsis.counts, source="public")


def check_shares(users: UserLevel | None, *, public_size: int | None, size_share: Fraction) -> None:
    """Refuse shares that leave nothing for counts, before anything is read."""
    total = Fraction(0) if users is None else total_share(users)
    if public_size is None and total + size_share >= 1:
        msg = f"size_share={size_share} leaves nothing for counts beside {total} for the number of all records."
        raise ArgumentError(msg, instead={"size_share": str(SIZE_SHARE)})
