"""Quadtree cells in parts: all cells of some levels below a few, so that one pass serves many rounds of a method."""

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
    """Some cells of one level of a quadtree, each in its parts so many levels down, along the curve.

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
        """The whole domain in its parts so many levels down."""
        return cls(domain=domain, level=0, codes=np.zeros(1, np.int64), steps=np.array([steps]))

    @classmethod
    def below(cls, quadrants: Quadrants, *, level: int, more: int) -> Self:
        """The cells of one level that hold what lies so many levels below quadtree cells, in parts as fine as that.

        What does not lie below the level is left out. All of a cell's parts are of one level, the finest that is wanted
        within it.
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
        """Which quadtree cells are made of parts, and the first part and the end of those of each that is.

        Cells coarser than the level are not, unless they are all there is.
        """
        fine = quadrants.levels >= self.level
        above = quadrants.codes >> 2 * np.maximum(quadrants.levels - self.level, 0)
        cell = np.minimum(np.searchsorted(self.codes, above), len(self.codes) - 1)
        made = fine & (self.codes[cell] == above) & (quadrants.levels <= self.level + self.steps[cell])
        first, stop = (edge[made] for edge in quadrants.runs)
        cell = cell[made]
        begin = self.codes[cell] << 2 * (DEEPEST - self.level)
        shift = 2 * (DEEPEST - self.level - self.steps[cell])
        return made, self.starts[cell] + ((first - begin) >> shift), self.starts[cell] + ((stop - begin) >> shift)
