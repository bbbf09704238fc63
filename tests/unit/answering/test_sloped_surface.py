"""Sums over rectangles on sloped leaves, against numerical integration."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.sloped_trees import SlopedSurface
from hushgrid.answering.trees import TreeSurface
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.inference.slopes import slopes
from tests.quadtrees import measured_quadtrees, node_sums
from tests.strategies import rects, trees

GAUSS_POINTS = 0.5 + 0.5 * np.array([-1, 1]) / np.sqrt(3)  # two points a side integrate what is linear exactly


@st.composite
def sloped_leaves(draw):
    """A tree, counts of its leaves and their slopes, steepest ones included."""
    tree = draw(trees())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    slope = np.clip(rng.normal(0, 0.8, (tree.cells, 2)), -1, 1)
    return tree, rng.gamma(0.5, 20, tree.cells), slope


def surface_of(tree, counts, slope):
    return SlopedSurface(Evidence(tree, Measurements.of_leaves(NoisyValues.nothing(tree.cells))), counts, slope)


def integral(tree, counts, slope, rect):
    """Of the density over a rectangle, leaf by leaf, from its values at points."""
    west, south, east, north = tree.bounds().T
    left, right = np.maximum(west, rect[0]), np.minimum(east, rect[2])
    bottom, top = np.maximum(south, rect[1]), np.minimum(north, rect[3])
    inside = (left < right) & (bottom < top)
    total = np.zeros(tree.cells)
    for across in GAUSS_POINTS:
        for along in GAUSS_POINTS:
            u = (left + across * (right - left) - west) / (east - west)
            v = (bottom + along * (top - bottom) - south) / (north - south)
            total += (1 + slope[:, 0] * (2 * u - 1)) * (1 + slope[:, 1] * (2 * v - 1)) / 4
    share = (right - left) * (top - bottom) / ((east - west) * (north - south))
    return (counts * share * total)[inside].sum()


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_counts_are_integrals_of_the_density(data):
    """Of any rectangles on trees of any shape."""
    tree, counts, slope = data.draw(sloped_leaves())
    queries = data.draw(rects(tree.domain))

    expected = [integral(tree, counts, slope, query) for query in queries]
    assert np.allclose(surface_of(tree, counts, slope).counts(queries), expected, atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(sloped_leaves())
def test_the_whole_domain_holds_the_total(given):
    """The domain holds the total, and so does a rectangle around it."""
    tree, counts, slope = given
    domain = tree.domain
    around = (domain.west - 1, domain.south - 1, domain.east + 1, domain.north + 1)
    assert np.allclose(surface_of(tree, counts, slope).counts(np.array([domain.bounds, around])), counts.sum())


@settings(deadline=None, max_examples=30)
@given(sloped_leaves(), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_disjoint_rectangles_add_up(given, across, along):
    """Four that meet anywhere in the domain."""
    tree, counts, slope = given
    west, south, east, north = tree.domain.bounds
    x, y = west + across * (east - west), south + along * (north - south)
    parts = [(west, south, x, y), (x, south, east, y), (west, y, x, north), (x, y, east, north)]
    parts = surface_of(tree, counts, slope).counts(np.array(parts))

    assert np.all(parts >= 0)
    assert np.isclose(parts.sum(), counts.sum())


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_without_slopes_it_is_the_flat_surface(data):
    """Counts; and the variances always are."""
    tree, measurements = data.draw(measured_quadtrees())
    queries = data.draw(rects(tree.domain))
    counts = np.random.default_rng(tree.nodes).gamma(0.5, 20, tree.cells)
    flat = TreeSurface(Evidence(tree, measurements), counts)

    assert np.allclose(
        SlopedSurface(Evidence(tree, measurements), counts, np.zeros((tree.cells, 2))).counts(queries),
        flat.counts(queries),
    )
    steep = SlopedSurface(Evidence(tree, measurements), counts, np.ones((tree.cells, 2)))
    for sloped, plain in zip(steep.variances(queries), flat.variances(queries), strict=True):
        assert np.array_equal(sloped, plain)


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_slopes_follow_from_counts(data):
    """A surface made from counts has the slopes of its counts, so that a file need not hold them."""
    tree, measurements = data.draw(measured_quadtrees())
    queries = data.draw(rects(tree.domain))
    counts = np.random.default_rng(tree.nodes).gamma(0.5, 20, tree.cells)

    given = SlopedSurface(Evidence(tree, measurements), counts, slopes(tree, node_sums(tree, counts)))
    assert np.allclose(SlopedSurface.of(Evidence(tree, measurements), counts).counts(queries), given.counts(queries))
