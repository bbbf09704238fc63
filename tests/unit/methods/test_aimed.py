"""A quadtree aimed at a scale: as fine as the scale asks, within its limits, and better there than STAQ."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.errors import ArgumentError
from hushgrid.methods.staq import AimedQuadtree, Staq
from hushgrid.planning.population import population
from hushgrid.planning.rehearsal import points_in, rect_places
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE


def released(method, points, *, epsilon=Fraction(1), seed=0, max_cells=None):
    """A simulated release."""
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(np.asfortranarray(points)))
    return method.release(counter, Budget(epsilon, bits=simulation_rng(seed), max_cells=max_cells))


def leaf_levels(synopsis):
    """Level of each leaf, by its width."""
    west, _, east, _ = synopsis.partition.bounds().T
    return np.rint(np.log2(1 / (east - west))).astype(int)


def test_cells_get_finer_with_points_and_with_the_scale():
    """By a level for sixteen times the signal, and for a quarter of the scale."""
    levels = [AimedQuadtree(scale=0.01).finest_level(signal) for signal in (1e2, 16e2, 256e2)]
    by_scale = [AimedQuadtree(scale=scale).finest_level(1e4) for scale in (0.02, 0.005, 0.00125)]

    assert np.diff(levels).tolist() == [1, 1]
    assert np.diff(by_scale).tolist() == [1, 1]


def test_most_points_lie_in_cells_of_the_level_or_finer():
    """Cells that stop earlier hold few."""
    synopsis = released(AimedQuadtree(level=5), population(40_000, 0.5, seed=3))
    levels = leaf_levels(synopsis)

    assert synopsis.counts[levels >= 5].sum() > 0.9 * synopsis.counts.sum()
    assert levels.max() <= 5 + AimedQuadtree.further


def test_empty_land_is_not_divided_to_the_end():
    """All points are in one corner: the other three quarters stay coarse."""
    points = population(20_000, 0.5, seed=4) / 4
    synopsis = released(AimedQuadtree(level=7), points)
    bounds = synopsis.partition.bounds()
    far = (bounds[:, 0] >= 0.5) & (bounds[:, 1] >= 0.5)

    assert far.sum() < 0.2 * 4**7 / 4


@pytest.mark.parametrize("most", [100, 500, 5000])
def test_a_limit_on_cells_holds_and_is_told(most):
    """Whatever the scale asks."""
    synopsis = released(AimedQuadtree(scale=0.001), population(20_000, 0.2, seed=5), max_cells=most)

    assert synopsis.partition.cells <= most
    assert any(f"to fit {most:,}" in note for note in synopsis.method.notes)


def test_it_beats_staq_at_its_scale_and_loses_on_large_areas():
    """On made-up people, over several releases."""
    points, scale = population(50_000, 0.2, seed=6), 0.01
    small = rect_places(points, scale**2, 300, bits=simulation_rng(1))
    large = rect_places(points, 0.1, 300, bits=simulation_rng(2))
    errors = {}
    for method in (AimedQuadtree(scale=scale), Staq()):
        releases = [released(method, points, epsilon=Fraction(1, 10), seed=seed) for seed in range(4)]
        for name, rects in (("small", small), ("large", large)):
            true_counts = points_in(rects, points)
            floored = np.maximum(true_counts, 0.001 * len(points))
            errors[method.name, name] = np.mean(
                [np.abs(each.count(rects) - true_counts) / floored for each in releases]
            )

    assert errors["aimed", "small"] < 0.9 * errors["staq", "small"]
    assert errors["aimed", "large"] > errors["staq", "large"]


def test_a_release_says_what_it_is_for():
    """The scale, and where staq would be better."""
    few = released(AimedQuadtree(scale=0.02), population(5000, 0.2, seed=7))
    many = released(AimedQuadtree(scale=0.02, level=4), population(5000, 0.2, seed=7), epsilon=Fraction(100))

    assert "squares of 2 % of the domain's sides" in few.method.notes[0]
    assert not any("better at every scale" in note for note in few.method.notes)
    assert any("better at every scale" in note for note in many.method.notes)


@pytest.mark.parametrize("scale", [0, -0.1, 1.5, float("nan")])
def test_a_scale_is_a_share(scale):
    """Of the domain's sides."""
    with pytest.raises(ArgumentError, match="scale must be a share"):
        AimedQuadtree(scale=scale)


def test_other_parameters_are_checked():
    """As those of STAQ are."""
    for wrong in ({"inference": "guess"}, {"level": 2}, {"level": 40}, {"first_level": -1}):
        with pytest.raises(ArgumentError):
            AimedQuadtree(**wrong)
