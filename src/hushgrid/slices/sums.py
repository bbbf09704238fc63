"""Sums over slices, and how far they may be off."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.change.common import unlike_halves
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.answer import FLOOR_VARIANCE, Estimates
from hushgrid.synopsis.synopsis import Synopsis

# Share of the variance by noise that slices of a tree by belief have in common. Trees grow where noise is high, and so
# lean upward; and what one of them has measured is in the priors of all others (decision 16).
BY_BELIEF = 1 / 16
BLOCKS = 8  # a side, to tell how alike points lie: so large that noise hides little of it
# Share of the variance by spread that other slices have in common: their noise hides how alike they are. 95 % intervals
# of sums by UG and AG hold 92 to 99 %; with what noise leaves of the correlation they held 67 to 99 %.
BY_OTHERS = 0.6
# Correlation of the errors of a total and of the sum of slices that it sharpened (decision 16).
ALIKE = 0.5
LEAST_HALF = 1e-100  # half width of an interval: at a confidence near 0 it is zero


@dataclass(frozen=True, kw_only=True)
class Common:
    """Shares of the errors that all slices have in common.

    Parameters
    ----------
    noise : float
        Of the variance by noise.
    spread : float
        Of the variance by how points lie inside leaves.
    """

    noise: float
    spread: float

    @classmethod
    def of(cls, parts: Sequence[Synopsis]) -> "Common":
        """The shares of slices, by their inference and how alike they are."""
        if any(each.inference.startswith("belief") for each in parts):
            return cls(noise=BY_BELIEF, spread=correlation(parts) ** 2)
        return cls(noise=0.0, spread=BY_OTHERS)


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


def summed(parts: Sequence[Estimates], common: Common) -> Estimates:
    """The sum of the counts of several slices, with its errors.

    Noise of slices is independent, so its variances add: N = sum of n. How points lie inside leaves is not: streets and
    stations are in every slice, and where one has too much in an area, so do others. With the share u of the spread in
    common, S = (1 - u) sum of s + u (sum of sqrt(s))^2. Half widths are calibrated, h = r sqrt(n + s) with a factor r
    of each slice, and add likewise, with the share c of the noise in common: H^2 = (1 - c) sum of r^2 n
    + c (sum of r sqrt(n))^2 + (1 - u) sum of r^2 s + u (sum of r sqrt(s))^2.

    Parameters
    ----------
    parts : sequence of Estimates
        One for each slice.
    common : Common
        The shares c and u.

    Examples
    --------
    >>> one = Estimates.of(np.array([10.0]), np.array([9.0]), np.array([1.0]), reach=np.array([2.0]))
    >>> together = summed([one] * 4, Common(noise=0, spread=1))
    >>> together.counts, together.noise, together.spread
    (array([40.]), array([36.]), array([17.]))
    """
    uneven = [np.maximum(each.spread - FLOOR_VARIANCE, 0.0) for each in parts]  # whole points are independent
    squares = [each.half**2 / (each.noise + each.spread) for each in parts]
    by_noise = [square * (each.noise + FLOOR_VARIANCE) for square, each in zip(squares, parts, strict=True)]
    by_spread = [square * variance for square, variance in zip(squares, uneven, strict=True)]
    return Estimates(
        counts=np.sum([each.counts for each in parts], axis=0),
        noise=np.sum([each.noise for each in parts], axis=0),
        spread=_variance(uneven, common.spread) + len(parts) * FLOOR_VARIANCE,
        half=np.sqrt(_variance(by_noise, common.noise) + _variance(by_spread, common.spread)),
    )


def _variance(variances: Sequence[Floats], common: float) -> Floats:
    """Variance of a sum whose parts share some of their errors."""
    alike = np.sum(np.sqrt(variances), axis=0) ** 2
    return np.asarray((1 - common) * np.sum(variances, axis=0) + common * alike)


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
