"""Workloads by name: where their regions lie, and what a trial measures of them."""

import json

import numpy as np
import pytest
import shapely

import hushgrid as hg
from experiments import workload as workload_module
from experiments.datasets import DATASETS, SMALL_CLUSTERS
from experiments.metrics import relative_errors
from experiments.results import Results
from experiments.suites import SUITES
from experiments.suites.workloads import flat_grids
from experiments.workload import (
    COUNTIES,
    QUERIES_EACH,
    SNH_HOT_SPOTS,
    SNH_SHARES,
    WORKLOADS,
    NotAskedError,
    true_counts,
    true_polygon_counts,
)
from experiments.workload_trial import MEASURED, RELEASES, WorkloadTrial, bias_and_spread

CLUSTERS = DATASETS[SMALL_CLUSTERS]
HOT_SHARES = {"hot spots, 0.25 %": 0.0025, "hot spots, 0.5 %": 0.005, "hot spots, 1 %": 0.01, "hot spots, 2 %": 0.02}
ANYWHERE = [name for name in WORKLOADS if name != "counties"]  # which depend on a file


@pytest.fixture(scope="module")
def points():
    """Points of the generated set."""
    return CLUSTERS.points()


def ask(name, points, *, seed=1):
    """Questions of a workload about the generated set."""
    return WORKLOADS[name].questions(CLUSTERS, points, seed=seed)


def county_file(folder, monkeypatch, squares):
    """A data folder whose counties are squares of one degree, given by their lower corners."""
    features = [
        {
            "type": "Feature",
            "properties": {},
            "geometry": json.loads(shapely.to_geojson(shapely.box(x, y, x + 1, y + 1))),
        }
        for x, y in squares
    ]
    (folder / COUNTIES).write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    monkeypatch.setattr(workload_module, "data_folder", lambda: folder)


@pytest.mark.parametrize("name", ANYWHERE)
def test_regions_lie_in_the_domain_and_a_seed_fixes_them(name, points):
    """For every kind that needs no file; another seed asks elsewhere."""
    first, again, other = (ask(name, points, seed=seed).regions for seed in (1, 1, 2))
    bounds = first if first.ndim == 2 else shapely.bounds(first)
    west, south, east, north = CLUSTERS.domain.bounds

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert (bounds[:, :2] >= (west, south)).all()
    assert (bounds[:, 2:] <= (east, north)).all()


@pytest.mark.parametrize(("name", "share"), HOT_SHARES.items())
def test_hot_spots_are_squares_around_points(name, share, points):
    """Their middles are points of the set, unless the domain's edge cuts them off; none is empty."""
    asked = ask(name, points)
    size = (asked.regions[:, 2:] - asked.regions[:, :2]) / (CLUSTERS.domain.width, CLUSTERS.domain.height)
    whole = np.isclose(size, share, rtol=1e-6).all(axis=1)
    middles = (asked.regions[whole, :2] + asked.regions[whole, 2:]) / 2
    nearest = np.array([np.abs(points - middle).max(axis=1).min() for middle in middles])

    assert whole.mean() > 0.9
    assert (size <= share * (1 + 1e-9)).all()
    assert nearest.max() < 1e-9
    assert asked.true_counts.min() >= 1


def test_hot_spots_of_snh_have_sizes_in_its_range(points):
    """From 0.2 to 0.275 % of the domain's sides, spread over the range."""
    regions = ask(SNH_HOT_SPOTS, points).regions
    shares = (regions[:, 2] - regions[:, 0]) / CLUSTERS.domain.width
    smallest, largest = SNH_SHARES

    assert shares.max() <= largest
    assert np.mean((shares >= smallest) & (shares <= (smallest + largest) / 2)) == pytest.approx(0.5, abs=0.15)


def test_empty_squares_hold_no_point(points):
    """By a second look at every point."""
    for west, south, east, north in ask("empty squares", points).regions:
        assert not ((points >= (west, south)) & (points <= (east, north))).all(axis=1).any()


def test_where_nothing_is_empty_the_reason_is_told():
    """A point in every place leaves no empty square."""
    west, south, east, north = CLUSTERS.domain.bounds
    lattice = np.stack(np.meshgrid(np.linspace(west, east, 600), np.linspace(south, north, 600)), axis=-1)

    with pytest.raises(NotAskedError, match="fewer than 20 empty squares"):
        ask("empty squares", lattice.reshape(-1, 2))


def test_squares_on_the_ground_have_one_size_in_kilometres(points):
    """By the length of arcs of a sphere, at whatever latitude."""
    regions = ask("squares of 5 km", points).regions
    west, south, east, north = np.radians(regions).T
    radius = 111.32 * 180 / np.pi
    middle = (south + north) / 2
    heights, widths = radius * (north - south), radius * np.cos(middle) * (east - west)
    inside = np.isclose(heights, 5, rtol=1e-6)

    assert inside.mean() > 0.9
    assert np.median(widths) == pytest.approx(5, rel=1e-3)
    assert np.ptp(regions[:, 2] - regions[:, 0]) > 0.01


