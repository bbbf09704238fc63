"""Points sorted along the Morton curve: the count of any quadtree cell by two bisections."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import thread_count
from hushgrid.counting.progress import ShareDone
from hushgrid.counting.source import Block, PointSource
from hushgrid.counting.tree_tally import curve_codes
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import Quadrants

MOST_POINTS = 2**23  # whose codes take 64 MiB


class Curve:
    """The points of a domain as sorted codes.

    Privacy
    -------
    Holds the position of every point to one part in 65,536 of the domain's width and height. It never leaves the
    counter that made it.
    """

    def __init__(self, true_codes: NDArray[np.int64]) -> None:
        self._true_codes = np.sort(true_codes)

    @classmethod
    def of(cls, source: PointSource, domain: Domain, done: ShareDone) -> Self:
        """Codes of all points of a source, in one pass."""

        def read(part: Iterable[Block]) -> list[NDArray[np.int64]]:
            codes = []
            for block in part:
                codes.append(curve_codes(domain, block))
                done.add(block.share)
            return codes

        with ThreadPoolExecutor(thread_count()) as pool:
            codes = list(chain.from_iterable(pool.map(read, source.parts())))
        return cls(np.concatenate(codes) if codes else np.empty(0, np.int64))

    def count(self, quadrants: Quadrants) -> NDArray[np.int64]:
        """Points in every cell."""
        # Points outside the domain have the code -1, which no cell begins with.
        first, stop = (np.searchsorted(self._true_codes, edge) for edge in quadrants.runs)
        return np.asarray(stop - first, np.int64)
