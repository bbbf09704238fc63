"""The point sets trials are run on."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from experiments.datasets import DATASETS, PLACES, SMALL_CLUSTERS, TableDataset, data_folder
from hushgrid.errors import InputError

REAL = ("uk_postcodes", "checkin_gowalla_sub", "us_chains", "us_cvs", "checkin_gowalla_nyc")


def inside(dataset, points):
    """Whether all points are in the domain."""
    west, south, east, north = dataset.domain.bounds
    return bool(((points >= (west, south)) & (points <= (east, north))).all())


@pytest.mark.parametrize("name", DATASETS)
def test_a_set_has_points_in_its_domain_and_queries_that_fit(name):
    """Bundled and generated ones everywhere, real ones where the folder is there."""
    dataset = DATASETS[name]
    if name in REAL and not dataset.path.exists():
        pytest.skip(f"{dataset.path.name} is not in the data folder")
    points = dataset.points()

    assert points.shape[0] > 1000
    assert points.shape[1] == 2
    assert points.dtype == np.float64
    assert inside(dataset, points)
    assert dataset.largest_query[0] < dataset.domain.width
    assert dataset.largest_query[1] < dataset.domain.height


def test_all_sets_go_by_their_names():
    """The five real ones among them."""
    assert set(REAL) < set(DATASETS)
    assert all(name == dataset.name for name, dataset in DATASETS.items())


def test_generated_points_are_the_same_at_every_call_and_clustered():
    """One percent of equal cells hold far more than one percent of the points."""
    dataset = DATASETS[SMALL_CLUSTERS]
    points = dataset.points()
    west, south, east, north = dataset.domain.bounds
    counts = np.histogram2d(*points.T, bins=50, range=[(west, east), (south, north)])[0].ravel()

    assert np.array_equal(points, dataset.points())
    assert np.sort(counts)[-25:].sum() > 0.3 * len(points)


def test_a_missing_file_is_named_with_a_way_out(tmp_path):
    """The message names the file, the folder and the variable."""
    dataset = TableDataset(name="gone", domain=PLACES.domain, largest_query=(1, 1), path=tmp_path / "gone.parquet")

    with pytest.raises(InputError, match=r"gone\.parquet.*HUSHGRID_DATA.*clusters_small"):
        dataset.points()


def test_the_data_folder_can_be_named(monkeypatch, tmp_path):
    """By HUSHGRID_DATA; by default it lies beside the repository."""
    monkeypatch.setenv("HUSHGRID_DATA", str(tmp_path))
    named = data_folder()
    monkeypatch.delenv("HUSHGRID_DATA")

    assert named == tmp_path
    assert data_folder().parts[-2:] == ("shared", "data")


def test_points_outside_the_domain_are_left_out(tmp_path):
    """Whatever the file holds; edges belong to the domain."""
    table = pa.table({"x": [-180.0, 0.0, 200.0, float("nan")], "y": [90.0, -61.0, 0.0, 0.0]})
    pq.write_table(table, tmp_path / "mixed.parquet")
    path = tmp_path / "mixed.parquet"
    dataset = TableDataset(name="mixed", domain=PLACES.domain, largest_query=(1, 1), path=path, columns=("x", "y"))

    assert dataset.points().tolist() == [[-180.0, 90.0]]
