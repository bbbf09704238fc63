"""Counts with intervals, and how wide these are."""

import math
from dataclasses import dataclass, fields, replace
from functools import cache
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.errors import ArgumentError, quoted
from hushgrid.geometry.domain import number_of
from hushgrid.synopsis.whole import whole_apart

# Variance of a count even where no leaf is cut: points are whole, and edges may be rounded to two decimals.
FLOOR_VARIANCE = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """Estimated counts of areas, with intervals.

    Every field has shape (n,), or is one value for one area.

    Parameters
    ----------
    estimate : float or array
        Estimated count, never clipped, so that disjoint areas add up.
    low, high : float or array
        Interval that holds the true count with the confidence asked for; never below zero.
    noise_std : float or array
        Standard deviation by noise: exact, given the released structure.
    spread_std : float or array
        Standard deviation because points do not lie evenly inside the leaves that the area cuts; from a model.
    usable : bool or array
        Whether the interval is at most as wide as the estimate; if not, the count says little but that it is small.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> release = hg.publish([[0.2, 0.7]] * 1000, domain=square, epsilon=1, method=hg.UniformGrid(side=2))
    >>> answer = release.answer([0.0, 0.5, 0.5, 1.0])
    >>> answer.low < answer.estimate < answer.high, round(answer.estimate, -3), answer.usable
    (True, 1000.0, True)
    """

    estimate: float | Floats
    low: float | Floats
    high: float | Floats
    noise_std: float | Floats
    spread_std: float | Floats
    usable: bool | NDArray[np.bool_]

    def scalar(self) -> "Answer":
        """The answer for one area, as plain values."""
        return Answer(**{field.name: getattr(self, field.name)[0].item() for field in fields(self)})

    def in_whole_numbers(self) -> "Answer":
        """The same with whole numbers that keep the sum; shape (n,) only."""
        noise, spread = np.asarray(self.noise_std), np.asarray(self.spread_std)
        variances = np.where(noise > 0, noise**2 + spread**2, 0)
        return replace(self, estimate=whole_apart(np.asarray(self.estimate), variances))  # type: ignore[arg-type]  # whole numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimates:
    """Counts and their errors, before intervals are cut off at zero.

    Every field has shape (n,).

    Parameters
    ----------
    counts : array
    noise, spread : array
        Variances by noise, and by points not lying evenly inside leaves.
    half : array
        What an interval extends to either side.
    """

    counts: Floats
    noise: Floats
    spread: Floats
    half: Floats

    @classmethod
    def of(
        cls,
        counts: Floats,
        noise: Floats,
        spread: Floats,
        *,
        reach: Floats,
        missed: Floats | float = 0.0,
        normal: float = 0.0,
    ) -> Self:
        """Counts whose intervals extend so many standard deviations.

        Parameters
        ----------
        reach : array, shape (n,)
            Standard deviations that each interval extends to either side.
        missed : array, shape (n,)
            Variances by records that were not kept. No calibration knows them: the reach of the normal law is theirs.
        normal : float
            That reach.
        """
        spread = spread + FLOOR_VARIANCE
        half = np.hypot(reach * np.sqrt(noise + spread), normal * np.sqrt(missed))
        return cls(counts=counts, noise=noise, spread=spread + missed, half=half)

    @classmethod
    def with_known_noise(
        cls,
        counts: Floats,
        noise: Floats,
        spread: Floats,
        reach: Floats,
        known: Floats,
        fourth: Floats,
        confidence: float,
    ) -> Self:
        """Counts whose noise has a known law in part.

        The reach of that part follows from its law.

        Parameters
        ----------
        known, fourth : arrays, shape (n,)
            Variance and fourth cumulant of that part.
        """
        law = reach_of_noise(confidence, fourth / np.maximum(known, FLOOR_VARIANCE) ** 2)
        rest = np.maximum(noise - known, 0) + spread + FLOOR_VARIANCE
        half = np.hypot(reach * np.sqrt(rest), law * np.sqrt(known))
        return cls(counts=counts, noise=noise, spread=spread + FLOOR_VARIANCE, half=half)

    def answer(self) -> Answer:
        """The counts with their intervals."""
        low, high = np.maximum(self.counts - self.half, 0), np.maximum(self.counts + self.half, 0)
        return Answer(
            estimate=self.counts,
            low=low,
            high=high,
            noise_std=np.sqrt(self.noise),
            spread_std=np.sqrt(self.spread),
            usable=high - low <= self.counts,
        )


CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99)  # factors are known for these
VERSION = 3  # of how factors are found
VERSIONS = (2, VERSION)  # whose factors can be found again; files do not name version 1, whose factors cannot
# Sides of the squares that factors are known for, as a share of the domain's sides.
SIDES = (0.01875, 0.0375, 0.075, 0.15, 0.3, 0.6)


