"""Counts and variances of polygons, against intersections by shapely and dense algebra."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.boxes import BoxTree
from hushgrid.answering.cover import Cover
from hushgrid.answering.outlines import outlines
from hushgrid.answering.polygon_noise import coefficient_weights
from hushgrid.answering.polygons import AreaSurface
from hushgrid.answering.surface import spread
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.haar import restore, transform
from hushgrid.inference.measurements import Measurements, NoisyValues, Wavelet
from hushgrid.synopsis.answer import FLOOR_VARIANCE
from hushgrid.synopsis.scale import Scale
from tests.plain import UNIT_SQUARE
from tests.quadtrees import random_quadtree
from tests.strategies import partitions, rects
from tests.synopses import synopsis_on
from tests.unit.answering.test_answers import dense_covariance
from tests.unit.answering.test_sloped_surface import sloped_leaves, surface_of

GRID = Grid(domain=UNIT_SQUARE, rows=4, columns=8)
NESTED = NestedGrid(grid=Grid(domain=UNIT_SQUARE, rows=2, columns=2), sides=[1, 2, 3, 4])
GROUPED = GroupedGrid(
    nested=NestedGrid(grid=Grid(domain=UNIT_SQUARE, rows=2, columns=3), sides=[1, 2, 1, 1, 3, 1]),
    groups=[0, -1, 1, 0, -1, 1],
)
QUADTREE = random_quadtree(np.random.default_rng(4), depth=5, chance=0.7)
ONE_LEAF = random_quadtree(np.random.default_rng(0), depth=0, chance=1)
PARTITIONS = {"grid": GRID, "nested": NESTED, "grouped": GROUPED, "tree": QUADTREE, "one leaf": ONE_LEAF}

RING = shapely.Polygon(
    [(0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)], [[(0.3, 0.3), (0.3, 0.7), (0.7, 0.7), (0.7, 0.3)]]
)
AREAS = {
    "triangle": shapely.Polygon([(0.05, 0.1), (0.95, 0.3), (0.4, 0.85)]),
    "clockwise": shapely.Polygon([(0.05, 0.1), (0.4, 0.85), (0.95, 0.3)]),
    "on the edges of cells": shapely.Polygon([(0.25, 0.25), (0.75, 0.25), (0.75, 0.5), (0.5, 0.75), (0.25, 0.75)]),
    "corners on corners of cells": shapely.Polygon([(0, 0.5), (0.5, 0), (1, 0.5), (0.5, 1)]),
    "with a hole": RING,
    "a hole that touches the shell": shapely.Polygon(
        [(0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)], [[(0.1, 0.5), (0.5, 0.7), (0.5, 0.3)]]
    ),
    "two parts, one in the hole of the other": shapely.MultiPolygon([RING, shapely.box(0.4, 0.4, 0.6, 0.6)]),
    "parts that meet in a corner": shapely.union(shapely.box(0.1, 0.1, 0.5, 0.5), shapely.box(0.5, 0.5, 0.8, 0.9)),
    "across the domain": shapely.Polygon([(-1, 0.2), (2, 0.4), (2, 0.5), (-1, 0.9)]),
    "around a corner": shapely.Polygon([(0.5, -0.5), (1.5, -0.5), (1.5, 0.5), (0.9, 0.1)]),
    "around the domain": shapely.Polygon([(-9, -8), (9, -9), (8, 9), (-9, 9)]),
    "outside": shapely.box(2, 2, 3, 3),
    "beside it, along its edge": shapely.box(1, 0, 2, 1),
    "far away and back": shapely.Polygon([(0.5, 0.5), (1e50, 1e50), (0.5, 1e50)]),
    "a needle": shapely.Polygon([(0.1, 0.1), (0.9, 0.8999), (0.9, 0.9)]),
    "a comb": shapely.union_all([shapely.box(0.02 * k, 0.1, 0.02 * k + 0.01, 0.9) for k in range(50)])
    | shapely.box(0, 0.05, 1, 0.1),
    "round": shapely.Point(0.4, 0.6).buffer(0.35, 64),
    "smaller than any cell": shapely.Point(0.31, 0.62).buffer(1e-6),
    "repeated vertices": shapely.Polygon([(0.1, 0.1), (0.1, 0.1), (0.6, 0.1), (0.6, 0.1), (0.6, 0.7), (0.1, 0.1)]),
    "solid": shapely.Polygon([(0.1, 0.1, 5), (0.9, 0.2, 6), (0.5, 0.9, 7)]),
    "empty": shapely.Polygon(),
    "a bow tie": shapely.Polygon([(0.1, 0.1), (0.9, 0.9), (0.9, 0.1), (0.1, 0.9)]),
    "without area": shapely.Polygon([(0.1, 0.1), (0.9, 0.9), (0.5, 0.5)]),
    "parts that overlap": shapely.MultiPolygon([shapely.box(0.1, 0.1, 0.6, 0.6), shapely.box(0.4, 0.4, 0.9, 0.9)]),
}


def coverage(partition, areas):
    """Share of every leaf that every area covers, by intersection, shape (areas, leaves)."""
    leaves = shapely.box(*partition.bounds().T)
    valid = shapely.make_valid(np.array(areas))
    return shapely.area(shapely.intersection(valid[:, None], leaves)) / shapely.area(leaves)


def is_tame(partition):
    """Whether shapely, the reference, can be trusted with the coordinates: subnormal ones break its intersections."""
    return all(bound == 0 or abs(bound) > 1e-6 for bound in partition.domain.bounds)


def polygonal(geometry):
    """What a geometry has of polygons, made valid."""
    return shapely.make_valid(geometry).buffer(0)


@st.composite
def polygons(draw, domain, most=4):
    """Polygons and multipolygons of any shape around and across a domain, holes and crossings included."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    found = []
    for _ in range(draw(st.integers(1, most))):
        corners = rng.uniform(-0.3, 1.3, (rng.integers(3, 12), 2))
        if draw(st.booleans()):
            corners = np.round(corners * 8) / 8  # on edges of cells, and on each other
        places = (domain.west, domain.south) + corners * (domain.width, domain.height)
        found.append(shapely.Polygon(places))
    return found


