"""The share of records kept at user level, and what lies beyond a cap."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.synopsis.all_records import AllRecords, bin_starts, users_at_least
from hushgrid.synopsis.answer import ONE_LAPLACE, reach_of_noise
from hushgrid.synopsis.claim import USERS, Claim
from hushgrid.synopsis.scale import Scale

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Noisy:
    """A noisy number and the variance of its noise."""

    value: float
    variance: float


@dataclass(frozen=True, kw_only=True)
class KeptShare:
    """The share of the records that were kept.

    Parameters
    ----------
    estimate, low, high : float
        The share, and an interval that holds it with 95 % confidence.
    cap : int or None
        How many records of one user are counted at most; None where the number of all records is public.
    is_known : bool
        Whether the interval says more than K and the cap do.
    """

    estimate: float
    low: float
    high: float
    cap: int | None
    is_known: bool

    @classmethod
    def told_by(cls, claim: Claim, scale: Scale | None, kept: Noisy) -> Self | None:
        """The share that a release at user level tells, if it does.

        It tells it by a public total, or by a noisy one.
        """
        if scale is not None and scale.source == "public":
            return cls.of(kept, Noisy(value=scale.total, variance=0.0), most=claim.max_per_unit, cap=None)
        if claim.total is None or claim.total_rate is None or claim.total.cap < claim.max_per_unit:
            return None
        total = Noisy(value=claim.total.value, variance=discrete_laplace_variance(claim.total_rate))
        return cls.of(kept, total, most=claim.max_per_unit, cap=claim.total.cap)

    @classmethod
    def of(cls, kept: Noisy, total: Noisy, *, most: int, cap: int | None) -> Self:
        """The share that two noisy numbers tell.

        If s is the share, ``kept - s * total`` is noise alone: the interval has every s for which that is not too much
        (Fieller, 1954). Each noise is taken for one Laplace draw, which at this confidence is the widest it can be. Of
        every user at least `most` / `cap` of the records that count were kept, so the share is not smaller.

        Examples
        --------
        >>> kept, total = Noisy(value=43_000, variance=1e4), Noisy(value=100_000, variance=4e6)
        >>> KeptShare.of(kept, total, most=20, cap=200).words
        'About 43 % of the records were kept (41 to 45 % with 95 % confidence),
        counting at most 200 of each user; the share of all records is no larger.'
        """
        least = 0.0 if cap is None else min(1.0, most / cap)
        ratio = kept.value / total.value if total.value > 0 else math.inf
        estimate = min(max(ratio, least), 1.0)
        parts = np.array([kept.variance, estimate**2 * total.variance])
        reach = float(reach_of_noise(CONFIDENCE, ONE_LAPLACE * (parts**2).sum() / (parts.sum() ** 2 or 1.0)))
        certain = total.value**2 - reach**2 * total.variance
        if ratio == math.inf or certain <= 0:
            return cls(estimate=estimate, low=least, high=1.0, cap=cap, is_known=False)
        middle = kept.value * total.value
        half = math.sqrt(max(middle**2 - certain * (kept.value**2 - reach**2 * kept.variance), 0.0))
        low, high = (min(max((middle + side * half) / certain, least), 1.0) for side in (-1, 1))
        return cls(estimate=estimate, low=low, high=high, cap=cap, is_known=low > least or high < 1)

    @property
    def words(self) -> str:
        """The share as a sentence."""
        if not self.is_known:
            return "Which share of the records was kept is lost in the noise."
        among = (
            "by that total"
            if self.cap is None
            else f"counting at most {self.cap:,} of each user; the share of all records is no larger"
        )
        between = f"{_percent(self.low)} to {_percent(self.high)} % with {100 * CONFIDENCE:g} % confidence"
        return f"About {_percent(self.estimate)} % of the records were kept ({between}), {among}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def about_all_records(claim: Claim, scale: Scale, known: AllRecords) -> tuple[str, ...]:
    """What is counted, and what lies beyond the cap, in words."""
    assert claim.total is not None
    cap = claim.total.cap
    if scale.cap is not None:
        counted = f"Counts are of records, at most {cap:,} of each user: whoever has more counts for {cap:,}."
        return counted, _users_beyond(claim, known, cap)
    counted = f"Counts are of all records, scaled to a public total of {scale.total:,}."
    return counted, _records_beyond(claim, scale.total)


def _users_beyond(claim: Claim, known: AllRecords, cap: int) -> str:
    """How many users have more than is counted, in words.

    They are those in the bins from the cap on.
    """
    starts = bin_starts(claim.max_per_unit)
    first = next((number for number, start in enumerate(starts) if start >= cap), len(starts) - 1)
    bins = len(starts) - first
    users = int(users_at_least(known.users)[first])
    deviation = math.sqrt(bins * discrete_laplace_variance(claim.spent_on(USERS)))
    reach = float(reach_of_noise(CONFIDENCE, np.array(ONE_LAPLACE / bins))) * deviation
    low, high = max(users - reach, 0), max(users + reach, 0)
    confidence = f"with {100 * CONFIDENCE:g} % confidence"
    if low == 0:
        return f"At most {high:,.0f} users have {starts[first]:,} or more, {confidence}; what is beyond is not counted."
    between = f"{low:,.0f} to {high:,.0f} {confidence}"
    return f"About {users:,} users have {starts[first]:,} or more ({between}); what is beyond is not counted."


def _records_beyond(claim: Claim, total: int) -> str:
    """Which share of a public total lies beyond the cap, in words."""
    assert claim.total is not None
    assert claim.total_rate is not None
    reach = float(reach_of_noise(CONFIDENCE, np.array(ONE_LAPLACE)))
    half = reach * math.sqrt(discrete_laplace_variance(claim.total_rate)) / total
    share = 1 - claim.total.value / total
    low, estimate, high = (f"{100 * min(max(each, 0.0), 1.0):.0f}" for each in (share - half, share, share + half))
    return (
        f"About {estimate} % of them ({low} to {high} % with {100 * CONFIDENCE:g} % confidence) are beyond "
        f"{claim.total.cap:,} of a user; they are taken to lie where the others do."
    )