def check_confidence(confidence: float) -> float:
    """The confidence, if it lies between 0 and 1."""
    share = number_of(confidence)
    if not 0 < share < 1 or (1 + share) / 2 == 1:  # with more than fifteen nines it rounds to one
        msg = f"confidence must lie between 0 and 1, such as 0.95; got confidence={quoted(confidence)}."
        raise ArgumentError(msg, instead={"confidence": share / 100 if 1 < share < 99.9999 else 0.95})
    return share


def normal_reach(confidence: float) -> float:
    """Half width of a normal interval, in standard deviations.

    Examples
    --------
    >>> round(normal_reach(0.95), 2)
    1.96
    """
    return NormalDist().inv_cdf((1 + check_confidence(confidence)) / 2)


ONE_LAPLACE, TWO_LAPLACES = 3.0, 1.5  # excess kurtosis of one Laplace noise, and of the sum of two


@cache
def _known_reaches(confidence: float) -> tuple[float, float, float]:
    """Reach of normal noise, of two Laplace noises and of one.

    They are in standard deviations.
    """
    beyond = 1 - check_confidence(confidence)
    y = -math.log(beyond)  # one Laplace noise: P(|X| > y b) = exp(-y), and its deviation is b sqrt(2)
    both = y
    for _ in range(50):  # two: exp(-y) (1 + y / 2), and 2 b
        both += (math.exp(-both) * (1 + both / 2) - beyond) / (math.exp(-both) * (1 + both) / 2)
    return normal_reach(confidence), both / 2, y / math.sqrt(2)


def reach_of_noise(confidence: float, excess: Floats) -> Floats:
    """Half width of an interval, in standard deviations of its noise.

    It follows from the excess kurtosis of the noise.

    It is exact for a normal law, for two Laplace noises and for one, and quadratic between.

    Examples
    --------
    >>> np.round(reach_of_noise(0.95, np.array([0.0, 1.5, 3.0])), 3)
    array([1.96 , 2.057, 2.118])
    """
    normal, both, one = _known_reaches(confidence)
    place = np.clip(excess, 0, ONE_LAPLACE) / TWO_LAPLACES  # 0, 1 and 2
    return np.asarray(normal + place * (both - normal) + place * (place - 1) / 2 * (one - 2 * both + normal))


def answer_of_noise(counts: Floats, variances: Floats, fourths: Floats, confidence: float) -> Answer:
    """Answers whose noise is known by its second and fourth cumulants, shape (n,) each."""
    reach = reach_of_noise(confidence, fourths / (variances + FLOOR_VARIANCE) ** 2)
    return Estimates.of(counts, variances, np.zeros_like(variances), reach=reach).answer()


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Factors on the width of intervals.

    There is one for each of `SIDES` at each of `CONFIDENCES`.

    How uneven points lie inside leaves differs from one data set to the next, and so does the share of noise that an
    inference removes. A calibration is found by publishing made-up points like those of the release, whose true counts
    are known (`hushgrid.release.calibrate`); a function of released values, it costs no privacy.

    Parameters
    ----------
    factors : tuple of tuples of float
        On the normal law's reach; below one where intervals would be too wide.
    version : int, optional
        How they were found, so that `verify` can do so again; none where they were not, or long ago.

    Examples
    --------
    >>> calibration = Calibration(factors=((1.0, 1.0, 1.1, 1.2, 1.4),) * 6)
    >>> round(float(calibration.reach(0.95, np.array([0.01]))[0]) / normal_reach(0.95), 9)
    1.2
    """

    factors: tuple[tuple[float, ...], ...] = ((1.0,) * len(CONFIDENCES),) * len(SIDES)
    version: int | None = None

    def reaches(self, confidence: float) -> Floats:
        """Half widths for areas of `SIDES`, shape (sides,).

        They are in standard deviations.

        Factors are linear between the confidences they are known for, in standard deviations, and level beyond.
        """
        reach, known = normal_reach(confidence), [normal_reach(value) for value in CONFIDENCES]
        return reach * np.array([np.interp(reach, known, factors) for factors in self.factors])

    def reach(self, confidence: float, area_shares: Floats) -> Floats:
        """Half widths for areas of any size.

        Sizes are given as shares of the domain. Half widths are linear in the logarithm of the size, and level beyond
        `SIDES`.
        """
        halvings = np.log2(np.maximum(area_shares, SIDES[0] ** 2)) / 2
        return np.interp(halvings, np.log2(SIDES), self.reaches(confidence))


UNCALIBRATED = Calibration()
# The reach of the Laplace law, -ln(1 - confidence) / sqrt(2), over the normal one's, where it is longer: for counts
# that are each measured once, and are mostly asked for one by one.
ONE_NOISE = Calibration(
    factors=(tuple(max(1.0, -math.log(1 - each) / math.sqrt(2) / normal_reach(each)) for each in CONFIDENCES),)
    * len(SIDES)
)
