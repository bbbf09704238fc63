"""A prior as masses of quadtree cells, whatever its source."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.errors import InputError
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import DEEPEST, scatter_bits
from hushgrid.inference.pooled import FOREIGN, Trust

PSEUDO_COUNT = 0.5  # k: half a place, or half a point, is one unit of evidence
LARGEST_COUNT = 1e18  # of a pixel or a weight: more is what stands for no data, or a slip, and sums might overflow
RASTER_LEVEL = 11  # 2,048 pixels a side, for whatever is spread over areas


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a release says of its prior.

    Parameters
    ----------
    name : str
        Such as the name of the file, without its folder.
    kind : str
        Places, points, polygons, a raster or a release.
    sha256 : str
        Digest of the file, in hexadecimal.
    licence : str, optional
        What the file says of its licence.
    """

    needs_proof: ClassVar[bool] = True
    trust: ClassVar[Trust] = FOREIGN

    name: str
    kind: str
    sha256: str
    licence: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class CellMasses(Source):
    """A prior that is a mass in each cell of one level.

    A cell above the level holds the sum of its parts, one below it an even share.

    Parameters
    ----------
    level : int
        How often the domain is halved along each axis.
    codes : array of int, shape (n,), optional
        The cells that may hold anything, in the order of the curve; all of the level if left out.
    sums : array of float, shape (n + 1,)
        Mass of all cells before each of them, and of all.

    Examples
    --------
    >>> source = Source(name="two points", kind="points", sha256="0" * 64)
    >>> square = Domain(west=0, south=0, east=1, north=1)
    >>> prior = CellMasses.of_points(source, np.array([[0.1, 0.1], [0.9, 0.2]]), None, square)
    >>> prior.evidence(np.array([0, 1, 1]), np.array([0, 0, 3]))
    array([4., 2., 0.])
    """

    level: int
    codes: Indices | None = None
    sums: Floats

    @classmethod
    def of_points(cls, source: Source, places: Floats, weights: Floats | None, domain: Domain) -> Self:
        """The points of a domain, each with its weight or with one.

        Weights count by their ratios: together they are as many points as they are worth (Kish 1965), fewer than there
        are if some weigh more than others.
        """
        west, south, east, north = domain.bounds
        inside = ((places >= (west, south)) & (places <= (east, north))).all(axis=1)  # false for NaN too
        side, (x, y) = 1 << DEEPEST, places[inside].T
        column = cells.cell(x, west, cells.scale(west, east, side), side)
        row = cells.cell(y, south, cells.scale(south, north, side), side)
        found, which = np.unique(morton(column, row), return_inverse=True)
        counted = np.ones(len(which)) if weights is None else weights[inside]
        counted = np.ldexp(counted, -np.frexp(counted.max(initial=0.0))[1])  # a power of two, so that squares are exact
        counted = counted * (counted.sum() / max(float(counted @ counted), np.finfo(np.float64).tiny))
        sums = np.cumsum(np.concatenate([[0.0], np.bincount(which, counted, minlength=len(found))]))
        return cls._of(source, DEEPEST, found, sums)

    @classmethod
    def of_raster(cls, source: Source, pixels: Floats) -> Self:
        """Pixels that tile the domain, the southernmost row first.

        There are as many rows as columns, a power of two.
        """
        side, bits = len(pixels), scatter_bits(np.arange(len(pixels)))
        sums = np.empty(side * side + 1)
        add_up_on_curve(pixels, bits, sums)
        return cls._of(source, side.bit_length() - 1, None, sums)

    @classmethod
    def _of(cls, source: Source, level: int, codes: Indices | None, sums: Floats) -> Self:
        if not sums[-1] > 0:
            msg = f"the prior {source.name} has nothing inside the domain. Was it meant for another region, or is it "
            msg += "in another reference system than it says?"
            raise InputError(msg)
        return cls(**vars(source), level=level, codes=codes, sums=sums)

    def evidence(self, levels: Indices, codes: Indices) -> Floats:
        """Evidence in quadtree cells of the domain, shape (n,)."""
        below, above = np.maximum(levels - self.level, 0), np.maximum(self.level - levels, 0)
        held = codes >> 2 * below
        first, stop = (self._place(cell << 2 * above) for cell in (held, held + 1))
        return np.asarray(np.ldexp((self.sums[stop] - self.sums[first]) / PSEUDO_COUNT, -2 * below), np.float64)

    def _place(self, codes: Indices) -> Indices:
        """Number of cells before each code on the curve."""
        return codes if self.codes is None else np.searchsorted(self.codes, codes)


@compiled
def add_up_on_curve(pixels: Floats, bits: Indices, sums: Floats) -> None:
    """Add up pixels in the order of the curve.

    Parameters
    ----------
    bits : array of int, shape (side,)
        The code of each column in the first row.
    sums : array, shape (side * side + 1,)
        Written: the sum of all pixels before each, and of all.
    """
    for row in range(len(bits)):
        for column in range(len(bits)):
            sums[(bits[column] | bits[row] << 1) + 1] = pixels[row, column]
    sums[0] = 0.0
    for code in range(1, len(sums)):
        sums[code] += sums[code - 1]


def morton(columns: Indices, rows: Indices) -> Indices:
    """Codes of cells by their column and row, which may be broadcast.

    Examples
    --------
    >>> morton(np.arange(2), np.arange(2)[:, None])
    array([[0, 1],
           [2, 3]])
    """
    return scatter_bits(columns) | scatter_bits(rows) << 1
