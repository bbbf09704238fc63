"""A picture of a release: fine where counts are sure, else smooth.

A release knows some places to the block and others only as a region. Blocks of a picture are halved along both axes for
as long as the parts are known and cells of the release are smaller. What is not known of a block is spread over it
without edges, as the densities around it lead one to expect. No noise shows as texture, and no dense place as a hole.
Every count is drawn once.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.export.raster import Raster, pixels
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.partition import Partition
from hushgrid.synopsis.answer import Answer
from hushgrid.synopsis.synopsis import Synopsis

EARTH_RADIUS = 6371.0088  # km: the sphere of the mean radius (IUGG)
KNOWN = 0.25  # relative standard error below which a part of a divided block is drawn by itself
SURE = 0.1  # below which a block is, wherever it lies: of many blocks some are known by chance, hardly one sure
ASKED_EVERYWHERE = 256  # blocks on the longer side; finer ones are asked only within known ones
ASKED_AT_ONCE = 2**18
SMALLER = 0.5  # size of a cell, of that of a block, below which it divides the block

Truths = NDArray[np.bool_]


class Drawable(Protocol):
    """What a picture is drawn of: a release, or several that answer as one."""

    @property
    def domain(self) -> Domain:
        """The rectangle in which it has counts."""

    @property
    def partition(self) -> Partition:
        """Cells that tell how fine to ask."""

    @property
    def total(self) -> float:
        """Estimated number of points."""

    def answer(self, rects: ArrayLike) -> Answer:
        """Estimated number of points in rectangles."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """Blocks of one size that are not divided any further.

    Parameters
    ----------
    grid : Grid
        All blocks of this size.
    blocks : array of int
        Which of them are painted.
    masses : array of float
        Their estimated counts, none negative.
    """

    grid: Grid
    blocks: Indices
    masses: Floats

    def raster(self) -> Floats:
        """Masses of all blocks, shape (rows, columns)."""
        everywhere = np.zeros(self.grid.cells)
        everywhere[self.blocks] = self.masses
        return everywhere.reshape(self.grid.rows, self.grid.columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Picture:
    """Layers of blocks, the largest first.

    Those of each layer are half as wide and half as high as those before.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=580_000, south=4_500_000, east=581_000, north=4_501_000, crs="EPSG:32618")
    >>> release = hg.publish([[580_100, 4_500_100]] * 500, domain=square, epsilon=1, method="ug", crs="EPSG:32618")
    >>> painted = Picture.of(release, longest=64).paint()
    >>> painted.shape, bool(np.isclose(1e6 * painted.mean(), release.total))
    ((64, 64), True)
    """

    layers: tuple[Layer, ...]

    @classmethod
    def of(cls, synopsis: Drawable, *, longest: int = 1024) -> Self:
        """Ask a release for as many blocks as it knows.

        Parameters
        ----------
        longest : int
            Blocks on the longer side of the last layer, at least.
        """
        grids = list(_halved(synopsis.domain, longest))
        coarse = [grid for grid in grids if max(grid.rows, grid.columns) <= ASKED_EVERYWHERE]
        surveyed, holding = _survey(synopsis, coarse), _holding_smaller(synopsis.partition, grids)
        blocks, masses, around = np.arange(1), np.array([max(synopsis.total, 0.0)]), _Around()
        layers = []
        for depth, grid in enumerate(grids):
            parts = _parts(blocks, grid)
            sizes = row_sizes(grid)[parts // grid.columns]
            asked = surveyed[depth].of(parts) if depth < len(surveyed) else _ask(synopsis, grid, parts)
            masses = _shared(masses, asked, sizes * around.expected(parts))
            divided = asked.known & holding[depth][parts] & (grid is not grids[-1])
            layers.append(Layer(grid=grid, blocks=parts[~divided], masses=masses[~divided]))
            is_coarse = depth + 1 < len(surveyed)
            around = around.halved(grid, parts, masses / sizes, divided) if is_coarse else _Around()
            blocks, masses = parts[divided], masses[divided]
        return cls(layers=tuple(layers))

    def paint(self) -> Floats:
        """Densities of the smallest blocks, counts per unit of `row_sizes`; the southernmost row first."""
        painted = np.zeros((1, 1))
        for layer in self.layers:
            painted = smoothly_halved(painted) if layer is not self.layers[0] else painted
            painted = painted + layer.raster() / row_sizes(layer.grid)[:, None]
        counted = (painted * row_sizes(self.layers[-1].grid)[:, None]).sum()
        total = math.fsum(layer.masses.sum() for layer in self.layers)
        return np.asarray(painted * (total / (counted or 1.0)))


def densities(synopsis: Synopsis, longest: int) -> Floats:
    """Counts per unit of `row_sizes` in each pixel.

    They are as fine as the release knows them. The southernmost row comes first.

    Parameters
    ----------
    longest : int
        Pixels on the longer side, at least.
    """
    if not isinstance(synopsis.partition, AreaPartition):
        return Picture.of(synopsis, longest=longest).paint()
    raster = Raster.of(synopsis, pixels(synopsis, longest))
    return raster.estimates / row_sizes(raster.grid)[:, None]


def smoothly_halved(painted: Floats) -> Floats:
    """Densities of blocks half as wide and half as high.

    No edges show between those of different blocks.

    Along each axis a part takes 3/4 of its own block's density and 1/4 of its neighbour's. Repeated, it is the
    quadratic spline of Chaikin, "An algorithm for high-speed curve generation", 1974. Their mean is kept.

    Examples
    --------
    >>> smoothly_halved(np.array([[16.0, 0.0]]))
    array([[16., 12.,  4.,  0.],
           [16., 12.,  4.,  0.]])
    """
    for axis in (0, 1):
        padded = np.pad(painted, [(1, 1) if axis == each else (0, 0) for each in (0, 1)], mode="edge")
        before, after = (np.delete(padded, ends, axis) for ends in ([-2, -1], [0, 1]))
        halves = np.stack([3 * painted + before, 3 * painted + after], axis=axis + 1) / 4
        painted = halves.reshape([(1 + (axis == each)) * size for each, size in enumerate(painted.shape)])
    return painted


def row_sizes(grid: Grid) -> Floats:
    """Size of a block of every row.

    In square kilometres on the ground, or in squares of the domain's own units where it is not geographic.
    """
    if grid.domain.is_geographic:
        sines = np.sin(np.radians(grid.row_edges))
        return np.asarray(EARTH_RADIUS**2 * math.radians(grid.domain.width / grid.columns) * np.diff(sines))
    return np.diff(grid.row_edges) * (grid.domain.width / grid.columns)


def _halved(domain: Domain, longest: int) -> Iterator[Grid]:
    """Grids of blocks that look about square.

    Along the shorter side they have one block, then two, four, and so on.
    """
    width, height = domain.width, domain.height
    if domain.is_geographic:
        width *= max(0.1, math.cos(math.radians((domain.south + domain.north) / 2)))
    rows, columns = max(1, round(height / width)), max(1, round(width / height))
    yield Grid(domain=domain, rows=rows, columns=columns)
    while max(rows, columns) < longest:
        rows, columns = 2 * rows, 2 * columns
        yield Grid(domain=domain, rows=rows, columns=columns)


def _parts(blocks: Indices, grid: Grid) -> Indices:
    """Blocks of a grid that divide those of the grid before.

    They are four each, side by side; of the first grid, all.
    """
    if 1 in (grid.rows, grid.columns):
        return np.arange(grid.cells)
    row, column = np.divmod(blocks, grid.columns // 2)
    corner = 2 * row * grid.columns + 2 * column
    parts: Indices = np.add.outer(corner, [0, 1, grid.columns, grid.columns + 1])
    return parts.ravel()


def _holding_smaller(partition: Partition, grids: list[Grid]) -> list[Truths]:
    """Blocks of each grid that hold the middle of a smaller cell."""
    holding = [np.zeros((grid.rows, grid.columns), bool) for grid in grids]
    domain = partition.domain
    corner, size = (domain.west, domain.south), (domain.width, domain.height)
    for first in range(0, partition.cells, ASKED_AT_ONCE):
        bounds = partition.bounds(first, min(first + ASKED_AT_ONCE, partition.cells))
        low, high = (bounds[:, :2] - corner) / size, (bounds[:, 2:] - corner) / size  # shares of the sides
        shares, middles = np.prod(high - low, axis=1), (low + high) / 2
        for grid, found in zip(grids, holding, strict=True):
            columns, rows = (middles[shares * grid.cells < SMALLER] * (grid.columns, grid.rows)).astype(int).T
            found[rows, columns] = True
    return [found.ravel() for found in holding]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Around:
    """Densities that larger blocks lead one to expect.

    At first, nothing is finer than a share of the domain.

    Those of the larger blocks are smoothed, with or without those that are divided.
    """

    with_divided: Floats | None = None
    painted: Floats | float = 0.0

    def expected(self, blocks: Indices) -> Floats:
        """Densities of blocks, up to a factor."""
        return np.ones(len(blocks)) if self.with_divided is None else self.with_divided.ravel()[blocks]

    def halved(self, grid: Grid, blocks: Indices, densities: Floats, divided: Truths) -> "_Around":
        """What is expected of the parts of these blocks."""
        found, kept = np.zeros((2, grid.cells))
        found[blocks], kept[blocks] = densities, np.where(divided, 0.0, densities)
        shape = grid.rows, grid.columns
        return _Around(
            with_divided=smoothly_halved(self.painted + found.reshape(shape)),
            painted=smoothly_halved(self.painted + kept.reshape(shape)),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Asked:
    """Estimates of blocks, none below zero; which are known, and which are sure.

    A block that holds a sure part counts as known.
    """

    estimates: Floats
    known: Truths
    sure: Truths

    def of(self, blocks: Indices) -> "_Asked":
        """The answers on some of the blocks."""
        return _Asked(estimates=self.estimates[blocks], known=self.known[blocks], sure=self.sure[blocks])


def _survey(synopsis: Drawable, grids: list[Grid]) -> list[_Asked]:
    """Answers on all blocks of some grids."""
    asked = [_ask(synopsis, grid, np.arange(grid.cells)) for grid in grids]
    for whole, parts, grid in reversed(list(zip(asked[:-1], asked[1:], grids[1:], strict=True))):
        whole.sure[:] |= parts.sure.reshape(grid.rows // 2, 2, grid.columns // 2, 2).any(axis=(1, 3)).ravel()
        whole.known[:] |= whole.sure
    return asked


def _ask(synopsis: Drawable, grid: Grid, blocks: Indices) -> _Asked:
    """Answers on some blocks."""
    estimates, errors = np.empty((2, len(blocks)))
    for first in range(0, len(blocks), ASKED_AT_ONCE):
        some = slice(first, first + ASKED_AT_ONCE)
        answer = synopsis.answer(_bounds(grid, blocks[some]))
        estimates[some], errors[some] = answer.estimate, np.hypot(answer.noise_std, answer.spread_std)
    return _Asked(
        estimates=np.maximum(estimates, 0.0), known=errors < KNOWN * estimates, sure=errors < SURE * estimates
    )


def _bounds(grid: Grid, blocks: Indices) -> Floats:
    """West, south, east and north of some blocks."""
    rows, columns = np.divmod(blocks, grid.columns)
    west_east, south_north = grid.column_edges, grid.row_edges
    return np.stack([west_east[columns], south_north[rows], west_east[columns + 1], south_north[rows + 1]], axis=1)


def _shared(masses: Floats, asked: _Asked, weights: Floats) -> Floats:
    """Masses of the parts of blocks.

    Known parts have their estimates; the others share what is left by their weights.

    Where nothing is left, or no other part is there to take it, the estimates of known ones are scaled to the mass.
    """
    if not len(masses):
        return masses
    parts, known = asked.estimates.reshape(len(masses), -1), asked.known.reshape(len(masses), -1)
    open_weights = np.where(known, 0.0, weights.reshape(len(masses), -1))
    sums, others = (parts * known).sum(axis=1), open_weights.sum(axis=1)
    left = np.where(others > 0, np.maximum(masses - sums, 0), 0)
    scales = np.divide(masses - left, sums, out=np.zeros(len(masses)), where=sums > 0)
    spread = np.divide(left, others, out=np.zeros(len(masses)), where=others > 0)
    shares: Floats = np.where(known, parts * scales[:, None], open_weights * spread[:, None])
    return shares.ravel()
