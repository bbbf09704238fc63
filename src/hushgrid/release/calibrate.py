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
from hushgrid.inference.pooled import AKIN
from hushgrid.methods import METHODS
from hushgrid.methods.method import Method, most_cells
from hushgrid.methods.staq import AimedQuadtree
from hushgrid.priors.recorded import RecordedPrior
from hushgrid.priors.releases import units_per_count
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.release.knowledge import release_with
from hushgrid.sampling.likeness import Replica
from hushgrid.synopsis.answer import CONFIDENCES, FLOOR_VARIANCE, SIDES, VERSION, Calibration, normal_reach
from hushgrid.synopsis.claim import BY_USER, Claim, MethodRecord
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

# Made-up points are a little tamer than real ones: by this much on seven sets, at each confidence (decision 6).
WIDENING = (0.95, 1.0, 1.04, 1.07, 1.12)
AIMED_WIDENING = 1.3  # the same of squares about points, which lie where real ones clump most; on four sets, 1.2 to 1.5
CAUTION = 0.75  # power of factors below one, before they are widened
EVEN_WIDENING = 1.03  # without a power, of points that lie evenly, as on two made-up laws: there is less to get wrong
REAL_UNEVENNESS = 0.2  # of points that are widened as real ones: about the least of five real sets
MUCH_EVIDENCE = 8e5  # points times epsilon from which version 2 took no power
# Beside an earlier release, whose noise made-up points follow as if it were true; on pairs of months (decision 6).
BESIDE_A_RELEASE = 1.08
# The same beside other slices, for one that has as many points as they: the more they have, the less is it.
BESIDE_A_SLICE = 1.2
LEAST_FACTOR = 0.3


def calibrated(synopsis: Synopsis, method: Method | None = None, *, version: int = VERSION) -> Synopsis:
    """The same release, with the width that its intervals need.

    Parameters
    ----------
    method : Method, optional
        The method that published it, if it is not one of `hushgrid.METHODS`.
    version : int
        How factors are found, one of `VERSIONS`: older ones are for verifying older files.
    """
    plain = unscaled(synopsis.around_places)  # the law of the noise in places is known
    plain = replace(plain, claim=plain.claim.alone)  # a slice's own measurements decide how far it is off
    method = method if plain.method.name not in METHODS else recorded(plain.method)
    total = max(math.fsum(plain.counts), 0.0)  # exact, and so the same on every machine
    evidence = total * float(_for_the_method(plain.claim))
    most = MOST_LEARNED if INFERENCES[plain.inference].learned else MOST_EVIDENCE
    size, epsilon, repetitions = _likeness(total, _for_the_method(plain.claim), most=most)
    if method is None or size < 1:
        return synopsis
    most_cells = _most_cells(plain, float(size * epsilon) / evidence)
    rects, lines = _rectangles(plain.domain)
    seed, replica, prior = _seed(plain.measurements), Replica(plain), RecordedPrior.of(plain)
    deviations, aimed = [], []
    for repetition in range(repetitions):
        points = np.asfortranarray(replica.points(size, seed=seed + repetition))  # columns, as those of files
        counter = PointCounter(plain.domain, ArrayPoints(points))
        budget = _budget(plain.claim, epsilon, size, most_cells=most_cells, seed=seed + repetition)
        published = release_with(prior, method, counter, budget)
        current_work().add("intervals", 0.5 / repetitions)
        deviations.append(_deviations(published, rects, _counts_between(points, plain.domain, lines)))
        if isinstance(method, AimedQuadtree):
            squares, between = _squares_about(points, plain.domain, method.scale)
            aimed.append(_deviations(published, squares, _counts_between(points, plain.domain, between)))
        current_work().add("intervals", 0.5 / repetitions)
    found = _found(np.array(deviations))
    widened = _widened_in_version_2(found, evidence) if version == 2 else _widened(found, replica.unevenness)
    if prior is not None:
        widened *= _beside(prior, evidence=total * units_per_count(plain))
    factors: Factors = tuple(tuple(of_side.tolist()) for of_side in np.maximum(widened, LEAST_FACTOR))
    if isinstance(method, AimedQuadtree):
        factors = _wide_enough(factors, np.concatenate(aimed), method.scale)  # not all have as many points
    return replace(synopsis, calibration=Calibration(factors=factors, version=version))


def unscaled(synopsis: Synopsis) -> Synopsis:
    """The release before its counts were scaled.

    It follows from what the file holds, to the last digit or so.
    """
    return replace(synopsis, counts=synopsis.counts / synopsis.leaf_factors, scale=None)


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


