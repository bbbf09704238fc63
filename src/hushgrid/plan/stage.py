"""Where a rehearsal takes place: made-up people, rectangles around some of them, and how many each holds."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.plan.population import population, uniform
from hushgrid.privacy.bits import Bits, simulation_rng

AREA_SHARES = {"small": 0.001, "medium": 0.01, "large": 0.1}  # of the domain
PLACES = 400  # rectangles of each size


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """A population of the unit square, and what will be asked about it.

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
    rects = np.stack([places(points, area_share, PLACES, bits=bits) for area_share in AREA_SHARES.values()])
    held = points_in(rects.reshape(-1, 4), points).reshape(rects.shape[:2])
    return Stage(seed=seed, points=points, rects=rects, held=held)


def places(points: Floats, area_share: float, count: int, *, bits: Bits) -> Floats:
    """Squares of this share of the unit square, each somewhere around one of the points, shape (count, 4).

    Examples
    --------
    >>> places(np.array([[0.0, 1.0]]), 0.25, 1, bits=simulation_rng(1))
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
