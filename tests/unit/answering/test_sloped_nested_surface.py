"""Sums over rectangles on nested grids whose leaves slope, against numerical integration."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.nested_grids import NestedSurface, SlopedNestedSurface
from hushgrid.geometry.grid import Grid, NestedGrid
from tests.plain import UNIT_SQUARE
from tests.strategies import nested_grids, rects
from tests.unit.answering.test_sloped_surface import integral


@st.composite
def sloped_leaves(draw):
    """A nested grid, counts of its leaves, some negative, and their slopes, steepest ones included."""
    nested = draw(nested_grids())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    slopes = np.clip(rng.normal(0, 0.8, (nested.cells, 2)), -1, 1)
    return nested, rng.gamma(0.5, 20, nested.cells) - 3, slopes


def surface_of(nested, counts, slopes=None, kind=SlopedNestedSurface):
    variances = np.linspace(1, 2, nested.grid.cells)
    surface = kind(nested, counts, cell_variances=variances, leaf_variances=variances)
    if slopes is not None:
        surface.slopes = slopes
    return surface


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_counts_are_integrals_of_the_density(data):
    """Of any rectangles on nested grids of any shape."""
    nested, counts, slopes = data.draw(sloped_leaves())
    queries = data.draw(rects(nested.domain))

    expected = [integral(nested, counts, slopes, query) for query in queries]
    assert np.allclose(surface_of(nested, counts, slopes).counts(queries), expected, atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_mass_is_kept(data):
    """Every leaf, every first-level cell and the domain count what they do where leaves are flat."""
    nested, counts, slopes = data.draw(sloped_leaves())
    queries = np.concatenate([nested.bounds(), nested.grid.bounds(), [nested.domain.bounds]])

    flat = surface_of(nested, counts, kind=NestedSurface).counts(queries)
    assert np.allclose(surface_of(nested, counts, slopes).counts(queries), flat, atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_no_part_of_a_positive_leaf_is_negative(data):
    """However small, where slopes are learned."""
    nested, counts, _ = data.draw(sloped_leaves())
    counts = np.abs(counts)
    places = np.random.default_rng(0).random((200, 2, 2))
    corners = nested.domain.west, nested.domain.south
    low, high = np.min(places, axis=1), np.max(places, axis=1)
    extent = (nested.domain.width, nested.domain.height)
    queries = np.concatenate([corners + low * extent, corners + (low + 0.05 * (high - low)) * extent], axis=1)

    assert np.all(surface_of(nested, counts).counts(queries) >= -1e-9 * counts.sum())


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_without_slopes_it_is_the_flat_surface(data):
    """To the last bit, and its variances are, with slopes too."""
    nested, counts, slopes = data.draw(sloped_leaves())
    queries = data.draw(rects(nested.domain))
    flat = surface_of(nested, counts, kind=NestedSurface)

    assert np.array_equal(surface_of(nested, counts, 0 * slopes).counts(queries), flat.counts(queries))
    assert np.array_equal(surface_of(nested, counts, slopes).variances(queries), flat.variances(queries))


def test_rectangles_on_threads_are_answered_alike(monkeypatch):
    """Three threads give the answers of one."""
    rng = np.random.default_rng(1)
    nested = NestedGrid(grid=Grid(domain=UNIT_SQUARE, rows=3, columns=2), sides=[1, 2, 3, 4, 5, 6])
    counts, slopes = rng.gamma(0.5, 20, nested.cells), rng.uniform(-1, 1, (nested.cells, 2))
    low = rng.random((10_000, 2))
    queries = np.hstack([low, low + 0.3])
    monkeypatch.setenv("HUSHGRID_THREADS", "3")
    together = surface_of(nested, counts, slopes).counts(queries)
    monkeypatch.setenv("HUSHGRID_THREADS", "1")

    assert np.array_equal(together, surface_of(nested, counts, slopes).counts(queries))
