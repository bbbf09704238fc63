"""Made-up points inside boxes: their bits, and how they lie."""

import numpy as np
import pytest
from scipy import stats

from hushgrid.answering.sloped_trees import share_below
from hushgrid.sampling.scatter import invert_share, mixed, scatter, scatter_again, uniform_draw

MASK = 2**64 - 1
ACCEPT, REJECT = 1e-3, 1e-9
FLAT = np.empty((0, 2))
BOX = np.array([[2.0, -1.0, 5.0, 1.0]])


def splitmix(state):
    """The next state and output of SplitMix64, in whole numbers of any length."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    bits = state
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return state, bits ^ (bits >> 31)


def placed(slopes=FLAT, size=20_000, key=7):
    """Points in the box."""
    out = np.empty((size, 2))
    scatter(np.uint64(key), 0, size, np.array([size]), BOX, slopes, out)
    return out


def test_bits_are_those_of_splitmix64():
    """Seed 0 gives the first outputs of the reference implementation."""
    _, first = splitmix(0)

    assert first == 0xE220A8397B1DCDAF
    assert int(mixed(np.uint64(0x9E3779B97F4A7C15))) == first


@pytest.mark.parametrize("point", [0, 1, 10**10])
def test_every_point_has_a_stream_of_its_own(point):
    """SplitMix64 started from an output of another one, the draws in order."""
    _, state = splitmix((5 + point * 0x9E3779B97F4A7C15) & MASK)
    for number in range(1, 4):
        state, bits = splitmix(state)
        assert uniform_draw(np.uint64(5), point, number) == ((bits >> 12) + 0.5) * 2.0**-52


@pytest.mark.parametrize("slope", [-1.0, -0.3, 0.0, 1e-12, 0.7, 1.0])
def test_places_invert_shares(slope):
    """Places invert shares, from next to nothing to next to everything."""
    shares = np.array([2.0**-53, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9, 1 - 2.0**-53])
    places = np.array([invert_share(share, slope) for share in shares])

    assert np.all((places > 0) & (places <= 1))
    assert np.allclose([share_below(place, slope) for place in places], shares, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("slope", [None, -0.8, 0.5, 1.0])
def test_points_lie_as_the_density_says(slope):
    """Along both axes, which are independent; another slope is told apart."""
    points = placed(FLAT if slope is None else np.array([[slope, -slope]]))
    places = (points - BOX[0, :2]) / (BOX[0, 2:] - BOX[0, :2])

    for place, lean in zip(places.T, (slope or 0.0, -(slope or 0.0)), strict=True):
        assert stats.kstest(place, lambda u, lean=lean: u + lean * (u**2 - u)).pvalue > ACCEPT
        assert stats.kstest(place, lambda u, lean=lean: u + (lean - 0.2) * (u**2 - u)).pvalue < REJECT
    assert stats.spearmanr(*places.T).pvalue > ACCEPT


def test_slices_are_parts_of_the_whole():
    """Whoever places a point, it lies at the same place; leaves without points are passed over."""
    ends, boxes = np.array([0, 3, 3, 10]), np.tile(BOX, (4, 1)) + np.arange(4)[:, None] * 10
    whole, parts = np.empty((2, 10, 2))
    scatter(np.uint64(1), 0, 10, ends, boxes, FLAT, whole)
    for first, stop in ((0, 2), (2, 3), (3, 7), (7, 10)):
        scatter(np.uint64(1), first, stop, ends, boxes, FLAT, parts)

    assert np.array_equal(whole, parts)
    assert np.array_equal((whole[:, 0] // 10).astype(int), [1, 1, 1, 3, 3, 3, 3, 3, 3, 3])


def test_attempts_go_on_where_others_ended():
    """The first attempt is the one of `scatter`; later ones do not depend on how many are made at once."""
    points, leaves = np.arange(5), np.zeros(5, np.int64)
    once, twice = np.empty((5, 4, 2)), np.empty((5, 2, 2))
    scatter_again(np.uint64(7), points, leaves, 0, BOX, FLAT, once)
    scatter_again(np.uint64(7), points, leaves, 2, BOX, FLAT, twice)

    assert np.array_equal(once[:, 0], placed(size=5))
    assert np.array_equal(once[:, 2:], twice)
    assert len(np.unique(once)) == once.size
