"""Point sets to run trials on: those a TOML file describes, the bundled places, and several that are made up.

A data set is one file, ``name.toml``, in this folder or in the data folder: the one that `HUSHGRID_DATA` names, by
default ``../shared/data`` beside the repository. Its points are ``name.parquet`` in the data folder. The real sets may
not be redistributed, so none is in the repository.
"""

import os
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from experiments.datasets.clusters import ClusterDataset
from experiments.datasets.dataset import Dataset
from experiments.datasets.laws import LawDataset
from experiments.datasets.streets import StreetDataset
from experiments.datasets.table import TableDataset
from experiments.datasets.two_states import TwoStatesDataset
from hushgrid.geometry.domain import Domain

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent


def data_folder() -> Path:
    """The folder of the real sets, whether it exists or not."""
    return Path(os.environ.get("HUSHGRID_DATA") or REPOSITORY.parent / "shared" / "data")


def _described() -> Iterator[TableDataset]:
    for folder in (HERE, data_folder()):
        for description in sorted(folder.glob("*.toml")):
            yield TableDataset.described_by(description, folder=data_folder())


def _generated(name: str, size: int) -> ClusterDataset:
    domain = Domain(west=-10, south=35, east=30, north=60)
    return ClusterDataset(name=name, domain=domain, largest_query=(20, 12.5), size=size, clusters=100, seed=2013)


PLACES = TableDataset(
    name="places",
    domain=Domain(west=-180, south=-60, east=180, north=90),
    largest_query=(192, 96),
    size=234_000,
    path=Path(str(files("hushgrid"))) / "data" / "places.parquet",
)
SMALL_CLUSTERS = "clusters_small"
ROAD_LIKE = "two_states"  # made up: the paper's road set could not be had
REAL: tuple[str, ...] = tuple(dict.fromkeys(dataset.name for dataset in _described()))
_GENERATED = (_generated(SMALL_CLUSTERS, 10_000), _generated("clusters", 1_000_000))
_ROADS = TwoStatesDataset(  # domain and queries as large as the paper's, and as many points
    name=ROAD_LIKE,
    domain=Domain(west=-126, south=30, east=-101, north=50),
    largest_query=(16, 16),
    size=1_600_000,
)
_STREETS = StreetDataset(  # about 1/120 of a side apart
    name="streets",
    domain=Domain(west=0, south=0, east=1, north=1),
    largest_query=(0.5, 0.5),
    size=300_000,
    streets=120,
    seed=120,
)
_LAND = Domain(west=-126, south=17, east=-66, north=57)
_LAWS = (  # one very clumpy, one smooth; `experiments.scale` takes more points of each
    LawDataset(
        name="towns", domain=_LAND, size=10**5, towns=20_000, tail=1.05, spread=0.0015, streets=0.2, background=0.05
    ),
    LawDataset(name="plains", domain=_LAND, size=10**5, towns=300, tail=2.5, spread=0.04, streets=0, background=0.3),
)
LAWS: Mapping[str, LawDataset] = MappingProxyType({law.name: law for law in _LAWS})
_ALL: tuple[Dataset, ...] = (*_described(), PLACES, *_GENERATED, _ROADS, _STREETS, *_LAWS)
DATASETS: Mapping[str, Dataset] = MappingProxyType({dataset.name: dataset for dataset in _ALL})
