"""A look at the points themselves. NOT PRIVATE: for the steward's eyes alone."""

from dataclasses import dataclass
from itertools import islice
from typing import Self

import numpy as np

from hushgrid.counting.counter import EngineSource, OpenedPoints
from hushgrid.counting.source import Block
from hushgrid.geometry.domain import Domain

ROWS = 5
NOT_PRIVATE = "NOT PRIVATE: exact, from the points themselves. For your eyes only; do not pass it on, do not keep it."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrueLook:
    """The first rows, and the share of all rows in the domain.

    Parameters
    ----------
    true_rows : tuple of tuples
        Longitude and latitude of the first rows in the system of the domain, NaN where unreadable, and the user id
        where there is one. Empty where an engine holds the points.
    true_share_inside : float
        Share of all rows that lie in the domain; NaN where there are none.

    Privacy
    -------
    None. It is exact, costs nothing, and so nothing that is decided by it is covered by a guarantee.
    """

    true_rows: tuple[tuple[float | str | None, ...], ...]
    true_share_inside: float

    def __repr__(self) -> str:
        return "TrueLook(...)"

    @classmethod
    def at(cls, source: OpenedPoints, domain: Domain) -> Self:
        """Read all points of a source."""
        if isinstance(source, EngineSource):
            with source.counter(domain) as counter:
                return cls(true_rows=(), true_share_inside=_share(counter.total(), counter.rows()))
        true_rows: list[tuple[float | str | None, ...]] = []
        true_rows_in_all = true_inside = 0
        for block in (block for part in source.parts() for block in part):
            true_rows += islice(_rows(block), ROWS - len(true_rows))
            true_rows_in_all += block.longitudes.size
            true_inside += _inside(block, domain)
        return cls(true_rows=tuple(true_rows), true_share_inside=_share(true_inside, true_rows_in_all))

    def in_words(self) -> str:
        """All of it, behind a warning."""
        lines = [NOT_PRIVATE]
        for row in self.true_rows:
            names = ("longitude", "latitude", "user")[: len(row)]
            lines.append("  " + ", ".join(f"{name} {value}" for name, value in zip(names, row, strict=True)))
        lines.append(f"Share of the rows that lie in the domain: {100 * self.true_share_inside:.1f} %")
        return "\n".join(lines)


def _rows(block: Block) -> "list[tuple[float | str | None, ...]]":
    first = slice(0, ROWS)
    places = zip(block.longitudes[first].tolist(), block.latitudes[first].tolist(), strict=True)
    if block.users is None:
        return list(places)
    ids = [None if each is None else each.decode(errors="replace") for each in block.users[:ROWS].to_pylist()]
    return [(*place, each) for place, each in zip(places, ids, strict=True)]


def _inside(block: Block, domain: Domain) -> int:
    west, south, east, north = domain.bounds
    longitudes, latitudes = block.doubles()
    across, along = (longitudes >= west) & (longitudes <= east), (latitudes >= south) & (latitudes <= north)
    return int(np.count_nonzero(across & along))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