@pytest.mark.parametrize("partition", PARTITIONS.values(), ids=PARTITIONS)
@pytest.mark.parametrize("area", AREAS.values(), ids=AREAS)
class TestEveryShape:
    """What holds for awkward polygons on every kind of partition."""

    def test_every_leaf_weighs_as_much_as_is_covered(self, partition, area):
        """Counts, noise and spread are those of the shares that shapely finds."""
        synopsis = synopsis_on(partition)
        weights = coverage(partition, [area])[0]
        covariance = dense_covariance(partition, synopsis.measurements)

        answer = synopsis.answer_polygons(area)
        assert np.isclose(answer.estimate, weights @ synopsis.counts, atol=1e-9)
        assert np.isclose(answer.noise_std**2, weights @ covariance @ weights, atol=1e-9)
        expected = weights * (1 - weights) @ spread(synopsis.counts) + FLOOR_VARIANCE
        assert np.isclose(answer.spread_std**2, expected, atol=1e-6)

    def test_what_it_leaves_makes_up_the_rest(self, partition, area):
        """An area and its complement sum to the total."""
        synopsis = synopsis_on(partition)
        rest = shapely.difference(shapely.box(-20, -20, 20, 20), shapely.make_valid(area))

        assert np.isclose(synopsis.count_polygons([area, rest]).sum(), synopsis.total)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_any_polygon_weighs_every_leaf_by_its_covered_share(data):
    """On partitions of any kind."""
    partition = data.draw(partitions().filter(is_tame))
    areas = data.draw(polygons(partition.domain))
    synopsis = synopsis_on(partition)
    weights = coverage(partition, areas)
    covariance = dense_covariance(partition, synopsis.measurements)

    answer = synopsis.answer_polygons(areas)
    assert np.allclose(answer.estimate, weights @ synopsis.counts, atol=1e-6)
    assert np.allclose(answer.noise_std**2, np.einsum("qi,ij,qj->q", weights, covariance, weights), atol=1e-6)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_rectangle_as_a_polygon_is_the_rectangle(data):
    """Estimate and both deviations, on partitions of any kind."""
    partition = data.draw(partitions().filter(is_tame))
    queries = data.draw(rects(partition.domain))
    synopsis = synopsis_on(partition)
    area, rect = synopsis.answer_polygons(shapely.box(*queries.T)), synopsis.answer(queries)

    assert np.allclose(area.estimate, rect.estimate, rtol=0, atol=1e-9 * abs(synopsis.counts).sum())
    for name in ("noise_std", "spread_std"):
        assert np.allclose(getattr(area, name) ** 2, getattr(rect, name) ** 2, atol=1e-6)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_parts_of_a_polygon_add_up(data):
    """The two parts of a polygon, split by any line, add up to it."""
    partition = data.draw(partitions().filter(is_tame))
    domain = partition.domain
    whole = polygonal(data.draw(polygons(domain, most=1))[0])
    angle = data.draw(st.floats(0, 7))
    across, along = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    middle = (domain.west + 0.4 * domain.width, domain.south + 0.6 * domain.height)
    half = shapely.Polygon(middle + 1000 * np.array([-along, along, along + across, across - along]))
    parts = [polygonal(shapely.intersection(whole, half)), polygonal(shapely.difference(whole, half))]
    count = synopsis_on(partition).count_polygons

    assert np.isclose(count(parts).sum(), count(whole), atol=1e-6)


