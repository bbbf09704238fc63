"""Synthetic points that follow a synopsis.

Made from released values, they stand for nobody.
"""

import operator
from typing import Any

import numpy as np

from hushgrid.answering.boxes import BoxTree
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import run_in_slices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.sampling.land import Land, area_masses, scatter_in, shapes_within
from hushgrid.sampling.scatter import INNER, add_halves, halve, hand_down, scatter, scatter_again
from hushgrid.synopsis.synopsis import Synopsis


def seeded(seed: int | None = None) -> np.random.Generator:
    """A generator of made-up points.

    Without a seed, another one each time.

    Examples
    --------
    >>> seeded(1).random() == seeded(1).random()
    True
    """
    return np.random.default_rng(seed)


def leaf_masses(hierarchy: BoxTree, counts: Floats, areas: Floats) -> tuple[Indices, Floats]:
    """An order of the leaves, and their masses.

    In this order every block is one run of leaves. Masses sum to one.

    Blocks are the nodes of the hierarchy and what is left when the rows and columns of their children are halved and
    halved again. From the whole domain down, the mass of a block is shared between its halves in proportion to their
    counts; a half whose count is negative gets nothing. So a block has its count, unless one around it has lost mass
    to a negative neighbour. Where no count is positive, areas share instead.

    Parameters
    ----------
    counts : array, shape (leaves,)
    areas : array, shape (leaves,)
        Where it is zero, there is no place for a point: the mass goes to the rest of the smallest block that has any.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> from hushgrid.geometry.grid import Grid
    >>> grid = Grid(domain=Domain(west=0, south=0, east=4, north=1), rows=1, columns=4)
    >>> leaf_masses(BoxTree.of(grid), np.array([3.0, -1.0, 4.0, 4.0]), np.ones(4))
    (array([0, 1, 2, 3]), array([0.2, 0. , 0.4, 0.4]))
    """
    seconds, nodes = halve(hierarchy.splits, hierarchy.first_children, len(hierarchy.leaves))
    leaf_of_node = np.empty(hierarchy.nodes, np.int64)
    leaf_of_node[hierarchy.leaves] = np.arange(len(hierarchy.leaves))
    is_leaf = nodes != INNER
    order = leaf_of_node[nodes[is_leaf]]
    block_counts, block_areas, masses = np.zeros((3, len(nodes)))
    for values, of_leaves in ((block_counts, counts), (block_areas, areas)):
        values[is_leaf] = of_leaves[order]
        add_halves(seconds, values)
    masses[0] = 1.0
    hand_down(seconds, block_counts, block_areas, masses)
    return order, masses[is_leaf]


MOST_POINTS = 10**9
SMALLEST_SLICE = 2**16  # fewest points worth a thread
TRIES_AT_ONCE = 2**20
MOST_TRIES = 2**17  # for one point; the smallest share of land is found long before


def sample(synopsis: Synopsis, size: int, *, seed: int | None = None, within: Any = None) -> Floats:
    """Synthetic points; see `Synopsis.sample`."""
    size, rng = _check_size(size), _rng(seed)
    if isinstance(synopsis.partition, AreaPartition):
        shapes = shapes_within(synopsis.partition, within)
        ends = running_numbers(area_masses(shapes, synopsis.counts), size, offset=rng.random())
        return scatter_in(shapes, np.diff(ends, prepend=0), rng)
    hierarchy, bounds = BoxTree.of(synopsis.partition), synopsis.partition.bounds()
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
    """How many points lie up to each mass.

    The number in every run of masses is within one of its share of `size`.

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
    """Place points again until they are on land.

    Each stays in its leaf. Where it lands depends on its own bits alone.
    """
    attempt = 1
    while len(waiting):
        if attempt > MOST_TRIES:
            msg = "within is too thin in some places to put points in. Simplify or widen its polygons."
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
