"""Sums over slices, and how far they may be off."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.change.common import unlike_halves
from hushgrid.geometry.grid import Grid
from hushgrid.priors.releases import units_per_count
from hushgrid.synopsis.answer import FLOOR_VARIANCE, Estimates, normal_reach
from hushgrid.synopsis.synopsis import Synopsis

# Slices that sharpen each other take part of their counts from what all of them follow, and so err together
# (decision 16).
FOLLOWS_NOTHING = 1.25  # width of an interval by that of least squares where a slice follows nothing: 1, and caution
OWN = 0.1  # variance of what is a slice's own, for each slice, relative to that of what all of them follow
UNLIKE = 1.25  # by which slices differ; less, by the square of the correlation
SOME_EVIDENCE, SLOWLY = 2000, 0.25  # of a slice, and the power of it: with less noise, slices differ by more
BLOCKS = 8  # a side, to tell how alike points lie: so large that noise hides little of it
# Share of the variance by spread that other slices have in common: their noise hides how alike they are. 95 % intervals
# of sums by UG and AG hold 92 to 99 %; with what noise leaves of the correlation they held 67 to 99 %.
BY_OTHERS = 0.6
# Correlation of the errors of a total and of the sum of slices that it sharpened (decision 16).
ALIKE = 0.6
LEAST_HALF = 1e-100  # half width of an interval: at a confidence near 0 it is zero


@dataclass(frozen=True, kw_only=True)
class Common:
    """Shares of the errors that all slices have in common.

    Parameters
    ----------
    spread : float
        Of the variance by how points lie inside leaves.
    followed : float
        Of the errors of what each slice follows, if they sharpen each other; else zero.
    """

    spread: float
    followed: float = 0.0

    @classmethod
    def of(cls, parts: Sequence[Synopsis]) -> "Common":
        """The shares of slices, by their inference and how alike they are.

        What all slices follow is off by the noise of all, the less, the more slices there are. What is a slice's own is
        not in it: the less they are alike, the more there is.
        """
        if not any(each.inference.startswith("belief") for each in parts):
            return cls(spread=BY_OTHERS)
        alike = correlation(parts) ** 2
        evidence = np.mean([max(each.total, 0.0) * units_per_count(each) for each in parts])
        own = OWN * len(parts) * (UNLIKE - alike) * (evidence / SOME_EVIDENCE) ** SLOWLY
        return cls(spread=alike, followed=float(1 / (1 + own)))

    def shares(self, part: Estimates, confidence: float) -> Floats:
        """Share of the variance of one slice's errors, shape (n,).

        A slice that is known F times as well as by its own measurements has 1 - F^2 of its counts from what all follow.
        """
        variances = part.noise + part.spread
        if self.followed == 0:
            return self.spread * np.maximum(part.spread - FLOOR_VARIANCE, 0) / variances  # whole points are independent
        widths = part.half**2 / (max(normal_reach(confidence), LEAST_HALF) ** 2 * variances)
        return self.followed * np.maximum(1 - widths / FOLLOWS_NOTHING**2, 0)


def correlation(parts: Sequence[Synopsis]) -> float:
    """How alike points lie in slices, from 0 to 1.

    In each slice, the halves of blocks differ by some points. If the deviations d of these differences have the
    correlation c, that of their sum is D with D^2 = (1 - c) sum of d^2 + c (sum of d)^2, so c follows from D. It is 1
    where nothing tells it, as for one slice.
    """
    blocks = Grid(domain=parts[0].domain, rows=2 * BLOCKS, columns=2 * BLOCKS)
    quarters = [np.asarray(each.count(blocks.bounds())).reshape(2 * BLOCKS, -1) for each in parts]
    points, unlike = unlike_halves(np.sum(quarters, axis=0), BLOCKS)
    weights = 1 / np.maximum(points, 1)
    squares = np.array([np.sum(weights * unlike_halves(each, BLOCKS)[1] ** 2) for each in quarters])
    alone, alike = squares.sum(), np.sqrt(squares).sum() ** 2
    if alike <= alone:
        return 1.0
    return float(np.clip((np.sum(weights * unlike**2) - alone) / (alike - alone), 0, 1))


def summed(parts: Sequence[Estimates], common: Common, confidence: float) -> Estimates:
    """The sum of the counts of several slices, with its errors.

    Noise of slices is independent, so its variances add: N = sum of n. How points lie inside leaves is not: streets and
    stations are in every slice, and where one has too much in an area, so do others. With the share u of the spread in
    common, S = (1 - u) sum of s + u (sum of sqrt(s))^2. Half widths h are calibrated, so that slices follow each other
    in part, and err together: with the share c of each, H^2 = sum of (1 - c) h^2 + (sum of sqrt(c) h)^2.

    Parameters
    ----------
    parts : sequence of Estimates
        One for each slice, at this confidence.
    common : Common
        The shares.

    Examples
    --------
    >>> one = Estimates.of(np.array([10.0]), np.array([9.0]), np.array([1.0]), reach=np.array([2.0]))
    >>> together = summed([one] * 4, Common(spread=1), 0.95)
    >>> together.counts, together.noise, together.spread
    (array([40.]), array([36.]), array([17.]))
    """
    if len(parts) == 1:
        return parts[0]
    uneven = np.array([np.maximum(each.spread - FLOOR_VARIANCE, 0.0) for each in parts])
    squares = np.array([each.half**2 for each in parts])
    shares = np.array([common.shares(each, confidence) for each in parts])
    return Estimates(
        counts=np.sum([each.counts for each in parts], axis=0),
        noise=np.sum([each.noise for each in parts], axis=0),
        spread=_variance(uneven, np.array(common.spread)) + len(parts) * FLOOR_VARIANCE,
        half=np.sqrt(_variance(squares, shares)),
    )


def _variance(variances: Floats, shares: Floats) -> Floats:
    """Variance of a sum whose parts share some of their errors, by parts in rows."""
    alike = np.sum(np.sqrt(shares * variances), axis=0) ** 2
    return np.asarray(np.sum((1 - shares) * variances, axis=0) + alike)


def reconciled(released: Estimates, together: Estimates) -> Estimates:
    """Counts of all slices, from the released total and the sum of slices.

    Each has the weight of the inverse square of its interval's half width: the sum where noise decides, the total where
    many slices are off the same way. Measurements of both are independent, so variances of the noise add up. Points lie
    in both alike, and slices were inferred with the total as what is known before: deviations by spread add, and half
    widths as of errors with the correlation `ALIKE`.

    Examples
    --------
    >>> narrow = Estimates.of(np.array([10.0]), np.array([9.0]), np.array([0.0]), reach=np.array([2.0]))
    >>> wide = Estimates.of(np.array([30.0]), np.array([81.0]), np.array([0.0]), reach=np.array([2.0]))
    >>> reconciled(narrow, wide).counts.round(1)
    array([12.])
    """
    squares = [np.maximum(each.half, LEAST_HALF) ** 2 for each in (released, together)]
    weight = squares[1] / (squares[0] + squares[1])
    deviations = weight * np.sqrt(released.spread) + (1 - weight) * np.sqrt(together.spread)
    first, second = weight * released.half, (1 - weight) * together.half
    return Estimates(
        counts=weight * released.counts + (1 - weight) * together.counts,
        noise=weight**2 * released.noise + (1 - weight) ** 2 * together.noise,
        spread=deviations**2,
        half=np.sqrt(first**2 + second**2 + 2 * ALIKE * first * second),
    )
