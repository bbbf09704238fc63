"""What areas of any shape cover of a partition."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import run_in_slices
from hushgrid.kernels.polygon_cover import cover
from hushgrid.synopsis.hierarchy import Hierarchy
from hushgrid.synopsis.outlines import Outlines

SMALLEST_SLICE = 64  # areas a thread is worth starting for


@dataclass(frozen=True, kw_only=True, eq=False)
class Cover:
    """Runs of neighbouring nodes that areas cover: nodes that lie inside, and single leaves that are cut.

    Parameters
    ----------
    starts : array of int, shape (areas + 1,)
        The runs of an area lie from ``starts[area]`` to ``starts[area + 1]``.
    runs : array of int, shape (runs, 2)
        First node and end of each.
    area_shares, mass_shares : arrays, shape (runs,)
        Covered share of each node, by area and by estimated points; they differ where leaves slope.
    """

    starts: Indices
    runs: Indices
    area_shares: Floats
    mass_shares: Floats

    @classmethod
    def of(cls, hierarchy: Hierarchy, outlines: Outlines, slopes: Floats) -> Self:
        """What areas cover of a hierarchy.

        Parameters
        ----------
        slopes : array, shape (nodes, 2)
            Of the density inside leaves; empty where it is flat.
        """
        segments = np.ascontiguousarray(hierarchy.in_units(outlines.segments.reshape(-1, 2)).reshape(-1, 4))
        extent = float(hierarchy.columns), float(hierarchy.rows)
        splits, children = hierarchy.splits, hierarchy.first_children
        starts, edges = hierarchy.edge_starts, hierarchy.edges
        parts: dict[int, tuple[Indices, Indices, Floats]] = {}

        def work(first: int, stop: int) -> None:
            parts[first] = cover(
                segments, outlines.starts, first, stop, *extent, splits, children, starts, edges, slopes
            )

        run_in_slices(work, outlines.areas, smallest=SMALLEST_SLICE)
        slices = [parts[first] for first in sorted(parts)]
        shares = np.concatenate([part[2] for part in slices])
        lengths = np.concatenate([np.diff(part[0], prepend=0) for part in slices])
        return cls(
            starts=np.concatenate([[0], np.cumsum(lengths)]),
            runs=np.concatenate([part[1] for part in slices]),
            area_shares=np.ascontiguousarray(shares[:, 0]),
            mass_shares=np.ascontiguousarray(shares[:, 1]),
        )

    @property
    def areas(self) -> int:
        """Number of areas."""
        return len(self.starts) - 1

    @cached_property
    def _area_of_run(self) -> Indices:
        """Area of every run, shape (runs,)."""
        return np.repeat(np.arange(self.areas), np.diff(self.starts))

    def total(self, run_values: Floats) -> Floats:
        """Sum over the runs of every area, shape (areas,)."""
        return np.asarray(np.bincount(self._area_of_run, run_values, minlength=self.areas), np.float64)

    def node_by_node(self) -> "Cover":
        """The same with one run for each node."""
        lengths = self.runs[:, 1] - self.runs[:, 0]
        before = np.concatenate([[0], np.cumsum(lengths)])
        nodes = np.arange(before[-1]) + np.repeat(self.runs[:, 0] - before[:-1], lengths)
        return Cover(
            starts=before[self.starts],
            runs=np.stack([nodes, nodes + 1], axis=1),
            area_shares=np.repeat(self.area_shares, lengths),
            mass_shares=np.repeat(self.mass_shares, lengths),
        )
