"""The width of a release's intervals, by a parametric bootstrap.

How far off the answers of a release are depends on how uneven its points are inside leaves, which differs from one data
set to the next. So points like those of the release are made up, published by the same method with simulated noise, and
asked a fixed set of rectangles: there the truth is known. All of it follows from released values: it is
post-processing, and costs no privacy.
"""

import hashlib
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from hushgrid.answering.surface import summed_area
from hushgrid.arrays import Floats, Indices
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.geometry.cells import cell, scale
from hushgrid.geometry.domain import Domain
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.measurements import Measurements
from hushgrid.methods import METHODS
from hushgrid.methods.method import Method, most_cells
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.sampling.likeness import Replica
from hushgrid.synopsis.answer import CONFIDENCES, FLOOR_VARIANCE, SIDES, VERSION, Calibration, normal_reach
from hushgrid.synopsis.claim import TOTAL, Claim, MethodRecord
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import current_work

ENOUGH_POINTS = 2_000_000  # to make up; of larger sets a smaller likeness is made, with epsilon larger in proportion
LARGEST_EPSILON = 2  # of such a likeness: beyond, its leaves would be too empty to be like those of the release
# Points times epsilon of a likeness: more would cost time and say no more. Inferences that learn cost most, and come
# out alike on large and small sets; other methods do not all.
MOST_EVIDENCE, MOST_LEARNED = 1_000_000, 20_000
REPETITIONS = ((2e4, 4), (2e5, 2), (np.inf, 1))  # by points times epsilon of the release
LINES = 1021  # a side, that rectangles end on: a prime, so that they follow no grid's cells
RECTS_PER_SIDE = 200
PLASTIC = 1.32471795724474602596  # x**3 = x + 1; its powers fill the plane evenly (Roberts 2018, sequence R2)

# Points that were made up are a little tamer than real ones: by so much on seven sets, at each confidence (decision 6).
WIDENING = (0.95, 1.0, 1.04, 1.07, 1.12)
CAUTION = ((8e5, 0.75), (np.inf, 1.0))  # power of factors below one, by points times epsilon of the release
LEAST_FACTOR = 0.3


def calibrated(synopsis: Synopsis, method: Method | None = None) -> Synopsis:
    """The same release, with the width that its intervals need.

    Parameters
    ----------
    method : Method, optional
        That published it, where it is not one of `hushgrid.METHODS`.
    """
    plain = unscaled(synopsis)
    method = method if plain.method.name not in METHODS else recorded(plain.method)
    total = max(math.fsum(plain.counts), 0.0)  # exact, and so the same on every machine
    evidence = total * float(_for_the_method(plain.claim))
    most = MOST_LEARNED if INFERENCES[plain.inference].learned else MOST_EVIDENCE
    size, epsilon, repetitions = _likeness(total, _for_the_method(plain.claim), most=most)
    if method is None or size < 1:
        return synopsis
    most_cells = _most_cells(plain, float(size * epsilon) / evidence)
    rects, lines = _rectangles(plain.domain)
    seed, replica, deviations = _seed(plain.measurements), Replica(plain), []
    for repetition in range(repetitions):
        points = np.asfortranarray(replica.points(size, seed=seed + repetition))  # columns, as those of files
        counter = PointCounter(plain.domain, ArrayPoints(points))
        budget = _budget(plain.claim, epsilon, size, most_cells=most_cells, seed=seed + repetition)
        published = method.release(counter, budget)
        current_work().add("intervals", 0.5 / repetitions)
        deviations.append(_deviations(published, rects, _counts_between(points, plain.domain, lines)))
        current_work().add("intervals", 0.5 / repetitions)
    return replace(synopsis, calibration=Calibration(factors=_factors(np.array(deviations), evidence), version=VERSION))


def unscaled(synopsis: Synopsis) -> Synopsis:
    """The release before its counts were scaled.

    It follows from what the file holds, to the last digit or so.
    """
    return replace(synopsis, counts=synopsis.counts / synopsis.factor, scale=None)


def recorded(method: MethodRecord) -> Method:
    """The method and parameters that a release names.

    Parameters that no method could have are an error of some kind.
    """
    return METHODS[method.name](**method.parameters)


def _likeness(total: float, epsilon: Fraction, *, most: int) -> tuple[int, Fraction, int]:
    """How many points to make up, at which epsilon, how often."""
    evidence = total * float(epsilon)
    size = min(total, max(ENOUGH_POINTS, evidence / LARGEST_EPSILON))
    if size < 1:
        return 0, epsilon, 0
    larger = Fraction(total / size).limit_denominator(1000)
    repetitions = next(number for limit, number in REPETITIONS if evidence <= limit)
    return max(1, round(size * min(1.0, most / evidence))), epsilon * larger, repetitions


