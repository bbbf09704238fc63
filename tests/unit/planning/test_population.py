"""Made-up people: where they lie, and that they are always the same."""

import math

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.planning.population import filled_share, population, quarter_shares


def parts(points: np.ndarray, side: int) -> np.ndarray:
    """Number of points in each of side x side parts of the unit square, by a plain histogram."""
    return np.histogram2d(*points.T, bins=side, range=[[0, 1], [0, 1]])[0]


@pytest.mark.parametrize("filled", [0.001, 0.02, 0.2, 0.5])
def test_nearly_all_points_lie_in_the_filled_share(filled: float) -> None:
    """Sorted by their counts, that many of 64 x 64 parts hold 95 % of the points."""
    counts = np.sort(parts(population(200_000, filled, seed=3), 64).ravel())[::-1]

    held = np.cumsum(counts) / 200_000
    assert held[round(filled * 64**2) - 1] == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("level", range(5))
def test_every_square_is_shared_alike_at_every_scale(level: int) -> None:
    """Two points of a square lie in the same quarter with the chance that the four shares give, large or small."""
    points = population(100_000, 0.2, seed=5)

    whole, quarters = parts(points, 2**level), parts(points, 2 ** (level + 1))
    together = (quarters * (quarters - 1)).sum() / (whole * (whole - 1)).sum()
    assert together == pytest.approx(np.sum(quarter_shares(0.2) ** 2), rel=0.02)


@pytest.mark.parametrize("filled", [0.001, 0.02, 0.2, 0.5, 0.95, 1.0])
def test_shares_of_quarters_fall_by_one_ratio_and_fill_what_was_asked(filled: float) -> None:
    """Four shares that sum to one; the fraction they fill, from all 4**6 products, is the one given."""
    shares = quarter_shares(filled)

    assert math.fsum(shares) == pytest.approx(1)
    np.testing.assert_allclose(shares[1:] / shares[:-1], shares[1] / shares[0])
    assert filled_share(shares) == pytest.approx(min(filled, 0.95), abs=0.01)


def test_a_population_depends_on_its_seed_alone() -> None:
    """A seed makes the same points of the unit square each time, and another seed others."""
    first, again, other = (population(1000, 0.2, seed=seed) for seed in (1, 1, 2))

    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (1000, 2)
    assert first.min() >= 0
    assert first.max() < 1


@pytest.mark.parametrize("filled", [0, 0.0009, 1.01, -1, math.nan, math.inf])
def test_what_no_population_fills_is_refused(filled: float) -> None:
    """The message names the argument and what is allowed."""
    with pytest.raises(ArgumentError, match=r"filled must be .* from 0\.001 to 1, got filled="):
        population(10, filled, seed=1)
