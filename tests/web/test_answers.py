"""The page gives the same numbers as Python."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.answering.surface import spread
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.tree import Lattice, Tree
from hushgrid.priors.masses import CellMasses, Source
from hushgrid.priors.sharpen import sharpened
from hushgrid.synopsis.answer import FLOOR_VARIANCE, Calibration, normal_reach
from hushgrid.synopsis.scale import Scale
from hushgrid.synopsis.synopsis import Synopsis
from tests.synopses import synopsis_on
from tests.web.pages import (
    DOMAIN,
    answers_under_node,
    as_columns,
    as_ring,
    needs_node,
    some_points,
    some_rects,
)

pytestmark = needs_node

TOLERANCE = 1e-9  # of the total
SMOOTH = hg.AdaptiveGrid(smooth=True)
METHODS = {
    **{name: name for name in hg.METHODS},
    **{f"staq by {inference}": hg.Staq(inference=inference) for inference in ("least-squares", "bayes", "belief")},
    "smooth ag": SMOOTH,
}
SQUARE = Domain(west=0, south=0, east=6, north=6)
BENT = [(0.7, 0.4), (5.6, 1.1), (3.1, 2.9), (4.9, 5.7), (1.2, 4.4)]  # not convex
WITH_HOLE = [[(0.3, 0.3), (5.8, 0.9), (5.1, 5.5), (0.9, 5.2)], [(2.1, 2.2), (2.4, 3.9), (4.1, 3.8), (3.9, 1.9)]]


@cache
def published(method, epsilon=1.0):
    """A simulated release of the points of these tests."""
    rng = hg.simulation_rng(3)
    return hg.publish(some_points(), domain=DOMAIN, epsilon=epsilon, method=method, calibrate=False, rng=rng)


def small_tree():
    """A tree whose root is divided unevenly in three columns and two rows, one of its children evenly in four."""
    lattice = Lattice(domain=SQUARE, columns=12, rows=12)
    lines = [(0, 5), (5, 6), (6, 12)]
    children = [[left, bottom, right, top] for bottom, top in ((0, 7), (7, 12)) for left, right in lines]
    below = [[6, 7, 9, 9], [9, 7, 12, 9], [6, 9, 9, 12], [9, 9, 12, 12]]
    splits = np.zeros((11, 2), np.int64)
    splits[0], splits[6] = (3, 2), (2, 2)
    return Tree(lattice=lattice, boxes=np.array([[0, 0, 12, 12], *children, *below]), splits=splits)


def small_partitions():
    """One partition of every kind."""
    grid = Grid(domain=SQUARE, rows=2, columns=3)
    nested = NestedGrid(grid=grid, sides=[1, 3, 1, 2, 1, 1])
    return [
        Grid(domain=SQUARE, rows=5, columns=4),
        nested,
        GroupedGrid(nested=nested, groups=[0, -1, 1, -1, 0, 0]),
        small_tree(),
    ]


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_rectangles_have_the_same_answers(method):
    """Two thousand rectangles, estimate and both ends, within 1e-9 of the total; some of them as polygons, too."""
    synopsis, rects = published(method), some_rects(1000)
    outlines = np.concatenate([rects[:50], rects[-50:]])

    found = answers_under_node(synopsis, rects=rects, polygons=[as_ring(rect) for rect in outlines])
    for answers, asked in ((found["rects"], rects), (found["polygons"], outlines)):
        expected = as_columns(synopsis.answer(asked))
        assert answers.shape == expected.shape
        assert np.abs(answers - expected).max() <= TOLERANCE * synopsis.total


def test_a_release_with_a_prior_has_the_same_answers():
    """Its leaves are divided further than they were measured, and vary as they were measured."""
    synopsis, rects = published("staq"), some_rects(500)
    source = Source(name="public points", kind="points", sha256="0" * 64)
    sharper = sharpened(synopsis, CellMasses.of_points(source, some_points(), None, DOMAIN))
    expected = as_columns(sharper.answer(rects))

    assert sharper.partition.cells > synopsis.partition.cells
    found = answers_under_node(sharper, rects=rects, polygons=[as_ring(rect) for rect in rects[:50]])
    assert np.abs(found["rects"] - expected).max() <= TOLERANCE * sharper.total
    assert np.abs(found["polygons"] - expected[:50]).max() <= TOLERANCE * sharper.total


def test_a_release_aimed_at_places_has_the_same_answers():
    """Its places lie inside cells, across several, and over whole ones; one is bent, and one has a hole."""
    bent = shapely.Polygon([(-102, 37), (-96, 38), (-99, 40), (-97, 43), (-103, 41)])
    around_hole = shapely.Polygon(*[[(-80.6, 29.5), (-79.4, 29.6), (-79.5, 30.6), (-80.5, 30.4)]]).difference(
        shapely.box(-80.1, 29.9, -79.9, 30.1)
    )
    shapes = [bent, around_hole, shapely.box(-126, 17, -125, 20), shapely.box(-80.1, 29.9, -79.9, 30.1)]
    synopsis = hg.publish(some_points(), domain=DOMAIN, epsilon=1, aim=shapes, rng=hg.simulation_rng(3))
    rects = np.concatenate([some_rects(500), shapely.bounds(shapes)])
    bends = [[-20 + 4 * np.array(BENT) + (-90, 30)], [np.array(ring) - (103, -38) for ring in WITH_HOLE]]
    rings = [*(as_ring(rect) for rect in rects[:100]), *bends, [shapely.get_coordinates(bent)[:-1]]]
    places = np.random.default_rng(4).uniform([-103, 28], [-79, 43], (40, 2))

    found = answers_under_node(synopsis, rects=rects, polygons=rings, places=places)
    assert np.abs(found["rects"] - as_columns(synopsis.answer(rects))).max() <= TOLERANCE * synopsis.total
    asked = [shapely.Polygon(ring, holes) for ring, *holes in rings]
    expected = as_columns(synopsis.answer_polygons(asked))
    assert np.abs(found["polygons"] - expected).max() <= TOLERANCE * synopsis.total
    cells = found["cells"]
    expected = as_columns(synopsis.answer(cells[:, :4]))
    assert np.abs(cells[:, 4:7] - expected).max() <= TOLERANCE * synopsis.total
    assert abs(found["polygons"][-1][0] - synopsis.places.counts[0]) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ug", "ag", "dag", "quadtree", "kd", "staq", "privlet"])
def test_the_cell_at_a_place_is_the_leaf_that_holds_it(method):
    """Its bounds hold the place and are a leaf's; its answer is that leaf's as a rectangle."""
    synopsis = published(method)
    places = np.random.default_rng(4).uniform([-126, 17], [-66, 57], (80, 2))

    cells = answers_under_node(synopsis, places=places)["cells"]
    bounds = cells[:, :4]
    leaves = synopsis.partition.bounds()
    nearest = np.array([np.abs(leaves - row).sum(axis=1).argmin() for row in bounds])
    assert np.all((bounds[:, :2] <= places) & (places <= bounds[:, 2:]))
    np.testing.assert_allclose(bounds, leaves[nearest], atol=1e-9)
    expected = as_columns(synopsis.answer(leaves[nearest]))
    assert np.abs(cells[:, 4:7] - expected).max() <= TOLERANCE * synopsis.total


def test_areas_are_those_of_the_sphere():
    """A cell's area is its share of the zone between two parallels; all cells make up the domain."""
    synopsis = published(hg.UniformGrid(side=4))
    west, south, east, north = synopsis.partition.bounds().T
    middles = np.stack([(west + east) / 2, (south + north) / 2], axis=1)

    areas = answers_under_node(synopsis, places=middles)["cells"][:, 7]
    zones = 2 * np.pi * 6371.0088**2 * (np.sin(np.radians(north)) - np.sin(np.radians(south)))
    np.testing.assert_allclose(areas, zones * (east - west) / 360, rtol=1e-12)


