"""The points that everyone releases, the questions, and their true answers."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.datasets.clusters import ClusterDataset
from experiments.metrics import absolute_errors, relative_errors
from experiments.workload import true_counts, workload
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.guidelines import guideline_side

DOMAIN = Domain(west=-0.55, south=51.25, east=0.35, north=51.75)
LARGEST_QUERY = (0.45, 0.25)  # a quarter of the domain, as in the paper (section V-A)
CLUSTERS = 2000
SEED = 8


@dataclass(frozen=True, kw_only=True)
class City:
    """A city of clusters, made from a seed.

    Parameters
    ----------
    size : int
        How many points.
    epsilon : float
        The budget of a release.
    folder : Path
        Where the points are kept.
    """

    size: int
    epsilon: float
    folder: Path

    @property
    def side(self) -> int:
        """Cells per side by Guideline 1, as if the size were public."""
        return guideline_side(self.size, Fraction(repr(self.epsilon)))

    @property
    def points(self) -> Path:
        """The Parquet file of the points, made when it is first asked for."""
        path = self.folder / f"city-{self.size}-{CLUSTERS}-{SEED}.parquet"
        if not path.exists():
            city = ClusterDataset(
                name="city", domain=DOMAIN, largest_query=LARGEST_QUERY, size=self.size, clusters=CLUSTERS, seed=SEED
            )
            write_points(city.points(), path)
        return path

    @cached_property
    def rects(self) -> np.ndarray:
        """The paper's workload: six sizes of rectangles, 200 each."""
        return workload(DOMAIN, LARGEST_QUERY, seed=SEED).reshape(-1, 4)

    @cached_property
    def true_counts(self) -> np.ndarray:
        """The true answers."""
        table = pq.read_table(self.points)
        return true_counts(np.column_stack([table["lon"], table["lat"]]), self.rects)

    def errors(self, estimates: np.ndarray) -> tuple[float, float]:
        """Mean relative and mean absolute error of answers to the workload."""
        relative = relative_errors(estimates, self.true_counts, true_total=self.size)
        return float(relative.mean()), float(absolute_errors(estimates, self.true_counts).mean())


def write_points(points: np.ndarray, path: Path) -> None:
    """Write longitude and latitude, (n, 2), as two columns of Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lon, lat = np.ascontiguousarray(points.T)
    pq.write_table(pa.table({"lon": lon, "lat": lat}), path)


def awkward_points(good: int, bad: int) -> pa.Table:
    """Points in the domain, as many on its upper edges, and as many of each bad kind: no row may count or matter."""
    rng = np.random.default_rng(SEED)
    inside = rng.uniform((DOMAIN.west, DOMAIN.south), (DOMAIN.east, DOMAIN.north), (good - bad, 2)).tolist()
    kinds = [(DOMAIN.east, DOMAIN.north), (None, 51.5), (np.nan, 51.5), (0.1, np.inf), (0.1, 89.0), (-1e300, 51.5)]
    rows = inside + [kind for kind in kinds for _ in range(bad)]
    lon, lat = zip(*rows, strict=True)
    return pa.table({"lon": pa.array(lon, pa.float64()), "lat": pa.array(lat, pa.float64())})
