"""Fits what turns counts of kept records into counts of all.

All of it follows from released values, without a branch that a rounding error could turn: whoever has the file can do
it again.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.synopsis.all_records import (
    BLOCKS,
    REGION_SIDE,
    WHOLE_RECORD,
    AllRecords,
    bin_starts,
    mean_inside,
    regions_of,
)
from hushgrid.synopsis.answer import FLOOR_VARIANCE, ONE_LAPLACE, normal_reach, reach_of_noise
from hushgrid.synopsis.claim import REGIONS, USERS, Claim
from hushgrid.synopsis.scale import Scale
from hushgrid.synopsis.synopsis import Synopsis

# Deviations of the ratios of blocks around one, to weigh by what is measured.
RATIO_DEVIATIONS = np.array([0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0])
TYPICAL_DEVIATION = 0.1
LEAST_RATIO, LARGEST_RATIO = 0.2, 5.0
LAST_BIN = 1.35  # mean records of a user in the last bin, which has no end, by its start
UNKNOWN_BEYOND = 0.3  # of the records beyond the cap, the share that may lie in other blocks
CONFIDENCE = 0.95


def to_all_records(shape: Synopsis, scale: Scale, *, users: tuple[int, ...], regions: tuple[int, ...]) -> AllRecords:
    """Fit the ratios of regions, and what intervals cover because of them.

    Parameters
    ----------
    shape : Synopsis
        Counts of kept records, not scaled yet. Its claim has the noisy total, capped by user.
    scale : Scale
        The factor to the total, public or private.
    users, regions : tuple of int
        As `AllRecords` has them.
    """
    claim, factor = shape.claim, scale.factor
    assert claim.total is not None
    total, capped = max(factor * shape.total, 1.0), max(float(claim.total.value), 1.0)
    scaled = total / capped if scale.source == "public" else 1.0  # the regions count at most the cap of each user
    beyond = max(1 - capped / total, 0.0) if scale.source == "public" else 0.0
    uneven = _uneven(claim, np.array(users, np.float64), factor=factor, total=total, capped=capped, beyond=beyond)
    answer = shape.answer(regions_of(shape.domain).bounds())
    rate = claim.spent_on(REGIONS) / (WHOLE_RECORD * claim.total.cap)
    fit = RegionFit(
        total=total,
        expected=np.maximum(factor * np.asarray(answer.estimate), 0),
        blur=(factor * np.asarray(answer.noise_std)) ** 2,
        measured=np.array(regions, np.float64) * scaled / WHOLE_RECORD,
        noise=discrete_laplace_variance(rate) * (scaled / WHOLE_RECORD) ** 2 + FLOOR_VARIANCE,
        uneven=uneven,
        beyond=beyond,
    )
    ratios, regional, sizes = np.ones(len(regions)), [], []
    for side in BLOCKS:
        corrections, unknown, size = fit.level(side, ratios)
        ratios = ratios * repeated(corrections, REGION_SIDE)
        ratios = ratios * total / max(float(ratios @ fit.expected), 1.0)
        regional.append(unknown)
        sizes.append(size)
    return AllRecords(
        users=users,
        regions=regions,
        ratios=tuple((ratios / _mean_ratio(shape, ratios)).tolist()),
        uneven=uneven,
        regional=tuple(regional),
        region_sizes=tuple(sizes),
        total_error=_total_error(claim, capped) if scale.source == "private" else 0.0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RegionFit:
    """What the ratios of regions are fitted to.

    Regions are corrected from coarse to fine, in blocks of 2 by 2, 4 by 4 and so on, because a few large blocks are
    known better than many small ones.

    Parameters
    ----------
    total : float
        All records.
    expected, blur : array, shape (regions,)
        Records in each region by the shape, and the variance of its noise.
    measured : array, shape (regions,)
        Records in each region by what was measured.
    noise : float
        Variance of the noise in each of these.
    uneven : float
        As `AllRecords` has it.
    beyond : float
        Share of the records that no measurement counts.
    """

    total: float
    expected: Floats
    blur: Floats
    measured: Floats
    noise: float
    uneven: float
    beyond: float

    def level(self, side: int, ratios: Floats) -> tuple[Floats, float, float]:
        """Ratios of ``side`` by ``side`` blocks, what stays unknown, and a size.

        What stays unknown is a variance for each record. The size is that of the block of a record, on average.

        The count of a block is normal around what coarser blocks and the shape say. Its variance has the noise of the
        shape, what keeping K records of each user does, and a ratio of its own. The measurement corrects it as far as
        its own noise allows; what all four blocks of a coarser one have in common was corrected there.
        """
        expected, by_shape = blocks(ratios * self.expected, side), blocks(ratios**2 * self.blur, side)
        # A block with fewer records than the noise of the shape is known to have few: that noise does not make it more.
        known = self.uneven * expected + by_shape * expected**2 / np.maximum(expected**2 + by_shape, 1)
        noise = np.full(side**2, self.noise * len(ratios) / side**2)
        share = (known + noise) / of_siblings(known + noise, side)
        residuals = blocks(self.measured, side) - expected
        residuals = residuals - share * of_siblings(residuals, side)
        own = (_ratio_deviation(residuals, (1 - share) * (known + noise), expected) * expected) ** 2
        gain = (known + own) / (known + own + noise)
        corrections = np.clip(1 + gain * residuals / np.maximum(expected, 1), LEAST_RATIO, LARGEST_RATIO)
        unknown = own * (known + noise) / (own + known + noise) + (UNKNOWN_BEYOND * self.beyond * expected) ** 2
        size = max(float((expected**2).sum() / self.total), 1.0)
        return corrections, float(unknown.sum() / self.total), size


def blocks(values: Floats, side: int) -> Floats:
    """Sums of a square of values over ``side`` by ``side`` blocks."""
    across = math.isqrt(values.size)
    width = across // side
    return np.asarray(values.reshape(side, width, side, width).sum(axis=(1, 3)).ravel())


def repeated(values: Floats, side: int) -> Floats:
    """The value of its block, for each of ``side`` by ``side`` smaller ones."""
    across = math.isqrt(values.size)
    return np.asarray(np.kron(values.reshape(across, across), np.ones((side // across,) * 2)).ravel())


def of_siblings(values: Floats, side: int) -> Floats:
    """Sum over all that lie in the same coarser block, for each block."""
    return repeated(blocks(values, side // 2), side)


def _uneven(claim: Claim, users: Floats, *, factor: float, total: float, capped: float, beyond: float) -> float:
    """Variance for each record, because K of a user stand for all.

    If all records of a user lie in one area, it is the sum of (n - f min(n, K))² over users, by the total; f is the
    factor that kept records are scaled by, and n at most the cap. One standard deviation of its own noise is added. Of
    what lies beyond the cap, only the sum is known: it is dealt out among the users who have more, exponentially.
    """
    assert claim.total is not None
    cap, most = claim.total.cap, claim.max_per_unit
    starts, variance = np.array(bin_starts(most)), discrete_laplace_variance(claim.spent_on(USERS))
    sizes = np.append([(b - a) / np.sum(1 / np.arange(a, b)) for a, b in pairwise(starts)], LAST_BIN * starts[-1])
    squares = (np.minimum(sizes, cap) - factor * np.minimum(sizes, most)) ** 2
    if beyond > 0:
        has_more = starts >= cap
        excess = beyond * total / max(float(users[has_more].sum()), np.sqrt(variance), 1.0)
        missed = cap - factor * most
        squares = np.where(has_more, missed**2 + 2 * missed * excess + 2 * excess**2, squares)
    noise = np.sqrt(variance * (squares**2).sum())
    return float((max(float(users @ squares), 0.0) + noise) / max(total, capped))


def _ratio_deviation(residuals: Floats, variances: Floats, expected: Floats) -> float:
    """Deviation of the ratios of blocks.

    Those that are tried are averaged by how likely they are. Before anything is measured, small ones are likelier (half
    a Cauchy law).
    """
    tried = variances + (RATIO_DEVIATIONS[:, None] * expected) ** 2
    log_likelihoods = -0.5 * (np.log(tried) + residuals**2 / tried).sum(axis=1)
    likely = np.exp(log_likelihoods - log_likelihoods.max()) / (1 + (RATIO_DEVIATIONS / TYPICAL_DEVIATION) ** 2)
    return float(likely @ RATIO_DEVIATIONS / likely.sum())


def _mean_ratio(shape: Synopsis, ratios: Floats) -> float:
    """Mean of the ratios over kept records; one where there are hardly any."""
    in_all = float(mean_inside(ratios, shape.partition.bounds(), shape.domain) @ shape.counts)
    return in_all / shape.total if min(in_all, shape.total) >= 1 else 1.0


def _total_error(claim: Claim, capped: float) -> float:
    """Standard deviation of a private total, as a share of it.

    Its noise is one Laplace draw, whose interval is a little wider than a normal one.
    """
    assert claim.total_rate is not None
    wider = float(reach_of_noise(CONFIDENCE, np.array(ONE_LAPLACE))) / normal_reach(CONFIDENCE)
    return wider * float(np.sqrt(discrete_laplace_variance(claim.total_rate))) / capped
