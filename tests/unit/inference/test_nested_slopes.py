"""Slopes of the leaves of nested grids: what they foretell, and where they stay flat."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.nested_grids import SlopedNestedSurface
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from tests.plain import UNIT_SQUARE
from tests.strategies import nested_grids

SIDES = np.array([[1, 2, 4], [3, 6, 1], [5, 2, 2], [1, 4, 3]])


def surface_of(nested, counts, variance=1.0):
    cells = np.full(nested.grid.cells, variance)
    return SlopedNestedSurface(nested, counts, cell_variances=cells, leaf_variances=cells)


def nested_of(sides, domain=UNIT_SQUARE):
    rows, columns = sides.shape
    return NestedGrid(grid=Grid(domain=domain, rows=rows, columns=columns), sides=sides.ravel())


def hill(rects, steepness=3.0):
    """Points in rectangles, where they become rarer to the east and to the north."""

    def share(low, high):
        return (np.exp(-steepness * low) - np.exp(-steepness * high)) / (1 - np.exp(-steepness))

    west, south, east, north = rects.T
    return 1e6 * share(west, east) * share(south, north)


def test_slopes_foretell_how_leaves_are_divided():
    """Halves of leaves are known far better than by halving, along both axes."""
    nested = nested_of(np.tile(SIDES, (2, 2)))
    west, south, east, north = nested.bounds().T
    counts = hill(nested.bounds())
    west_half = hill(np.stack([west, south, (west + east) / 2, north], axis=1)) / counts
    south_half = hill(np.stack([west, south, east, (south + north) / 2], axis=1)) / counts

    true_shares = np.stack([west_half, south_half], axis=1)
    shares = 0.5 - surface_of(nested, counts).slopes / 4
    assert np.all(np.mean((shares - true_shares) ** 2, axis=0) < 0.2 * np.mean((0.5 - true_shares) ** 2, axis=0))


def test_noise_does_not_slope():
    """Leaves of one density slope little, whatever the noise; on a steep hill, with the same noise, they do."""
    nested = nested_of(np.tile(SIDES, (4, 4)))
    west, south, east, north = nested.bounds().T
    noise = np.random.default_rng(0).normal(0, 3, nested.cells)
    even, steep = 40_000 * (east - west) * (north - south), hill(nested.bounds(), steepness=30.0)

    slopes = [np.abs(surface_of(nested, counts + noise, variance=9.0).slopes).mean() for counts in (even, steep)]
    assert slopes[0] < 0.1 * slopes[1]


def test_with_nothing_to_learn_from_all_is_flat():
    """Leaves that are whole first-level cells make up no squares."""
    nested = nested_of(np.ones((12, 12), np.int64))

    assert not surface_of(nested, hill(nested.bounds())).slopes.any()


def test_leaves_without_points_are_flat():
    """A count that is zero or negative has nothing to lean."""
    nested = nested_of(np.tile(SIDES, (2, 2)))
    counts = hill(nested.bounds())
    counts[::3], counts[1::3] = 0, -counts[1::3]
    slopes = surface_of(nested, counts).slopes

    assert not slopes[counts <= 0].any()
    assert slopes[counts > 0].any()


def test_all_counts_zero_are_flat():
    """Nothing is divided by nothing."""
    nested = nested_of(SIDES)

    assert not surface_of(nested, np.zeros(nested.cells)).slopes.any()


def test_a_neighbour_beyond_the_domain_is_the_leaf_itself():
    """A leaf on the west edge leans as if its own count lay there again."""
    nested = nested_of(np.full((4, 4), 4))
    counts = hill(nested.bounds())
    surface = surface_of(nested, counts)
    inner = surface.slopes[1, 0] / lean(counts[0], counts[2], counts[1])  # -2 b

    assert np.isclose(surface.slopes[0, 0], inner * lean(counts[0], counts[1], counts[0]))
    assert np.isclose(surface.slopes[0, 1], inner * lean(counts[0], counts[4], counts[0]))


def lean(before, after, own):
    return (before - after) / (before + after + 2 * own)


@settings(deadline=None, max_examples=40)
@given(nested_grids(), st.integers(0, 2**32))
def test_slopes_are_between_one_and_minus_one(nested, seed):
    """Whatever the counts, so that no density is negative."""
    counts = np.random.default_rng(seed).normal(0, 1, nested.cells) ** 5

    slopes = surface_of(nested, counts, variance=0.01).slopes
    assert slopes.shape == (nested.cells, 2)
    assert np.all(np.abs(slopes) <= 1)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32))
def test_mirrored_counts_have_mirrored_slopes(seed):
    """West for east and x for y: no direction is special."""
    domain = Domain(west=-1, south=-1, east=1, north=1)
    nested = nested_of(np.tile(SIDES, (2, 2)), domain)
    turned = nested_of(np.tile(SIDES, (2, 2)).T[:, ::-1], domain)
    counts = np.random.default_rng(seed).gamma(0.5, 20, nested.cells)
    west, south, east, north = nested.bounds().T
    order = order_of(turned, np.stack([-(south + north) / 2, (west + east) / 2], axis=1))
    turned_counts = np.empty_like(counts)
    turned_counts[order] = counts

    along, across = surface_of(turned, turned_counts).slopes[order].T
    assert np.allclose(surface_of(nested, counts).slopes, np.stack([across, -along], axis=1), atol=1e-9)


def order_of(nested, middles):
    """The leaves that have these middles."""
    west, south, east, north = nested.bounds().T
    own = np.stack([(west + east) / 2, (south + north) / 2], axis=1)
    return np.abs(own[None] - middles[:, None]).sum(axis=2).argmin(axis=1)
