"""Which share of the records was kept, at user level."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from hushgrid.synopsis.answer import ONE_LAPLACE, reach_of_noise

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
        counting at most 200 of each user; of all, no more.'
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
        among = "by that total" if self.cap is None else f"counting at most {self.cap:,} of each user; of all, no more"
        between = f"{_percent(self.low)} to {_percent(self.high)} % with {100 * CONFIDENCE:g} % confidence"
        return f"About {_percent(self.estimate)} % of the records were kept ({between}), {among}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"
