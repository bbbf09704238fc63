"""How sure a change is: half widths, p-values and corrections."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.synopsis.answer import (
    CONFIDENCES,
    FLOOR_VARIANCE,
    ONE_LAPLACE,
    Answer,
    Calibration,
    Estimates,
    reach_of_noise,
)

LEAST_KNOWN = 1 - CONFIDENCES[-1]  # the least that intervals leave out by calibrations
SMALLEST = 1e-13  # p-value that is told apart
# Negative logarithms of what is left out, at which half widths are found: closer where p-values are large.
KNOTS = np.concatenate([np.linspace(0, 5, 101)[1:], np.linspace(5, -math.log(SMALLEST), 51)[1:]])


class TwoCounts(Protocol):
    """Counts of some places in two releases, whose noise is independent."""

    @property
    def before(self) -> Answer:
        """The counts of the first release."""
        ...

    @property
    def after(self) -> Answer:
        """The counts of the second release."""
        ...

    def halves(self, left_out: float) -> tuple[Floats, Floats]:
        """Half widths of the intervals of both counts, which leave out this probability."""
        ...

    def half_widths(self, left_out: float) -> Floats:
        """Half widths of the intervals of their difference, shape (n,)."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class AskedPlaces:
    """Counts of rectangles or polygons, whose intervals are calibrated.

    Parameters
    ----------
    before, after : Answer
    calibrations : pair of Calibration
    area_shares : pair of arrays, shape (n,)
        Size of each place, as a share of the domain.
    common : float
        Share of the spread inside cut cells that both have in common, so that it cancels.
    ratio : float
        Points of the second release for each point of the first.
    """

    before: Answer
    after: Answer
    calibrations: tuple[Calibration, Calibration]
    area_shares: tuple[Floats, Floats]
    common: float
    ratio: float

    def halves(self, left_out: float) -> tuple[Floats, Floats]:
        """Half widths of both."""
        one, other = (
            reach * np.hypot(answer.noise_std, answer.spread_std)
            for answer, reach in zip((self.before, self.after), self._reaches(left_out), strict=True)
        )
        return one, other

    def _reaches(self, left_out: float) -> list[Floats]:
        """Reaches of both, in standard deviations.

        Beyond what calibrations know, tails fall like those of Laplace noise.
        """
        known = max(left_out, LEAST_KNOWN)
        farther = math.log(left_out) / math.log(known)
        pairs = zip(self.calibrations, self.area_shares, strict=True)
        return [farther * calibration.reach(1 - known, shares) for calibration, shares in pairs]

    def half_widths(self, left_out: float) -> Floats:
        """Half widths of the difference.

        Noise is independent, so that squares of errors add up, but for the spread that both have in common. They are
        never narrower than noise alone needs if either count has been measured once: calibrations are right on average
        over places, and few places have heavy tails.
        """
        one, other = (np.asarray(answer.noise_std) ** 2 for answer in (self.before, self.after))
        noise = one + other
        share = np.divide(one, noise, out=np.zeros(len(noise)), where=noise > 0)
        excess = ONE_LAPLACE * (share**2 + (1 - share) ** 2)
        of_noise = reach_of_noise(1 - left_out, excess) * np.sqrt(noise)
        (before, after), (reach, other_reach) = self.halves(left_out), self._reaches(left_out)
        in_both = self.common * reach * other_reach * self._least_spread()
        return np.asarray(np.maximum(np.sqrt(before**2 + after**2 - 2 * in_both), of_noise))

    def _least_spread(self) -> Floats:
        """Covariance of two spreads if one lies wholly in the other.

        It is the spread of the finer cells, scaled by the points of both.
        """
        one, other = (np.asarray(answer.spread_std) ** 2 for answer in (self.before, self.after))
        return np.minimum(one * self.ratio, other / self.ratio)


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedAreas:
    """Counts of areas as they were measured, whose noise has a known law.

    Parameters
    ----------
    counts : pair of arrays, shape (n,)
    variances, fourths : pairs of arrays, shape (n,)
        Second and fourth cumulants of the noise.
    confidence : float
        Of the intervals in `before` and `after`.
    """

    counts: tuple[Floats, Floats]
    variances: tuple[Floats, Floats]
    fourths: tuple[Floats, Floats]
    confidence: float

    @property
    def before(self) -> Answer:
        """The counts of the first release."""
        return self._answer(0)

    @property
    def after(self) -> Answer:
        """The counts of the second release."""
        return self._answer(1)

    def _answer(self, side: int) -> Answer:
        nothing = np.zeros(len(self.counts[side]))
        reach = self._reach(1 - self.confidence, self.variances[side] + FLOOR_VARIANCE, self.fourths[side])
        return Estimates.of(self.counts[side], self.variances[side], nothing, reach=reach).answer()

    @staticmethod
    def _reach(left_out: float, variances: Floats, fourths: Floats) -> Floats:
        return reach_of_noise(1 - left_out, fourths / variances**2)

    def halves(self, left_out: float) -> tuple[Floats, Floats]:
        """Half widths of both."""
        one, other = (
            self._reach(left_out, variance + FLOOR_VARIANCE, fourth) * np.sqrt(variance + FLOOR_VARIANCE)
            for variance, fourth in zip(self.variances, self.fourths, strict=True)
        )
        return one, other

    def half_widths(self, left_out: float) -> Floats:
        """Half widths of the difference: cumulants of independent noise add up."""
        variance = self.variances[0] + self.variances[1] + 2 * FLOOR_VARIANCE
        return self._reach(left_out, variance, self.fourths[0] + self.fourths[1]) * np.sqrt(variance)