def integral(area, leaf, slope):
    """Of a sloped density over what an area covers of a leaf, as the share of the leaf's mass.

    By signed triangles from a corner of the leaf to every edge; the density is quadratic, and the mean of its values at
    the middles of three sides is exact for these.
    """
    west, south, east, north = leaf
    total = 0.0
    covered = shapely.orient_polygons(shapely.intersection(area, shapely.box(*leaf)))
    for ring in shapely.get_rings(shapely.get_parts(covered)):
        places = (shapely.get_coordinates(ring) - [west, south]) / [east - west, north - south]
        for start, end in pairwise(places):
            middles = np.array([start / 2, end / 2, (start + end) / 2])
            density = np.prod(1 + slope * (2 * middles - 1), axis=1).mean()
            total += (start[0] * end[1] - start[1] * end[0]) / 2 * density
    return total


def sloped_counts(tree, counts, slopes, areas):
    """Estimates on leaves that slope as given."""
    hierarchy = BoxTree.of(tree)
    node_slopes, node_counts = np.zeros((tree.nodes, 2)), hierarchy.sums(counts)
    node_slopes[hierarchy.leaves] = slopes
    cover = Cover.of(hierarchy, outlines(areas, tree.domain), node_slopes)
    sums = [node_counts[first:stop].sum() for first, stop in cover.runs]
    return cover.total(cover.mass_shares * sums)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_sloped_leaves_are_integrated_exactly(data):
    """Green's theorem gives what triangles add up to."""
    tree, counts, slopes = data.draw(sloped_leaves().filter(lambda drawn: is_tame(drawn[0])))
    areas = [polygonal(area) for area in data.draw(polygons(tree.domain))]
    leaves = tree.bounds()

    shares = [[integral(area, leaf, slope) for leaf, slope in zip(leaves, slopes, strict=True)] for area in areas]
    assert np.allclose(sloped_counts(tree, counts, slopes, areas), shares @ counts, atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_a_rectangle_on_sloped_leaves_is_the_rectangle(data):
    """A polygon that is a rectangle counts as the rectangle does, to rounding."""
    tree, counts, slopes = data.draw(sloped_leaves().filter(lambda drawn: is_tame(drawn[0])))
    queries = data.draw(rects(tree.domain))

    expected = surface_of(tree, counts, slopes).counts(queries)
    assert np.allclose(sloped_counts(tree, counts, slopes, shapely.box(*queries.T)), expected, atol=1e-7)


class TestWavelets:
    """Polygons over noise in wavelet coefficients."""

    @pytest.mark.parametrize("area", AREAS.values(), ids=AREAS)
    def test_noise_is_that_of_the_dense_transform(self, area):
        """Every coefficient weighs what it adds to the sum."""
        grid = Grid(domain=UNIT_SQUARE, rows=5, columns=11)
        values = transform(np.arange(55).reshape(5, 11))
        wavelet = Wavelet(rows=8, columns=16, coefficients=NoisyValues.at_one_rate(values.ravel(), Fraction(1, 3)))
        measurements = Measurements.of_wavelet(wavelet, cells=grid.cells)
        surface = AreaSurface(Evidence(grid, measurements), np.arange(55.0))
        weights = coverage(grid, [area])[0]
        restored = np.array([restore(unit.reshape(8, 16))[:5, :11].ravel() @ weights for unit in np.eye(128)])

        noise, _ = surface.variances(surface.cover(area))
        assert np.isclose(noise[0], wavelet.coefficients.variances[0] * (restored**2).sum())

    @pytest.mark.parametrize("start", range(6))
    @pytest.mark.parametrize("width", [1, 2, 3])
    def test_cells_without_weight_can_be_left_out(self, start, width):
        """Coefficients of a window are those of all cells that are not zero."""
        weights = np.random.default_rng(start).random(width)
        padded = np.zeros(8)
        padded[start : start + width] = weights

        short, full = coefficient_weights(weights, start, 8), coefficient_weights(padded, 0, 8)
        assert np.allclose(np.sort(short[short != 0]), np.sort(full[full != 0]))


class TestScale:
    """Counts multiplied to sum to a total."""

    def test_polygons_are_scaled_as_rectangles_are(self):
        """Scaled estimates and deviations of a polygon are those of its rectangle."""
        synopsis = synopsis_on(NESTED)
        scaled = synopsis.scaled(Scale.to(7_000, synopsis.counts, source="public"))
        area, rect = scaled.answer_polygons(shapely.box(0.1, 0.2, 0.7, 0.9)), scaled.answer([0.1, 0.2, 0.7, 0.9])

        assert vars(area) == pytest.approx(vars(rect))
        assert scaled.factor != 1


class TestManyAreas:
    """Many areas at once, and bad arguments."""

    def test_areas_on_threads_are_answered_alike(self, monkeypatch):
        """Three threads give the answers of one."""
        places = np.random.default_rng(0).random((500, 2))
        areas = shapely.buffer(shapely.points(places), 0.1)
        synopsis = synopsis_on(QUADTREE)
        monkeypatch.setenv("HUSHGRID_THREADS", "3")
        together = synopsis.answer_polygons(areas)
        monkeypatch.setenv("HUSHGRID_THREADS", "1")

        assert np.array_equal(together.high, synopsis.answer_polygons(areas).high)

    def test_one_geometry_gives_one_value(self):
        """In every field; a sequence of one gives arrays."""
        synopsis = synopsis_on(GRID)

        assert isinstance(synopsis.count_polygons(RING), float)
        assert {type(value) for value in vars(synopsis.answer_polygons(RING)).values()} == {float, bool}
        assert synopsis.count_polygons([RING]).shape == (1,)

    def test_no_polygons_give_no_answers(self):
        """An empty batch is a batch."""
        assert synopsis_on(GRID).count_polygons([]).shape == (0,)
        assert synopsis_on(GRID).answer_polygons([]).high.shape == (0,)

    def test_a_bad_confidence_is_refused(self):
        """A confidence in per cent is refused for polygons too."""
        with pytest.raises(ArgumentError, match="between 0 and 1"):
            synopsis_on(GRID).answer_polygons(RING, confidence=95)
