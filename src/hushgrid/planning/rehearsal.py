"""A rehearsal: a method publishes made-up people."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.geometry.domain import Domain
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.method import Method
from hushgrid.methods.staq import Staq
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.planning.population import population, uniform
from hushgrid.privacy.bits import Bits, simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.synopsis import Synopsis

AREA_SHARES = {"small": 0.001, "medium": 0.01, "large": 0.1}  # of the domain
PLACES = 400  # rectangles of each size


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """Made-up people, and the questions about them.

    Parameters
    ----------
    seed : int
        Of the population, and of the noise of its rehearsals.
    points : array, shape (size, 2)
    rects : array, shape (sizes of rectangles, PLACES, 4)
        West, south, east, north.
    held : array of int, shape (sizes of rectangles, PLACES)
        Points in each of them.
    """

    seed: int
    points: Floats
    rects: Floats
    held: NDArray[np.int64]


@lru_cache(maxsize=4)
def stage(size: int, filled: float, seed: int) -> Stage:
    """The stage of this seed, always the same."""
    points = population(size, filled, seed=seed)
    bits = simulation_rng(seed)
    rects = np.stack([rect_places(points, area_share, PLACES, bits=bits) for area_share in AREA_SHARES.values()])
    held = points_in(rects.reshape(-1, 4), points).reshape(rects.shape[:2])
    return Stage(seed=seed, points=points, rects=rects, held=held)


def rect_places(points: Floats, area_share: float, count: int, *, bits: Bits) -> Floats:
    """Squares around points, shape (count, 4).

    Each has this share of the unit square.

    Examples
    --------
    >>> rect_places(np.array([[0.0, 1.0]]), 0.25, 1, bits=simulation_rng(1))
    array([[0. , 0.5, 0.5, 1. ]])
    """
    side = math.sqrt(area_share)
    chosen = points[(uniform(bits, count) * len(points)).astype(np.int64)]
    low = np.clip(chosen - side * uniform(bits, 2 * count).reshape(count, 2), 0, 1 - side)
    return np.hstack([low, low + side])


def points_in(rects: Floats, points: Floats) -> NDArray[np.int64]:
    """Number of points in each rectangle, shape (n,).

    Examples
    --------
    >>> points_in(np.array([[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 1.0, 1.0]]), np.array([[0.2, 0.1], [0.3, 0.9]]))
    array([1, 2])
    """
    # Sorted by the first coordinate, so that a rectangle looks at the points of its own strip only.
    across, along = np.ascontiguousarray(points[np.argsort(points[:, 0])].T)
    first = np.searchsorted(across, rects[:, 0], side="left")
    stop = np.searchsorted(across, rects[:, 2], side="right")
    counts = np.empty(len(rects), np.int64)
    for index, (_, south, _, north) in enumerate(rects):
        strip = along[first[index] : stop[index]]
        counts[index] = np.count_nonzero((strip >= south) & (strip <= north))
    return counts


CONFIDENCE = 0.95
SEEDS = (1, 2)  # of the populations that figures are pooled over
UNIT_SQUARE = Domain(west=0, south=0, east=1, north=1)
SMALLEST_ERROR = 0.5  # nobody reads a count more closely, and logarithms need a number above zero

# STAQ is rehearsed by Bayes' rule: much like belief propagation (docs/plan.md), and faster.
METHODS: dict[str, Method] = {
    method.name: method for method in (Staq(inference="bayes"), AdaptiveGrid(), UniformGrid())
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Figures:
    """What came of a rehearsal.

    Arrays have one value for each size of rectangle, the smallest first.

    Parameters
    ----------
    cells : float
        Number of leaf cells.
    cell_side : float
        Side of the leaf cell of a typical point, as a share of the domain's.
    points : array
        Median number of points in a rectangle, as a share of all.
    typical_error, reach : array
        Median and 95th percentile of the errors, as shares of all points.
    relative_typical_error, relative_reach : array
        The same for errors relative to the points in the rectangle.
    """

    cells: float
    cell_side: float
    points: Floats
    typical_error: Floats
    reach: Floats
    relative_typical_error: Floats
    relative_reach: Floats


def rehearse(name: str, size: int, epsilon: Fraction, filled: float) -> Figures:
    """Figures of a method on populations of one size.

    The budget is for counts alone.
    """
    stages = [stage(size, filled, seed) for seed in SEEDS]
    synopses = [rehearsed(METHODS[name], each, epsilon) for each in stages]
    held = np.hstack([each.held for each in stages])
    errors = np.hstack([_errors(synopsis, each) for synopsis, each in zip(synopses, stages, strict=True)])
    relative = errors / held
    return Figures(
        cells=float(np.mean([synopsis.partition.cells for synopsis in synopses])),
        cell_side=float(np.mean([_cell_side(synopsis) for synopsis in synopses])),
        points=np.median(held, axis=1) / size,
        typical_error=np.median(errors, axis=1) / size,
        reach=np.quantile(errors, CONFIDENCE, axis=1) / size,
        relative_typical_error=np.median(relative, axis=1),
        relative_reach=np.quantile(relative, CONFIDENCE, axis=1),
    )


def rehearsed(method: Method, on: Stage, epsilon: Fraction) -> Synopsis:
    """What the method publishes of these people.

    It is marked, so that it cannot pass for a release.
    """
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(on.points))
    return method.release(counter, Budget(epsilon, bits=simulation_rng(on.seed), public_size=len(on.points)))


def _errors(synopsis: Synopsis, on: Stage) -> Floats:
    counts = np.reshape(synopsis.count(on.rects.reshape(-1, 4)), on.held.shape)
    return np.maximum(np.abs(counts - on.held), SMALLEST_ERROR)


def _cell_side(synopsis: Synopsis) -> float:
    """The side of the median point's cell.

    By the published counts, half of all points lie in cells with smaller sides.
    """
    west, south, east, north = synopsis.partition.bounds().T
    sides = np.sqrt((east - west) * (north - south))
    order = np.argsort(sides)
    below = np.cumsum(np.maximum(synopsis.counts[order], 0))
    return float(sides[order[np.searchsorted(below, below[-1] / 2)]])
