"""The point sets trials are run on."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from experiments.datasets import DATASETS, PLACES, REAL, ROAD_LIKE, SMALL_CLUSTERS, data_folder
from experiments.datasets.table import TableDataset
from hushgrid.errors import HushgridError, InputError

PAPERS = {"uk_postcodes", "checkin_gowalla_sub", "us_chains", "us_cvs", "checkin_gowalla_nyc", "gowalla"}


def inside(dataset, points):
    """Whether all points are in the domain."""
    west, south, east, north = dataset.domain.bounds
    return bool(((points >= (west, south)) & (points <= (east, north))).all())


@pytest.mark.parametrize("name", DATASETS)
def test_a_set_has_points_in_its_domain_and_queries_that_fit(name):
    """Bundled and generated ones everywhere, real ones where the folder is there."""
    dataset = DATASETS[name]
    if not dataset.at_hand:
        pytest.skip(f"{dataset.path.name} is not in the data folder")
    points = dataset.points()

    assert 0.95 * dataset.size < len(points) < 1.05 * dataset.size
    assert points.shape[1] == 2
    assert points.dtype == np.float64
    assert inside(dataset, points)
    assert dataset.largest_query[0] < dataset.domain.width
    assert dataset.largest_query[1] < dataset.domain.height


def test_all_sets_go_by_their_names():
    """The real ones among them, and the paper's own, whether their files are there or not."""
    assert PAPERS <= set(REAL) < set(DATASETS)
    assert all(name == dataset.name for name, dataset in DATASETS.items())


def test_generated_points_are_the_same_at_every_call_and_clustered():
    """One percent of equal cells hold far more than one percent of the points."""
    dataset = DATASETS[SMALL_CLUSTERS]
    points = dataset.points()
    west, south, east, north = dataset.domain.bounds
    counts = np.histogram2d(*points.T, bins=50, range=[(west, east), (south, north)])[0].ravel()

    assert np.array_equal(points, dataset.points())
    assert np.sort(counts)[-25:].sum() > 0.3 * len(points)


def test_two_states_lie_in_blank_space():
    """Most of the box is empty, and what is not is filled evenly: the paper's description of road."""
    dataset = DATASETS[ROAD_LIKE]
    points = replace(dataset, size=200_000).points()
    west, south, east, north = dataset.domain.bounds
    counts = np.histogram2d(*points.T, bins=(50, 40), range=[(west, east), (south, north)])[0].ravel()
    clumped = DATASETS["clusters"].points()[:200_000]
    low, high = clumped.min(0), clumped.max(0)
    in_clumps = np.histogram2d(*clumped.T, bins=(50, 40), range=list(zip(low, high, strict=True)))[0].ravel()

    assert 0.08 < np.mean(counts > 0) < 0.2
    # Of the cells that hold anything, the fuller half holds less than nearly everything.
    assert fuller_half(counts) < 0.8 < fuller_half(in_clumps)


def test_streets_are_even_from_afar_and_uneven_from_near():
    """Every block of a coarse grid holds about as many points; most cells of a fine one hold nearly none."""
    points = DATASETS["streets"].points()
    coarse, fine = (np.histogram2d(*points.T, bins=bins, range=[(0, 1)] * 2)[0].ravel() for bins in (4, 1000))

    assert np.array_equal(points, DATASETS["streets"].points())
    assert coarse.max() < 2 * coarse.min()
    assert np.mean(fine == 0) > 0.7


def fuller_half(counts):
    """Share of the points in the fuller half of the cells that are not empty."""
    filled = np.sort(counts[counts > 0])
    return filled[len(filled) // 2 :].sum() / filled.sum()


def test_a_missing_file_is_named_with_a_way_out(tmp_path):
    """The message names the file, the folder and the variable."""
    dataset = TableDataset(
        name="gone", domain=PLACES.domain, largest_query=(1, 1), size=9, path=tmp_path / "gone.parquet"
    )

    with pytest.raises(InputError, match=r"gone\.parquet.*HUSHGRID_DATA.*clusters_small"):
        dataset.points()


def test_a_missing_column_is_named_with_those_there_are():
    """The message names the missing columns and those there are."""
    dataset = replace(PLACES, columns=("x", "y"))

    with pytest.raises(InputError, match=r"has no columns x, y; it has .*lon"):
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
    dataset = TableDataset(
        name="mixed", domain=PLACES.domain, largest_query=(1, 1), size=4, path=path, columns=("x", "y")
    )

    assert dataset.points().tolist() == [[-180.0, 90.0]]


def described(tmp_path, text):
    """The data set of a description."""
    (tmp_path / "bikes.toml").write_text(text)
    return TableDataset.described_by(tmp_path / "bikes.toml", folder=tmp_path)


def test_a_description_is_a_data_set(tmp_path):
    """Named as its file; what it leaves out is as usual."""
    dataset = described(tmp_path, 'domain = [-1, 51, 1, 52]\nlargest_query = [1, 0.5]\nsize = 90\ncolumns = ["x", "y"]')

    assert dataset.name == "bikes"
    assert dataset.domain.bounds == (-1, 51, 1, 52)
    assert dataset.path == tmp_path / "bikes.parquet"
    assert (dataset.largest_query, dataset.size, dataset.columns) == ((1, 0.5), 90, ("x", "y"))
    assert hash(dataset) == hash(dataset)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("size = 3", r"bikes\.toml must have domain, largest_query, size .* it has size"),
        (
            "domain = [0, 0, 1, 1]\nlargest_query = [1, 1]\nsize = 3\ncolour = 1",
            "may have columns, file, obtain, sample",
        ),
        ("domain = [0, 0, 1]\nlargest_query = [1, 1]\nsize = 3", "four numbers"),
    ],
    ids=["too little", "too much", "half a domain"],
)
def test_a_description_that_is_wrong_is_refused(tmp_path, text, complaint):
    """The message names what is missing or wrong."""
    with pytest.raises(HushgridError, match=complaint):
        described(tmp_path, text)


def test_a_sample_is_the_same_at_every_call(tmp_path):
    """A sample holds that many different points of the file, the same at every call."""
    table = pa.table({"lon": np.linspace(0, 1, 500), "lat": np.linspace(0, 1, 500)})
    pq.write_table(table, tmp_path / "bikes.parquet")
    dataset = described(tmp_path, "domain = [0, 0, 1, 1]\nlargest_query = [0.5, 0.5]\nsize = 500\nsample = 80")
    points = dataset.points()

    assert len(np.unique(points, axis=0)) == 80
    assert np.array_equal(points, dataset.points())
