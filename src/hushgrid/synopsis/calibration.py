"""How wide the intervals of one release have to be, beside what its variances say."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from hushgrid.errors import ArgumentError

CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99)  # that factors are known for


def normal_reach(confidence: float) -> float:
    """Standard deviations to either side that hold so much of a normal law.

    Examples
    --------
    >>> round(normal_reach(0.95), 2)
    1.96
    """
    if not 0 < confidence < 1 or (1 + confidence) / 2 == 1:  # which rounds so beyond the fifteenth nine
        msg = f"confidence must lie between 0 and 1, such as 0.95; got confidence={confidence!r}."
        raise ArgumentError(msg)
    return NormalDist().inv_cdf((1 + confidence) / 2)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Factors on the width of intervals, one for each of `CONFIDENCES`.

    How uneven points lie inside leaves differs from one data set to the next, and so does the share of noise that an
    inference removes. A calibration is found by publishing made-up points like those of the release, whose true counts
    are known (`hushgrid.calibrate`); a function of released values, it costs no privacy.

    Parameters
    ----------
    factors : tuple of float
        On the normal law's reach; below one where intervals would be too wide.

    Examples
    --------
    >>> calibration = Calibration(factors=(1.0, 1.0, 1.1, 1.2, 1.4))
    >>> calibration.factor(0.95)
    1.2
    """

    factors: tuple[float, ...] = (1.0,) * len(CONFIDENCES)

    def factor(self, confidence: float) -> float:
        """The factor at any confidence: linear between those known, in standard deviations, and level beyond."""
        known = [normal_reach(value) for value in CONFIDENCES]
        return float(np.interp(normal_reach(confidence), known, self.factors))

    def reach(self, confidence: float) -> float:
        """Standard deviations that an interval extends to either side."""
        return self.factor(confidence) * normal_reach(confidence)


UNCALIBRATED = Calibration()
