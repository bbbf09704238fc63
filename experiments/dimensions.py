"""Hierarchies in one, two and three dimensions (Qardaji et al. 2013, section IV-C).

The paper argues that the border of a query, which only the finest cells can answer, grows with the number of
dimensions, and conjectures that what little a hierarchy gains in two is gone in three. Here is the argument as a
formula, and the experiment: the same points on the same number of cells, flat and with coarser grids above them.
Noise is real-valued and comes from a seed: this simulates, and publishes nothing.
"""

import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.datasets.clusters import ClusterDataset, clustered
from experiments.datasets.table import TableDataset
from experiments.trial import NOISE, Row, Seeded, measures, rounded
from experiments.workload import QUERY_SIZES, RECTS_PER_SIZE
from hushgrid import __version__

Floats = NDArray[np.float64]

LARGEST_SHARE = 1 / 4  # of the domain is in the largest query, and in each smaller one a quarter of that
TIME_COLUMN = "timestamp"
FIRST_TIME, LAST_TIME = (np.datetime64(day, "ms").astype(np.float64) for day in ("2009-02-01", "2010-11-01"))


def border_share(dimensions: int, *, cells: int, group: int) -> float:
    """Share of the domain on a query's border, 2 d (b / M)^(1/d), for groups of b out of M cells (section IV-C).

    Examples
    --------
    >>> border_share(1, cells=10_000, group=4), border_share(2, cells=10_000, group=4)
    (0.0008, 0.08)
    """
    return float(2 * dimensions * (group / cells) ** (1 / dimensions))


@dataclass(frozen=True, kw_only=True)
class DimensionTrial(Seeded):
    """Cells of a cube, flat or with coarser grids above, asked for boxes of six sizes.

    Parameters
    ----------
    dataset : str
        A name in `DATASETS`: a file with timestamps, or generated clusters.
    dimensions : int
        1 for longitudes, 2 for points, 3 for points in time.
    cells : int
        Of the finest grid; a whole power of `dimensions`.
    branching : int
        Cells per side that a cell of the next finer grid is to a cell of a grid.
    levels : int
        Number of grids; 1 means flat.
    epsilon : float
        The budget, the same part of it for every grid.
    seed : int
        Number of the run, and of its boxes.
    """

    dataset: str
    dimensions: int
    cells: int
    branching: int = 2
    levels: int = 1
    epsilon: float
    seed: int

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return 0.01 + self.cells * 2e-7

    @property
    def side(self) -> int:
        """Cells per side of the finest grid."""
        return round(float(self.cells ** (1 / self.dimensions)))

    def run(self) -> list[Row]:
        """Rows of the trial, one a query size and one for all sizes together."""
        points, boxes, true_counts = _question(self.dataset, self.dimensions, self.seed)
        start = time.perf_counter()
        true_cells, _ = np.histogramdd(points, bins=self.side, range=[(0, 1)] * self.dimensions)
        cells = noisy_cells(
            true_cells,
            branching=self.branching,
            levels=self.levels,
            epsilon=self.epsilon,
            rng=np.random.default_rng(self.noise_seed),
        )
        seconds = time.perf_counter() - start
        about = {"key": self.key, **asdict(self), "noise": NOISE, "version": __version__, "publish_seconds": seconds}
        errors = measures(box_counts(cells, boxes), true_counts, true_total=len(points))
        return [rounded({**about, **of_size}) for of_size in errors]


