"""The synopsis: the one type that crosses from the private side to the public one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.grouped import GroupedGrid
from hushgrid.geometry.nested import NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.rects import check_rects
from hushgrid.geometry.tree import Tree
from hushgrid.inference.estimate import INFERENCES
from hushgrid.inference.measurements import Measurements
from hushgrid.synopsis.answer import Answer, answer, only
from hushgrid.synopsis.claim import Claim, MethodRecord
from hushgrid.synopsis.grid_surface import GridSurface
from hushgrid.synopsis.grouped_surface import GroupedSurface
from hushgrid.synopsis.nested_surface import NestedSurface
from hushgrid.synopsis.sloped_surface import SlopedSurface
from hushgrid.synopsis.surface import Surface
from hushgrid.synopsis.tree_surface import TreeSurface

SURFACES: Mapping[type, Callable[..., Surface]] = MappingProxyType(
    {Grid: GridSurface, NestedGrid: NestedSurface.of, GroupedGrid: GroupedSurface, Tree: TreeSurface}
)
SLOPED = frozenset({"belief"})  # inferences of trees whose leaves slope


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Synopsis:
    """A partition of a public domain with noisy counts, under differential privacy.

    Everything here is a function of what was released: the structure, the signed integer measurements and the claim.
    Nothing that reads a synopsis can reach the points it was made from.

    Parameters
    ----------
    partition : Partition
        The leaf cells.
    measurements : Measurements
        Every integer that was measured, with the rate of its noise.
    inference : str
        How `counts` follow from `measurements`: a name in `INFERENCES`.
    counts, variances : array of float, shape (leaves,)
        Estimated count of each leaf and the variance of its noise.
    claim : Claim
        The guarantee.
    method : MethodRecord
        The method and its parameters.
    """

    partition: Partition
    measurements: Measurements
    inference: str
    counts: NDArray[np.float64]
    variances: NDArray[np.float64]
    claim: Claim
    method: MethodRecord

    @classmethod
    def infer(
        cls, partition: Partition, measurements: Measurements, *, inference: str, claim: Claim, method: MethodRecord
    ) -> Self:
        """Synopsis of measurements, its counts made by the inference named."""
        estimate = INFERENCES[inference](partition, measurements)
        return cls(
            partition=partition,
            measurements=measurements,
            inference=inference,
            counts=estimate.counts,
            variances=estimate.variances,
            claim=claim,
            method=method,
        )

    def __repr__(self) -> str:
        mark = ", simulation=True" if self.simulation else ""
        epsilon = float(self.claim.epsilon)
        return f"<Synopsis by {self.method.name}: epsilon={epsilon:g}, {self.partition.cells:,} cells{mark}>"

    @property
    def domain(self) -> Domain:
        """The public rectangle the synopsis covers."""
        return self.partition.domain

    @property
    def simulation(self) -> bool:
        """Whether the noise came from a seed: an experiment, no release."""
        return self.claim.simulation

    @property
    def total(self) -> float:
        """Estimated number of points in the domain."""
        return float(self.counts.sum())

    def count(self, rects: ArrayLike) -> float | NDArray[np.float64]:
        """Estimated number of points in rectangles.

        Parameters
        ----------
        rects : array_like, shape (n, 4) or (4,)
            West, south, east, north of each. Parts outside the domain count nothing.

        Returns
        -------
        array of float, shape (n,), or one float for one rectangle
        """
        counts = self._surface.counts(check_rects(rects))
        return counts if np.ndim(rects) == 2 else float(counts[0])

    def answer(self, rects: ArrayLike, *, confidence: float = 0.95) -> Answer:
        """Estimated number of points in rectangles, with intervals.

        Parameters
        ----------
        rects : array_like, shape (n, 4) or (4,)
            West, south, east, north of each. Parts outside the domain count nothing.
        confidence : float
            How often such an interval should hold the true count.
        """
        answers = answer(self._surface, check_rects(rects), confidence=confidence)
        return answers if np.ndim(rects) == 2 else only(answers)

    def cells(self) -> pa.Table:
        """Bounds, count and standard error by noise of every leaf cell, zeros too, in the order of the partition."""
        names = ("west", "south", "east", "north")
        columns = dict(zip(names, self.partition.bounds().T, strict=True))
        return pa.table({**columns, "count": self.counts, "std_error": np.sqrt(self.variances)})

    def save(self, path: str | Path, *, overwrite: bool = False, allow_simulation: bool = False) -> None:
        """Write the synopsis to one GeoParquet file, through a temporary name.

        Parameters
        ----------
        path : path
            Where to; a name ending in ``.dp.parquet`` tells readers what they hold.
        overwrite : bool
            Whether a file that exists may be replaced.
        allow_simulation : bool
            Whether a simulated synopsis may be written; its file carries the mark.
        """
        from hushgrid.synopsis.file import write  # the file needs this type, and few sessions need the file

        write(self, Path(path), overwrite=overwrite, allow_simulation=allow_simulation)

    @cached_property
    def _surface(self) -> Surface:
        make: Callable[..., Surface] = SlopedSurface.of if self.inference in SLOPED else SURFACES[type(self.partition)]
        return make(self.partition, self.measurements, self.counts)


def read(path: str | Path) -> Synopsis:
    """Read the synopsis that `Synopsis.save` wrote.

    The counts are those of the file, bit for bit; their variances follow from the measurements. `hushgrid verify`
    tells whether the counts do so, too.
    """
    from hushgrid.synopsis.file import open_release

    with open_release(Path(path)) as release:
        return release.synopsis()