def test_polygons_are_simple_and_irregular(points):
    """Valid, with many corners, and far from filling their boxes."""
    polygons = ask("irregular polygons", points).regions
    boxes = shapely.box(*shapely.bounds(polygons).T)

    assert len(polygons) == QUERIES_EACH
    assert shapely.is_valid(polygons).all()
    assert shapely.get_num_coordinates(polygons).min() > 7
    assert (shapely.area(polygons) / shapely.area(boxes)).std() > 0.03


def test_true_counts_of_polygons_agree_with_those_of_rectangles(points):
    """A box is both; and a ring that crosses itself holds what its two halves hold."""
    rects = ask("hot spots, 2 %", points).regions
    bow = shapely.Polygon([(0, 40), (10, 50), (10, 40), (0, 50)])
    halves = [shapely.Polygon([(0, 40), (5, 45), (0, 50)]), shapely.Polygon([(10, 50), (10, 40), (5, 45)])]

    assert np.array_equal(true_polygon_counts(points, shapely.box(*rects.T)), true_counts(points, rects))
    assert true_polygon_counts(points, np.array([bow]))[0] == true_polygon_counts(points, np.array(halves)).sum() > 0


def test_counties_inside_the_domain_are_asked(points, tmp_path, monkeypatch):
    """Those that cross its edge or lie elsewhere are not."""
    inside = [(x, y) for x in range(-9, -4) for y in range(40, 45)]
    county_file(tmp_path, monkeypatch, [*inside, (29.5, 40), (-100, 40)])
    asked = ask("counties", points)

    assert len(asked.regions) == len(inside)
    assert asked.true_counts.tolist() == true_counts(points, shapely.bounds(asked.regions)).tolist()


@pytest.mark.parametrize("squares", [None, [(-100, 40)] * 30], ids=["no file", "elsewhere"])
def test_without_counties_a_trial_says_so_and_goes_on(squares, tmp_path, monkeypatch):
    """The row says why it measures nothing; rows survive the file of results."""
    monkeypatch.setattr(workload_module, "data_folder", lambda: tmp_path)
    if squares:
        county_file(tmp_path, monkeypatch, squares)
    rows = WorkloadTrial(dataset=SMALL_CLUSTERS, method="uniform", epsilon=1, seed=10 + bool(squares)).run()
    kept = Results(tmp_path / "rows.parquet")
    kept.append(rows)
    kept.settle()
    back = {row["queries"]: row for row in kept.rows()}

    assert [row["queries"] for row in rows] == list(WORKLOADS)
    assert ("not in the data folder" if squares is None else "fewer than 20 counties") in back["counties"]["skipped"]
    assert not set(MEASURED) & set(back["counties"])
    assert all(set(MEASURED) <= set(back[name]) and not back[name]["skipped"] for name in ANYWHERE)


def test_bias_and_spread_are_told_apart():
    """Of made-up errors with known bias and variance, from few releases of many queries."""
    rng = np.random.default_rng(5)
    truth = np.full(200_000, 100)
    bias = rng.choice([-30.0, 10.0], len(truth))
    estimates = truth + bias + rng.normal(0, 20, (RELEASES, len(truth)))
    found = bias_and_spread(estimates, truth, true_total=1000)

    assert found["squared_bias"] == pytest.approx((30**2 + 10**2) / 2 / 100**2, rel=0.02)
    assert found["variance"] == pytest.approx(0.2**2, rel=0.02)
    assert found["signed"] == pytest.approx(-0.1, rel=0.02)
    assert found["relative"] == pytest.approx(
        np.mean([relative_errors(each, truth, true_total=1000).mean() for each in estimates])
    )


def test_one_cell_is_all_bias_and_a_fine_grid_nearly_all_noise(points):
    """On empty squares, whose truth needs no cell to be cut."""
    one, fine = (
        {row["queries"]: row for row in WorkloadTrial(dataset=SMALL_CLUSTERS, epsilon=1, seed=4, **method).run()}
        for method in ({"method": "uniform"}, {"method": "ug", "parameters": {"side": 512}})
    )

    assert one["empty squares"]["squared_bias"] > 100 * one["empty squares"]["variance"]
    assert abs(fine["empty squares"]["squared_bias"]) < fine["empty squares"]["variance"] / 4


def test_releases_of_a_trial_have_noise_of_their_own_and_the_questions_of_the_run():
    """No two trials of the suite share noise; methods are asked the same."""
    trials = SUITES["workloads"].full
    seeds = [release.noise_seed for trial in trials for release in trial.releases]
    ug, ag = (
        WorkloadTrial(dataset=SMALL_CLUSTERS, method=method, epsilon=1, seed=3).run() for method in ("ug", "uniform")
    )

    assert len(set(seeds)) == len(seeds) == RELEASES * len(trials)
    assert [row["asked"] for row in ug] == [row["asked"] for row in ag]
    assert ug[0]["relative"] != ag[0]["relative"]


def test_fine_grids_are_multiples_of_what_ug_takes():
    """At a size that is public, UG takes the suggested side."""
    dataset = DATASETS["us_cvs"]
    release = hg.publish(
        np.empty((0, 2)), domain=dataset.domain, epsilon=1, method="ug", public_size=dataset.size, calibrate=False
    )
    sides = [parameters["side"] for _, parameters in flat_grids("us_cvs", 1.0, (1, 2, 4, 8))]

    assert [side**2 for side in sides] == [times**2 * release.partition.cells for times in (1, 2, 4, 8)]