def noisy_cells(true_cells: Floats, *, branching: int, levels: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Noisy counts of the cells of a cube, by least squares over all grids above them (Hay et al. 2010).

    Parameters
    ----------
    true_cells : array of float, one axis a dimension, all of one length
    """
    children = branching**true_cells.ndim
    true_grids = [true_cells]
    for _ in range(levels - 1):
        true_grids.append(block_sums(true_grids[-1], branching))
    finest, *coarser = (grid + rng.laplace(scale=levels / epsilon, size=grid.shape) for grid in true_grids)
    estimates, precision = [finest], 1.0  # the precision of a measurement is the unit
    for measured in coarser:
        of_sum = precision / children
        estimates.append((measured + of_sum * block_sums(estimates[-1], branching)) / (1 + of_sum))
        precision = 1 + of_sum
    cells = estimates.pop()
    while estimates:
        finer = estimates.pop()
        difference = (cells - block_sums(finer, branching)) / children
        for axis in range(finer.ndim):
            difference = np.repeat(difference, branching, axis)
        cells = finer + difference
    return cells


def block_sums(cells: Floats, branching: int) -> Floats:
    """Sums over blocks of cells, so many cells along each axis.

    Examples
    --------
    >>> block_sums(np.arange(16.0).reshape(4, 4), 2)
    array([[10., 18.],
           [42., 50.]])
    """
    for axis in range(cells.ndim):
        shape = (*cells.shape[:axis], -1, branching, *cells.shape[axis + 1 :])
        cells = cells.reshape(shape).sum(axis + 1)
    return cells


def box_counts(cells: Floats, boxes: Floats) -> Floats:
    """Counts of boxes in the unit cube, if the points of a cell lie evenly in it.

    Parameters
    ----------
    boxes : array of float, shape (n, 2, dimensions)
        Lowest and highest corner of each.

    Examples
    --------
    >>> box_counts(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[[0, 0], [0.5, 1]], [[0.25, 0], [1, 0.5]]]))
    array([3. , 3.5])
    """
    table = np.pad(cells, [(1, 0)] * cells.ndim)
    for axis in range(cells.ndim):
        table = table.cumsum(axis)
    total = np.zeros(len(boxes))
    for corner in product((0, 1), repeat=cells.ndim):
        at = boxes[:, corner, range(cells.ndim)] * cells.shape
        total += (-1) ** (cells.ndim - sum(corner)) * _interpolated(table, at)
    return total


def _interpolated(table: Floats, at: Floats) -> Floats:
    """Values between the entries of a table, linear along each axis."""
    first = np.minimum(at.astype(np.int64), np.array(table.shape) - 2)
    past = at - first
    total = np.zeros(len(at))
    for corner in product((0, 1), repeat=table.ndim):
        total += np.where(corner, past, 1 - past).prod(axis=1) * table[tuple((first + corner).T)]
    return total


@lru_cache(maxsize=16)
def _question(dataset: str, dimensions: int, seed: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """True points of the unit cube, boxes of six sizes, and their true counts; other boxes in every run."""
    points = _unit_points(dataset)[:, :dimensions]
    shares = LARGEST_SHARE / 4.0 ** np.arange(QUERY_SIZES - 1, -1, -1)
    sides = np.repeat(shares ** (1 / dimensions), RECTS_PER_SIZE)[:, None]
    low = np.random.default_rng(seed).random((len(sides), dimensions)) * (1 - sides)
    boxes = np.stack([low, low + sides], axis=1)
    true_counts = [np.count_nonzero(((points >= low) & (points <= high)).all(axis=1)) for low, high in boxes]
    return points, boxes, np.array(true_counts)


@lru_cache(maxsize=1)
def _unit_points(dataset: str) -> Floats:
    """Three coordinates of each point, the domain scaled to the unit cube."""
    match DATASETS[dataset]:
        case ClusterDataset(size=size, clusters=clusters, seed=seed):
            return clustered(size, dimensions=3, clusters=clusters, seed=seed)
        case TableDataset() as table:
            west, south, east, north = table.domain.bounds
            low, high = np.array([(west, south, FIRST_TIME), (east, north, LAST_TIME)])
            points: Floats = (table.column_values(*table.columns, TIME_COLUMN) - low) / (high - low)
            return points[((points >= 0) & (points <= 1)).all(axis=1)]
        case other:
            msg = f"data set {other.name} has no third coordinate."
            raise TypeError(msg)
