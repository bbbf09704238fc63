"""Counts quadtree cells, one pass for many rounds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import DEEPEST, Quadrants


@dataclass(frozen=True, kw_only=True, eq=False)
class Refinement:
    """Quadtree cells of one level, cut into parts.

    The parts of a cell lie `steps` levels below it, along the curve.

    Parameters
    ----------
    domain : Domain
    level : int
        Of the cells.
    codes : array of int, shape (cells,)
        Numbers of the cells along the curve of their level, rising.
    steps : array of int, shape (cells,)
        How many levels below each cell its parts are.

    Examples
    --------
    >>> quarters = Refinement(domain=Domain(west=0, south=0, east=1, north=1), level=1, codes=[0, 3], steps=[2, 1])
    >>> quarters.cells
    20
    """

    domain: Domain
    level: int
    codes: Indices
    steps: Indices

    def __post_init__(self) -> None:
        for name in ("codes", "steps"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.int64))

    @classmethod
    def of_domain(cls, domain: Domain, steps: int) -> Self:
        """The whole domain, cut `steps` levels down."""
        return cls(domain=domain, level=0, codes=np.zeros(1, np.int64), steps=np.array([steps]))

    @classmethod
    def below(cls, quadrants: Quadrants, *, level: int, more: int) -> Self:
        """A refinement `more` levels below quadtree cells.

        Its cells are those of one `level` that hold these. What does not lie below the level is left out. All parts of
        a cell are of one level, the finest that is wanted within it.
        """
        depths = np.minimum(quadrants.levels + more, DEEPEST)
        wanted = depths > level
        first, stop = (edge[wanted] for edge in quadrants.runs)
        shift = 2 * (DEEPEST - level)
        spans = np.maximum((stop - first) >> shift, 1)  # cells of the level in a quadtree cell; one if it is in that
        within = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans, spans)
        codes = np.repeat(first >> shift, spans) + within
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        steps = np.maximum.reduceat(np.repeat(depths[wanted] - level, spans), starts) if len(codes) else codes
        return cls(domain=quadrants.domain, level=level, codes=codes[starts], steps=steps)

    @property
    def cells(self) -> int:
        """Number of parts."""
        return int(np.sum(4**self.steps))

    @cached_property
    def starts(self) -> Indices:
        """First part of each cell, shape (cells,)."""
        counts = 4**self.steps
        return np.asarray(np.cumsum(counts) - counts)

    def parts_of(self, quadrants: Quadrants) -> tuple[NDArray[np.bool_], Indices, Indices]:
        """Which cells this refinement answers, and their parts.

        Gives a mask of the cells, and for each that is answered the half-open range of its parts. Cells coarser than
        the level are not answered.
        """
        fine = quadrants.levels >= self.level
        above = quadrants.codes >> 2 * np.maximum(quadrants.levels - self.level, 0)
        cell = np.minimum(np.searchsorted(self.codes, above), len(self.codes) - 1)
        made = fine & (self.codes[cell] == above) & (quadrants.levels <= self.level + self.steps[cell])
        first, stop = (self._parts(cell[made], edge[made]) for edge in quadrants.runs)
        return made, first, stop

    def parts_at(self, codes: Indices) -> Indices:
        """Parts that hold finest cells, given by their codes.

        Every one of them lies in a cell of this refinement.

        Examples
        --------
        >>> quarters = Refinement(domain=Domain(west=0, south=0, east=1, north=1), level=1, codes=[0, 3], steps=[2, 1])
        >>> quarters.parts_at(np.array([0, 3 * 4**15, 4**16 - 1]))
        array([ 0, 16, 19])
        """
        return self._parts(np.searchsorted(self.codes, codes >> 2 * (DEEPEST - self.level)), codes)

    def _parts(self, cell: Indices, codes: Indices) -> Indices:
        begin = self.codes[cell] << 2 * (DEEPEST - self.level)
        shift = 2 * (DEEPEST - self.level - self.steps[cell])
        return np.asarray(self.starts[cell] + ((codes - begin) >> shift))


TrueCounts = NDArray[np.int64]
Ask = Callable[[Quadrants | Refinement], TrueCounts]

# What a pass counts at most. Counts take 32 and 128 MiB, of files once a thread. An engine sends a pair of 16 bytes for
# each cell that is not empty: 64 and 256 MiB, if none is.
DENSE_LEVEL = 11  # the first pass counts all its cells
MOST_PARTS = 2**24  # most that a later pass counts


class QuadrantCounts:
    """Counts quadtree cells, and finer ones ahead.

    The first pass counts all cells of one level, and so all above it. Where finer ones are asked for, the next pass
    counts these and as many levels below them as there is memory for: whoever divides cells step by step asks for
    some of those next.

    Parameters
    ----------
    domain : Domain

    Privacy
    -------
    Holds exact counts, and never leaves the counter that made it. How many passes there are follows from the cells
    that were asked for, and these from released values.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._known: list[tuple[Refinement, TrueCounts]] = []

    def __repr__(self) -> str:
        return "QuadrantCounts(...)"

    def count(self, quadrants: Quadrants, ask: Ask) -> TrueCounts:
        """Points in every cell.

        What is not known yet is asked for: `ask` counts a partition by a pass over the source.
        """
        if not self._known:
            self._read(Refinement.of_domain(self._domain, DENSE_LEVEL), ask)
        true_counts, missing = self._recall(quadrants)
        if not missing.any():
            return true_counts
        refinement = _finest(quadrants)
        if refinement is None:
            return ask(quadrants)
        self._read(refinement, ask)
        return self._recall(quadrants)[0]

    def _read(self, refinement: Refinement, ask: Ask) -> None:
        true_counts = ask(refinement)
        self._known.append((refinement, np.cumsum(true_counts, out=true_counts)))

    def _recall(self, quadrants: Quadrants) -> tuple[TrueCounts, NDArray[np.bool_]]:
        """Counts of known cells, and which are missing."""
        true_counts, missing = np.zeros(quadrants.cells, np.int64), np.ones(quadrants.cells, bool)
        for refinement, running in self._known:
            made, first, stop = refinement.parts_of(quadrants)
            true_counts[made] = running[stop - 1] - np.where(first > 0, running[first - 1], 0)
            missing &= ~made
        return true_counts, missing


def _finest(quadrants: Quadrants) -> Refinement | None:
    """Parts of cells as fine as memory allows.

    None if it does not allow the cells themselves.
    """
    coarse = quadrants.levels[quadrants.levels <= DENSE_LEVEL]
    for more in range(DEEPEST - DENSE_LEVEL, -1, -1):
        parts_of_coarse = np.count_nonzero(coarse + more > DENSE_LEVEL) * 4**more
        if parts_of_coarse > MOST_PARTS:
            continue  # do not look for the parts, which would take too much memory
        refinement = Refinement.below(quadrants, level=DENSE_LEVEL, more=more)
        if refinement.cells <= MOST_PARTS:
            return refinement
    return None