def with_error_of_scale(answer: Answer, variance: float) -> Answer:
    """Counts whose noise includes the error of the factor that they were scaled by.

    `variance` is that of the factor, relative to its square.
    """
    return replace(answer, noise_std=np.hypot(answer.noise_std, np.abs(answer.estimate) * math.sqrt(variance)))


def cumulants_with_scale(
    counts: Floats, variances: Floats, fourths: Floats, variance: float
) -> tuple[Floats, Floats, Floats]:
    """Counts, variances and fourth cumulants with the error of the factor.

    That error is taken for one Laplace noise.
    """
    of_scale = counts**2 * variance
    return counts, variances + of_scale, fourths + ONE_LAPLACE * of_scale**2


def p_values(sizes: Floats, half_widths: Callable[[float], Floats]) -> Floats:
    """P-value of each difference.

    It is what an interval around the difference leaves out when it ends at zero.

    Parameters
    ----------
    sizes : array, shape (n,)
        Absolute values of the differences.
    half_widths : callable
        Half widths of their intervals, shape (n,), by the probability these leave out.

    Examples
    --------
    >>> from statistics import NormalDist
    >>> sizes = np.array([0.0, 1.96, 3.0])
    >>> np.round(p_values(sizes, lambda left_out: np.full(3, NormalDist().inv_cdf(1 - left_out / 2))), 4)
    array([1.    , 0.05  , 0.0027])
    """
    exponents, last, before = np.full(len(sizes), KNOTS[-1]), 0.0, np.zeros(len(sizes))
    for knot in KNOTS:
        now = half_widths(math.exp(-knot))
        here = (before <= sizes) & (sizes < now)
        exponents[here] = last + (knot - last) * (sizes[here] - before[here]) / (now[here] - before[here])
        last, before = knot, np.maximum(before, now)
    return np.asarray(np.exp(-exponents))


Correction = Literal["bh", "holm"]


def benjamini_hochberg(p: Floats) -> Floats:
    """Least rate of false discoveries at which each is discovered.

    Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", JRSS B 57, 1995; as adjusted p-values.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.5, 0.02, 0.04]))
    array([0.04      , 0.5       , 0.04      , 0.05333333])
    """
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return adjusted


def holm(p: Floats) -> Floats:
    """Least chance of any false discovery at which each is discovered.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 1979.

    Examples
    --------
    >>> holm(np.array([0.01, 0.5, 0.02, 0.04]))
    array([0.04, 0.5 , 0.06, 0.08])
    """
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return adjusted


CORRECTIONS: Mapping[Correction, Callable[[Floats], Floats]] = MappingProxyType(
    {"bh": benjamini_hochberg, "holm": holm}
)
