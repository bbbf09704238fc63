"""A made-up point set like the one a release may have been made from: as many points in each leaf, and as uneven."""

import math
from functools import cache

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.compiled import run_in_slices
from hushgrid.geometry.tree import Tree
from hushgrid.inference.belief_loops import MEANS
from hushgrid.inference.split_prior import cumulative_tables, tabulated_shares
from hushgrid.inference.splits import FIRST_WEIGHTS, bayes_masses
from hushgrid.kernels.likeness import FIRST_LAW, fill_boxes, round_at_random
from hushgrid.kernels.scatter import mixed
from hushgrid.synopsis.synopsis import Synopsis

LEARNED = frozenset({"bayes", "belief", "belief-2"})  # inferences that learn how masses are shared
SMALLEST_SLICE = 1024  # leaves a thread is worth starting for


class Replica:
    """What is needed to make up points that fall into leaves as the counts say.

    Inside a leaf they are divided by splits into halves, whose shares follow the prior that the release has learned
    for splits of that level, or the one it would have begun with. So they clump as the points of the release do.

    Everything is a function of the counts as the file has them, of the measurements and of a seed. On another processor
    the same points come out, but for a few in a billion.

    Examples
    --------
    >>> import hushgrid as hg
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> synopsis = hg.publish([[0.5, 0.5]] * 1000, domain=domain, epsilon=1, method="ug", rng=hg.simulation_rng(1))
    >>> 490 < len(Replica(synopsis).points(500, seed=1)) < 510
    True
    """

    def __init__(self, synopsis: Synopsis) -> None:
        self._masses = np.maximum(synopsis.counts, 0)
        self._total = math.fsum(self._masses)  # exact, so that it is the same in any order
        self._chances = np.cumsum(weights_by_level(synopsis), axis=2)
        domain, bounds = synopsis.domain, synopsis.partition.bounds()
        self._origin, self._extent = np.array([domain.west, domain.south]), np.array([domain.width, domain.height])
        self._corners = (bounds[:, :2] - self._origin) / self._extent
        self._extents = (bounds[:, 2:] - bounds[:, :2]) / self._extent

    def points(self, size: int, *, seed: int) -> Floats:
        """About so many points, shape (n, 2)."""
        for_numbers, for_places = (np.uint64(mixed(np.uint64(2 * seed + number))) for number in range(2))
        numbers = np.empty(len(self._masses), np.int64)
        round_at_random(for_numbers, size * (self._masses / self._total), numbers)
        starts = np.concatenate([[0], np.cumsum(numbers)])
        placed = np.empty((starts[-1], 2))

        def work(first: int, stop: int) -> None:
            boxes = self._corners, self._extents, starts
            fill_boxes(for_places, first, stop, *boxes, self._chances, even_laws(), tabulated_shares(), placed)

        run_in_slices(work, len(numbers), smallest=SMALLEST_SLICE)
        return np.asarray(self._origin + self._extent * placed)


def weights_by_level(synopsis: Synopsis) -> Floats:
    """Weights of the components of the prior, for each level and axis, shape (levels, 2, 8)."""
    partition = synopsis.partition
    if synopsis.inference in LEARNED and isinstance(partition, Tree):
        return bayes_masses(partition, synopsis.measurements).prior_weights
    return np.broadcast_to(FIRST_WEIGHTS, (1, 2, len(FIRST_WEIGHTS)))


@cache
def even_laws() -> Floats:
    """Cumulative probabilities of the laws of even splits at the tabulated shares, shape (6, PLACES)."""
    return np.ascontiguousarray(cumulative_tables(np.eye(len(FIRST_WEIGHTS))[FIRST_LAW:])[:, MEANS // 2])
