"""Counts of quadtree cells over sources too large to sort: a dense count of one level, then finer ones where asked."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hushgrid.counting.refinement import Refinement
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import DEEPEST, Quadrants

TrueCounts = NDArray[np.int64]

DENSE_LEVEL = 11  # of which the first pass counts every cell; the counts take 32 MiB a thread
MOST_PARTS = 2**24  # that a later pass counts; these take 128 MiB a thread


class QuadrantCounts:
    """Counts of quadtree cells, from passes that count finer cells than were asked for.

    The first pass counts all cells of one level, and so all above it. Where finer ones are asked for, the next pass
    counts these and as many levels below them as there is memory for: whoever divides cells step by step asks for
    some of those next.

    Parameters
    ----------
    domain : Domain
    count : callable
        Counts of a partition, by a pass over the source.

    Privacy
    -------
    Holds exact counts, and never leaves the counter that made it. How many passes there are follows from the cells
    that were asked for, and these from released values.
    """

    def __init__(self, domain: Domain, count: Callable[[Quadrants | Refinement], TrueCounts]) -> None:
        self._domain = domain
        self._count = count
        self._known: list[tuple[Refinement, TrueCounts]] = []

    def __repr__(self) -> str:
        return "QuadrantCounts(...)"

    def count(self, quadrants: Quadrants) -> TrueCounts:
        """Points in every cell."""
        if not self._known:
            self._read(Refinement.of_domain(self._domain, DENSE_LEVEL))
        true_counts, missing = self._recall(quadrants)
        if not missing.any():
            return true_counts
        refinement = _finest(quadrants)
        if refinement is None:
            return self._count(quadrants)
        self._read(refinement)
        return self._recall(quadrants)[0]

    def _read(self, refinement: Refinement) -> None:
        true_counts = self._count(refinement)
        self._known.append((refinement, np.cumsum(true_counts, out=true_counts)))

    def _recall(self, quadrants: Quadrants) -> tuple[TrueCounts, NDArray[np.bool_]]:
        """Counts of the cells that are known, and which are not."""
        true_counts, missing = np.zeros(quadrants.cells, np.int64), np.ones(quadrants.cells, bool)
        for refinement, running in self._known:
            made, first, stop = refinement.parts_of(quadrants)
            true_counts[made] = running[stop - 1] - np.where(first > 0, running[first - 1], 0)
            missing &= ~made
        return true_counts, missing


def _finest(quadrants: Quadrants) -> Refinement | None:
    """Parts of the cells as many levels down as memory allows, or None if it does not allow the cells themselves."""
    coarse = quadrants.levels[quadrants.levels <= DENSE_LEVEL]
    for more in range(DEEPEST - DENSE_LEVEL, -1, -1):
        parts_of_coarse = np.count_nonzero(coarse + more > DENSE_LEVEL) * 4**more
        if parts_of_coarse > MOST_PARTS:
            continue  # before the others are looked for, which takes memory in proportion
        refinement = Refinement.below(quadrants, level=DENSE_LEVEL, more=more)
        if refinement.cells <= MOST_PARTS:
            return refinement
    return None