def _seed(measurements: Measurements) -> int:
    """A number that follows from the integers that were measured."""
    parts = [measurements.leaves.values, measurements.region_values.values]
    if measurements.wavelet is not None:
        parts.append(measurements.wavelet.coefficients.values)
    text = b"".join(part.astype("<i8").tobytes() for part in parts)
    return int.from_bytes(hashlib.sha256(text).digest()[:6])


def _factors(deviations: Floats, evidence: float) -> tuple[tuple[float, ...], ...]:
    """Factors that would have made intervals just wide enough.

    Where they narrow, they are taken at face value only if much is known of how the points lie.

    Those of one size come from rectangles of that size and of its neighbours, because one release tells little of each.
    """
    by_side = deviations.reshape(len(deviations), len(SIDES), RECTS_PER_SIDE)
    normal = np.array([normal_reach(confidence) for confidence in CONFIDENCES])
    caution, factors = next(power for most, power in CAUTION if evidence <= most), []
    for number in range(len(SIDES)):
        found = np.quantile(by_side[:, max(number - 1, 0) : number + 2], CONFIDENCES) / normal
        factors.append(np.maximum(WIDENING * np.maximum(found, found**caution), LEAST_FACTOR))
    return tuple(tuple(of_side.tolist()) for of_side in factors)


def _budget(claim: Claim, epsilon: Fraction, size: int, *, most_cells: int, seed: int) -> Budget:
    """A budget like the one of the release."""
    bits = simulation_rng(seed)
    if claim.size is None or claim.size.source == "public":
        return Budget(epsilon, bits=bits, public_size=size, max_cells=most_cells)
    paid = next(spend.epsilon for spend in claim.spends if spend.purpose == "size")
    return Budget(epsilon, bits=bits, size_share=paid / _for_the_method(claim), max_cells=most_cells)


def _most_cells(synopsis: Synopsis, share: float) -> int:
    """The limit on cells of a likeness.

    It is the share of the release's own that its points times epsilon are of the release's.
    """
    limit = synopsis.claim.max_cells or most_cells(METHODS.get(synopsis.method.name))
    return math.ceil(limit * min(1.0, share))


def _for_the_method(claim: Claim) -> Fraction:
    """What the method had to spend on one record."""
    return sum((spend.epsilon for spend in claim.spends if spend.purpose != TOTAL), Fraction(0))


def _rectangles(domain: Domain) -> tuple[Floats, Indices]:
    """Rectangles of several sizes, all over the domain.

    With the lines of a fine grid that they end on, shape (n, 4) each.
    """
    steps = np.outer(np.arange(1, RECTS_PER_SIDE + 1), (1 / PLASTIC, 1 / PLASTIC**2)) % 1
    sides = np.rint(np.array(SIDES)[:, None, None] * LINES).astype(np.int64)
    low = np.floor(steps * (LINES + 1 - sides)).astype(np.int64)
    lines = np.concatenate([low, low + sides], axis=2).reshape(-1, 4)
    origin, extent = (domain.west, domain.south) * 2, (domain.width, domain.height) * 2
    return np.array(origin) + np.array(extent) * lines / LINES, lines


def _counts_between(points: Floats, domain: Domain, lines: Indices) -> Floats:
    """Number of made-up points in each rectangle, shape (n,).

    By numpy: a counter would have to compile a loop that nothing else in a first release needs.
    """
    x, y = points.T
    inside = (x >= domain.west) & (x <= domain.east) & (y >= domain.south) & (y <= domain.north)
    columns = cell(x[inside], domain.west, scale(domain.west, domain.east, LINES), LINES)
    rows = cell(y[inside], domain.south, scale(domain.south, domain.north, LINES), LINES)
    counts = np.bincount(rows * LINES + columns, minlength=LINES**2).astype(np.float64)
    table = summed_area(counts.reshape(LINES, LINES)).reshape(LINES + 1, LINES + 1)
    left, bottom, right, top = lines.T
    return np.asarray(table[top, right] - table[top, left] - table[bottom, right] + table[bottom, left])


def _deviations(synopsis: Synopsis, rects: Floats, counts: Floats) -> Floats:
    """How many standard deviations each answer is off."""
    noise, spread = synopsis.surface.variances(rects)
    return np.asarray(np.abs(synopsis.surface.counts(rects) - counts) / np.sqrt(noise + spread + FLOOR_VARIANCE))
