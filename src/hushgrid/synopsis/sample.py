"""Synthetic points that lie as a synopsis says: made from released values alone, they stand for nobody."""

import operator
from typing import Any

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import run_in_slices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import Patchwork
from hushgrid.kernels.scatter import scatter, scatter_again
from hushgrid.synopsis.hierarchy import Hierarchy
from hushgrid.synopsis.land import Land
from hushgrid.synopsis.masses import leaf_masses
from hushgrid.synopsis.patch_sample import area_masses, scatter_in, shapes_within
from hushgrid.synopsis.seeded import seeded
from hushgrid.synopsis.synopsis import Synopsis

MOST_POINTS = 10**9
SMALLEST_SLICE = 2**16  # points a thread is worth starting for
TRIES_AT_ONCE = 2**20
MOST_TRIES = 2**17  # for one point; the smallest share of land is found long before


def sample(synopsis: Synopsis, size: int, *, seed: int | None = None, within: Any = None) -> Floats:
    """Synthetic points; see `Synopsis.sample`."""
    size, rng = _check_size(size), _rng(seed)
    if isinstance(synopsis.partition, Patchwork):
        shapes = shapes_within(synopsis.partition, within)
        ends = running_numbers(area_masses(shapes, synopsis.counts), size, offset=rng.random())
        return scatter_in(shapes, np.diff(ends, prepend=0), rng)
    hierarchy, bounds = Hierarchy.of(synopsis.partition), synopsis.partition.bounds()
    slopes = synopsis.slopes
    land = None if within is None else Land.of(within, hierarchy, slopes)
    areas = (bounds[:, 2] - bounds[:, 0]) * (bounds[:, 3] - bounds[:, 1])
    order, masses = leaf_masses(hierarchy, synopsis.counts, areas if land is None else areas * land.shares)
    ends = running_numbers(masses, size, offset=rng.random())
    key = rng.integers(2**64, dtype=np.uint64)
    boxes, leans = bounds[order], slopes[order] if len(slopes) else slopes
    points = np.empty((size, 2))

    def work(first: int, stop: int) -> None:
        scatter(key, first, stop, ends, boxes, leans, points)

    run_in_slices(work, size, smallest=SMALLEST_SLICE)
    if land is not None:
        leaves = np.repeat(np.arange(len(order)), np.diff(ends, prepend=0))
        cut = np.flatnonzero(land.shares[order][leaves] < 1)
        _move_ashore(points, cut[~land.holds(points[cut])], leaves, land, key, boxes, leans)
    return points


def running_numbers(masses: Floats, size: int, *, offset: float) -> Indices:
    """Whole numbers up to each mass, so that the number of every run of masses is within one of its share of `size`.

    Parameters
    ----------
    masses : array, shape (n,)
        None negative, of sum one.
    offset : float
        From 0 to below 1: where rounding starts. A uniform one makes every number right on average.

    Examples
    --------
    >>> running_numbers(np.array([0.25, 0.5, 0.0, 0.25]), 10, offset=0.5)
    array([ 3,  8,  8, 10])
    """
    running = np.cumsum(masses)
    # What follows the last mass gets the end itself: no point may fall behind it by rounding.
    running[np.flatnonzero(masses)[-1] :] = 1.0
    return np.minimum(np.floor(running * size + offset), size).astype(np.int64)


def _move_ashore(
    points: Floats, waiting: Indices, leaves: Indices, land: Land, key: np.uint64, boxes: Floats, slopes: Floats
) -> None:
    """Place points again, each in its leaf until it is on land: what it lands on depends on its own bits alone."""
    attempt = 1
    while len(waiting):
        if attempt > MOST_TRIES:
            msg = "within is too thin in places for points to be found in it; simplify or widen its polygons."
            raise ArgumentError(msg)
        times = max(1, min(attempt, TRIES_AT_ONCE // len(waiting)))
        tries = np.empty((len(waiting), times, 2))
        scatter_again(key, waiting, leaves[waiting], attempt, boxes, slopes, tries)
        ashore = land.holds(tries)
        found = ashore.any(axis=1)
        points[waiting[found]] = tries[found, ashore.argmax(axis=1)[found]]
        waiting = waiting[~found]
        attempt += times


def _check_size(size: int) -> int:
    try:
        whole = operator.index(size)
    except TypeError:
        whole = -1
    if not 0 <= whole <= MOST_POINTS:
        msg = f"the number of synthetic points must be a whole number from 0 to {MOST_POINTS:,}, got {size!r}."
        raise ArgumentError(msg)
    return whole


def _rng(seed: int | None) -> np.random.Generator:
    try:
        return seeded(seed)
    except (TypeError, ValueError):
        msg = f"seed must be a whole number of at least 0, or None, got seed={seed!r}."
        raise ArgumentError(msg) from None
