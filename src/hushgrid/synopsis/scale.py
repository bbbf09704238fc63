"""Counts of kept records, scaled to a total.

That is what a map of all records is expected to show.
"""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.synopsis.all_records import AllRecords

ScaleSource = Literal["public", "private"]

FEWEST_KEPT = 1.0  # estimated records below which there is nothing to scale


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A factor that makes counts sum to a total.

    The measurements stay as they are. Intervals are scaled too. Without `all_records` they do not cover what is lost or
    shifted because some records of some users were not kept, nor the noise of a private total.

    Parameters
    ----------
    source : "public" or "private"
        Whether the total was declared, or counted and paid for: records of all users, at most `cap` of each.
    total : int
        The declared or the noisy total.
    cap : int, optional
        With a private total, how many records of one user it counts at most.
    factor : float
        The total divided by the sum of the counts; one where either is not positive.
    all_records : AllRecords, optional
        What is known of records that were not kept, where that was measured.
    """

    source: ScaleSource
    total: int
    cap: int | None
    factor: float
    all_records: AllRecords | None = None

    @classmethod
    def to(cls, total: int, counts: Floats, *, source: ScaleSource, cap: int | None = None) -> Self:
        """The scale that makes counts sum to a total.

        Examples
        --------
        >>> Scale.to(500, np.array([30.0, 70.0]), source="public").factor
        5.0
        >>> Scale.to(500, np.array([3.0, -7.0]), source="public").factor
        1.0
        """
        kept = float(counts.sum())
        factor = total / kept if total > 0 and kept >= FEWEST_KEPT else 1.0
        return cls(source=source, total=total, cap=cap, factor=factor)

    def follows_from(self, counts: Floats, *, tolerance: float) -> bool:
        """Whether the factor follows from these unscaled counts."""
        expected = Scale.to(self.total, counts, source=self.source, cap=self.cap).factor
        return bool(np.isclose(self.factor, expected, rtol=tolerance, atol=0))
