"""Some rows of a source, chosen while reading."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from hushgrid.arrays import Indices
from hushgrid.counting.area_loops import NONE
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.columns import schema_of
from hushgrid.counting.source import Block, PointSource
from hushgrid.geometry.areas import AreaPartition
from hushgrid.work import current_work

Keep = Callable[[Block], Indices]


def within_slices(source: PointSource) -> "FilteredPoints":
    """Points of a source that lie in some slice.

    For one slice of a period, say: which slice it was is forgotten, so that the release is the same as that of a file
    with these rows alone.
    """

    def keep(block: Block) -> Indices:
        assert block.slices is not None
        return np.flatnonzero(block.slices >= 0)

    return FilteredPoints(source, keep)


def outside(source: PointSource, areas: AreaPartition) -> "FilteredPoints":
    """Points of a source that lie in none of some public areas.

    Which point lies in an area is found as `PointCounter` finds it that counts them there, so that each row is counted
    here or there, never twice.
    """
    index = AreaIndex.of(areas)

    def keep(block: Block) -> Indices:
        return np.flatnonzero(index.numbers(block.longitudes, block.latitudes) == NONE)

    return FilteredPoints(source, keep)


class FilteredPoints:
    """Rows of another source, but for some that are dropped while reading.

    Nothing is copied.

    Parameters
    ----------
    source : PointSource
    keep : callable
        Which rows of a block are kept.

    Privacy
    -------
    Whether a row is kept depends on that row and on public values alone.
    """

    def __init__(self, source: PointSource, keep: Keep) -> None:
        self._source = source
        self._keep = keep
        self.kind = getattr(source, "kind", "table")
        self.schema = schema_of(source)

    def rows(self) -> int:
        """Number of rows that are kept, counted once."""
        return self._rows

    @cached_property
    def _rows(self) -> int:
        rows = 0
        for part in self.parts():
            for block in part:
                rows += block.longitudes.size
                current_work().add("reading", block.share)
        return rows

    def parts(self) -> Sequence["FilteredPart"]:
        """Parts of the other source."""
        return [FilteredPart(part, self._keep) for part in self._source.parts()]

    def check_unchanged(self) -> None:
        """Refuse data that changed since it was opened."""
        self._source.check_unchanged()

    def state(self) -> bytes:
        """Digest of the other source, with all its rows."""
        return self._source.state()


@dataclass(frozen=True, repr=False, eq=False)
class FilteredPart:
    """One part of another source."""

    part: Iterable[Block]
    keep: Keep

    def __iter__(self) -> Iterator[Block]:
        for block in self.part:
            rows = self.keep(block)
            users = None if block.users is None else block.users.take(pa.array(rows))
            yield Block.of(block.longitudes[rows], block.latitudes[rows], block.share, users)
