"""Point sets to run trials on: the real ones of the data folder, the bundled places, and generated clusters.

The real sets may not be redistributed. They lie in the folder that `HUSHGRID_DATA` names, by default
``../shared/data`` beside the repository.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hushgrid.errors import InputError
from hushgrid.geometry.domain import Domain

REPOSITORY = Path(__file__).resolve().parent.parent
BACKGROUND_SHARE = 0.05  # of generated points lie anywhere


class Dataset(Protocol):
    """Points, the domain they are published on, and the size of the largest query asked of them.

    Implemented by `TableDataset` and `ClusterDataset`.
    """

    @property
    def name(self) -> str:
        """What trials call it."""

    @property
    def domain(self) -> Domain:
        """The public rectangle."""

    @property
    def largest_query(self) -> tuple[float, float]:
        """Width and height of the largest query, q6, in the units of the domain."""

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the points in the domain, shape (n, 2)."""


@dataclass(frozen=True, kw_only=True)
class TableDataset:
    """Points of a Parquet file."""

    name: str
    domain: Domain
    largest_query: tuple[float, float]
    path: Path
    columns: tuple[str, str] = ("lon", "lat")

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the points in the domain, shape (n, 2)."""
        if not self.path.is_file():
            msg = (
                f"data set {self.name} needs the file {self.path.name} in {self.path.parent}, which is not there. "
                f"Let HUSHGRID_DATA name the folder that holds it, or take a generated set such as {SMALL_CLUSTERS}."
            )
            raise InputError(msg)
        table = pq.read_table(self.path, columns=list(self.columns))
        points = np.column_stack([table.column(name).to_numpy() for name in self.columns])
        west, south, east, north = self.domain.bounds
        inside = (points >= (west, south)) & (points <= (east, north))
        return points[inside.all(axis=1)]


@dataclass(frozen=True, kw_only=True)
class ClusterDataset:
    """Generated points: Gaussian clusters of very different weight and width, and a few points anywhere.

    Examples
    --------
    >>> domain = Domain(west=0, south=0, east=2, north=1)
    >>> dataset = ClusterDataset(name="toy", domain=domain, largest_query=(1, 0.5), size=100, clusters=3, seed=1)
    >>> dataset.points().shape
    (100, 2)
    """

    name: str
    domain: Domain
    largest_query: tuple[float, float]
    size: int
    clusters: int
    seed: int

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the points, shape (n, 2); the same at every call."""
        rng = np.random.default_rng(self.seed)
        centres = rng.random((self.clusters, 2))
        widths = 10 ** rng.uniform(-3, -1, self.clusters)
        weights = 1 / np.arange(1, self.clusters + 1)
        member = rng.choice(self.clusters, size=self.size, p=weights / weights.sum())
        clustered = centres[member] + widths[member, None] * rng.standard_normal((self.size, 2))
        anywhere = rng.random((self.size, 2))
        unit = np.where(rng.random((self.size, 1)) < BACKGROUND_SHARE, anywhere, clustered)
        # A cluster that crosses an edge goes on at the opposite one.
        origin, extent = (self.domain.west, self.domain.south), (self.domain.width, self.domain.height)
        return origin + unit % 1 * extent


def data_folder() -> Path:
    """The folder of the real sets, whether it exists or not."""
    return Path(os.environ.get("HUSHGRID_DATA") or REPOSITORY.parent / "shared" / "data")


def _real(name: str, domain: str, largest_query: tuple[float, float]) -> TableDataset:
    path = data_folder() / f"{name}.parquet"
    return TableDataset(name=name, domain=Domain.parse(domain), largest_query=largest_query, path=path)


def _generated(name: str, size: int) -> ClusterDataset:
    domain = Domain(west=-10, south=35, east=30, north=60)
    return ClusterDataset(name=name, domain=domain, largest_query=(20, 12.5), size=size, clusters=100, seed=2013)


SMALL_CLUSTERS = "clusters_small"
PLACES = TableDataset(
    name="places",
    domain=Domain(west=-180, south=-60, east=180, north=90),
    largest_query=(192, 96),
    path=Path(str(files("hushgrid"))) / "data" / "places.parquet",
)
DATASETS: Mapping[str, Dataset] = MappingProxyType(
    {
        dataset.name: dataset
        for dataset in (
            _real("uk_postcodes", "-8,49.5,2,61", (6.4, 6.4)),
            _real("checkin_gowalla_sub", "-180,-60,180,90", (192, 96)),
            _real("us_chains", "-126,17,-66,57", (40, 20)),
            _real("us_cvs", "-126,17,-66,57", (40, 20)),
            _real("checkin_gowalla_nyc", "-74.26,40.48,-73.70,40.92", (0.36, 0.28)),
            PLACES,
            _generated(SMALL_CLUSTERS, 10_000),
            _generated("clusters", 1_000_000),
        )
    }
)