@pytest.mark.parametrize("partition", small_partitions(), ids=lambda partition: type(partition).__name__)
@pytest.mark.parametrize("rings", [[BENT], WITH_HOLE], ids=["bent", "with a hole"])
def test_polygons_agree_with_first_principles(partition, rings):
    """Shares of cells by shapely, and the noise of every single measurement carried through the inference."""
    synopsis = synopsis_on(partition, epsilon=Fraction(1, 2))
    shares = covered_shares(partition, shapely.Polygon(rings[0], rings[1:]))

    estimate = shares @ synopsis.counts
    variance = noise_of(synopsis, shares) + (shares * (1 - shares)) @ spread(synopsis.counts) + FLOOR_VARIANCE
    reach = normal_reach(0.95) * np.sqrt(variance)
    expected = [estimate, max(estimate - reach, 0), max(estimate + reach, 0)]
    found = answers_under_node(synopsis, polygons=[rings])["polygons"][0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("ring", [BENT, BENT[::-1]], ids=["against the clock", "with the clock"])
def test_the_noise_of_a_wavelet_adds_up_over_a_polygon(ring):
    """Cells that share coefficients vary together."""
    points = np.random.default_rng(5).uniform(0, 6, (500, 2))
    synopsis = hg.publish(points, domain=SQUARE, epsilon=1, method="privlet", public_size=500, calibrate=False)
    shares = covered_shares(synopsis.partition, shapely.Polygon(ring))

    found = answers_under_node(synopsis, polygons=[[ring]])["polygons"][0]
    variance = noise_of(synopsis, shares) + (shares * (1 - shares)) @ spread(synopsis.counts) + FLOOR_VARIANCE
    assert found[0] == pytest.approx(shares @ synopsis.counts, rel=1e-9)
    assert found[2] - found[0] == pytest.approx(normal_reach(0.95) * np.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("method", [hg.Staq(inference="belief"), SMOOTH], ids=["tree", "nested"])
def test_sloped_leaves_are_integrated_exactly(method):
    """A convex polygon over sloped leaves: the density at the middles of edges integrates triangles exactly."""
    synopsis = published(method, epsilon=0.3)
    triangle = [(-111.3, 24.2), (-72.9, 35.8), (-97.1, 49.7)]

    found = answers_under_node(synopsis, polygons=[[triangle]])["polygons"][0, 0]
    assert abs(found - sloped_mass(synopsis, shapely.Polygon(triangle))) <= TOLERANCE * synopsis.total


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ug", "ag", SMOOTH, "dag", "kd", "staq", "privlet"])
def test_polygons_have_the_same_answers(method):
    """Stars of all sizes, estimate and both ends, within 1e-9 of the total."""
    synopsis, stars = published(method), some_stars(60)

    rings = [[shapely.get_coordinates(star)[:-1]] for star in stars]
    found = answers_under_node(synopsis, polygons=rings)["polygons"]
    assert np.abs(found - as_columns(synopsis.answer_polygons(stars))).max() <= TOLERANCE * synopsis.total


@pytest.mark.parametrize("total", [None, 20_000])
@pytest.mark.parametrize("method", ["ug", "staq"])
def test_intervals_of_all_records_reach_the_page(method, total):
    """Estimates by regions, and intervals that hold what is not kept, are those of Python."""
    points, rects = some_points(), some_rects(60)
    users = {"user": np.minimum(np.random.default_rng(3).zipf(1.3, len(points)), 500), "max_per_user": 3}
    made = hg.publish(
        points,
        domain=DOMAIN,
        epsilon=5,
        method=method,
        estimate="all-records",
        scale_to_total=total,
        rng=hg.simulation_rng(5),
        **users,
    )
    answer = made.answer(rects)
    found = answers_under_node(made, rects=rects, polygons=[as_ring(rect) for rect in rects[:20]])

    assert np.abs(found["rects"] - as_columns(answer)).max() <= TOLERANCE * made.total
    assert np.abs(found["polygons"] - as_columns(answer)[:20]).max() <= 2 * TOLERANCE * made.total


def test_calibration_and_scale_reach_the_page():
    """Wider intervals and scaled counts are those of Python."""
    wide = replace(
        published("ag"), calibration=Calibration(factors=tuple((1, 1, 1, 1.2 + side, 2) for side in range(6)))
    )
    scaled = wide.scaled(Scale.to(20_000, wide.counts, source="public"))
    rects = some_rects(50)

    found = answers_under_node(scaled, rects=rects)["rects"]
    assert np.abs(found - as_columns(scaled.answer(rects))).max() <= TOLERANCE * scaled.total
    assert np.abs(found - as_columns(wide.answer(rects))).max() > 100


def some_stars(count):
    """Outlines that do not cross themselves, convex or not, some partly outside the domain."""
    rng = np.random.default_rng(6)
    centres = rng.uniform([-126, 17], [-66, 57], (count, 1, 2))
    angles = np.sort((np.arange(9) + rng.uniform(0, 0.9, (count, 9))) * 2 * np.pi / 9, axis=1)
    reach = rng.uniform(0.2, 1, (count, 9)) * 10 ** rng.uniform(-1, 1.2, (count, 1))
    return shapely.polygons(centres + np.stack([reach * np.cos(angles), reach * np.sin(angles)], axis=2))


def covered_shares(partition, polygon):
    """Share of every leaf that a polygon covers, by shapely."""
    boxes = shapely.box(*partition.bounds().T)
    return shapely.area(shapely.intersection(boxes, polygon)) / shapely.area(boxes)


def noise_of(synopsis, shares):
    """Variance of a weighted sum of leaves: every measurement's, times the square of what one more of it changes."""
    measurements = synopsis.measurements

    def answer(changed):
        options = {"inference": synopsis.inference, "claim": synopsis.claim, "method": synopsis.method}
        return shares @ Synopsis.infer(synopsis.partition, changed, **options).counts

    before, variance = answer(measurements), 0.0
    for part, put in parts_of(measurements):
        for place in np.flatnonzero(np.isfinite(part.variances)):
            values = part.values.copy()
            values[place] += 1
            variance += part.variances[place] * (answer(put(replace(part, values=values))) - before) ** 2
    return variance


def parts_of(measurements):
    """Every array of measurements, and how to replace it."""
    yield measurements.leaves, lambda part: replace(measurements, leaves=part)
    yield measurements.region_values, lambda part: replace(measurements, region_values=part)
    wavelet = measurements.wavelet
    if wavelet is not None:
        yield wavelet.coefficients, lambda part: replace(measurements, wavelet=replace(wavelet, coefficients=part))


def sloped_mass(synopsis, polygon):
    """Mass of a convex polygon where leaves slope: triangles, by the rule of the middles of their edges."""
    total = 0.0
    for count, (gx, gy), bounds in zip(synopsis.counts, synopsis.slopes, synopsis.partition.bounds(), strict=True):
        corners = shapely.get_coordinates(shapely.intersection(shapely.box(*bounds), polygon))[:-1]
        for i in range(1, len(corners) - 1):
            triangle = corners[[0, i, i + 1]]
            middles = (triangle + np.roll(triangle, 1, axis=0)) / 2
            u, v = ((middles - bounds[:2]) / (bounds[2:] - bounds[:2])).T
            density = ((1 + gx * (2 * u - 1)) * (1 + gy * (2 * v - 1))).mean()
            total += count * density * shapely.Polygon(triangle).area / shapely.box(*bounds).area
    return total