Factors = tuple[tuple[float, ...], ...]  # one a confidence, for each of `SIDES`


def _found(deviations: Floats) -> Floats:
    """Factors that would have made intervals just wide enough, shape (sides, confidences).

    Those of one size come from rectangles of that size and of its neighbours, because one release tells little of each.
    """
    by_side = deviations.reshape(len(deviations), len(SIDES), RECTS_PER_SIDE)
    normal = np.array([normal_reach(confidence) for confidence in CONFIDENCES])
    near = (by_side[:, max(number - 1, 0) : number + 2] for number in range(len(SIDES)))
    return np.asarray(np.array([np.quantile(of_side, CONFIDENCES) for of_side in near]) / normal)


def _widened(found: Floats, unevenness: float) -> Floats:
    """Factors as true points need them, by how unevenly these lie inside leaves."""
    real = min(unevenness / REAL_UNEVENNESS, 1.0)
    as_real = np.array(WIDENING) * np.maximum(found, found**CAUTION)
    return np.asarray(real * as_real + (1 - real) * EVEN_WIDENING * found)


def _widened_in_version_2(found: Floats, evidence: float) -> Floats:
    """Factors as version 2 widened them, by how much is known of the points."""
    return np.array(WIDENING) * np.maximum(found, found ** (CAUTION if evidence <= MUCH_EVIDENCE else 1.0))


def _beside(prior: RecordedPrior, *, evidence: float) -> float:
    """How much wider intervals are, because made-up points follow the prior's noise, too.

    Parameters
    ----------
    evidence : float
        Of the release's own points, in the units of the prior's.
    """
    if prior.trust == AKIN:
        return 1 + 2 * (BESIDE_A_SLICE - 1) * evidence / (evidence + prior.all_evidence)
    return BESIDE_A_RELEASE if prior.kind == "release" else 1.0


def _squares_about(points: Floats, domain: Domain, scale: float) -> tuple[Floats, Indices]:
    """Squares around made-up points, as `_rectangles` has them."""
    side = max(1, round(scale * LINES))
    chosen = points[np.linspace(0, len(points) - 1, min(len(points), len(SIDES) * RECTS_PER_SIDE)).astype(np.int64)]
    centres = (chosen - (domain.west, domain.south)) / (domain.width, domain.height)
    low = np.clip(np.rint(centres * LINES - side / 2), 0, LINES - side).astype(np.int64)
    lines = np.hstack([low, low + side])
    return _bounds_of(lines, domain), lines


def _wide_enough(factors: Factors, deviations: Floats, scale: float) -> Factors:
    """Factors that are wide enough for squares around points.

    They are widened up to the scale aimed at. Whoever asks about such squares asks where points are, and there answers
    are off by more than anywhere else.
    """
    normal = np.array([normal_reach(confidence) for confidence in CONFIDENCES])
    needed = np.maximum(AIMED_WIDENING * np.quantile(deviations, CONFIDENCES) / normal, LEAST_FACTOR)
    return tuple(
        tuple(np.maximum(row, needed).tolist()) if side <= max(scale, SIDES[0]) else row
        for side, row in zip(SIDES, factors, strict=True)
    )


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
    return sum((spend.epsilon for spend in claim.spends if spend.purpose not in BY_USER), Fraction(0))


def _rectangles(domain: Domain) -> tuple[Floats, Indices]:
    """Rectangles of several sizes, all over the domain.

    With the lines of a fine grid that they end on, shape (n, 4) each.
    """
    steps = np.outer(np.arange(1, RECTS_PER_SIDE + 1), (1 / PLASTIC, 1 / PLASTIC**2)) % 1
    sides = np.rint(np.array(SIDES)[:, None, None] * LINES).astype(np.int64)
    low = np.floor(steps * (LINES + 1 - sides)).astype(np.int64)
    lines = np.concatenate([low, low + sides], axis=2).reshape(-1, 4)
    return _bounds_of(lines, domain), lines


def _bounds_of(lines: Indices, domain: Domain) -> Floats:
    """Rectangles between lines of the fine grid, shape (n, 4)."""
    origin, extent = (domain.west, domain.south) * 2, (domain.width, domain.height) * 2
    return np.asarray(np.array(origin) + np.array(extent) * lines / LINES)


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
    misses = np.abs(synopsis.surface.counts(rects) - counts)  # first: a helper may still be compiling variances
    noise, spread = synopsis.surface.variances(rects)
    return np.asarray(misses / np.sqrt(noise + spread + FLOOR_VARIANCE))
