"""Intervals of releases with a prior: leaves vary as they were measured, however they are asked about."""

from functools import cache

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.answering.surface import spread
from hushgrid.priors.masses import CellMasses, Source
from hushgrid.priors.sharpen import sharpened
from tests.plain import UNIT_SQUARE

CENTRES = np.random.default_rng(8).uniform(0.1, 0.9, (12, 2))
SOURCE = Source(name="public points", kind="points", sha256="0" * 64)


def crowd(rows, seed):
    """Points around the centres."""
    rng = np.random.default_rng(seed)
    return np.clip(CENTRES[rng.integers(0, 12, rows)] + rng.normal(0, 0.02, (rows, 2)), 0, 1)


@cache
def releases():
    """A release, and the same with a prior that divides its leaves further."""
    points, rng = crowd(3000, seed=2), hg.simulation_rng(4)
    plain = hg.publish(points, domain=UNIT_SQUARE, epsilon=0.5, method="staq", prior="none", calibrate=False, rng=rng)
    return plain, sharpened(plain, CellMasses.of_points(SOURCE, crowd(3000, seed=1), None, UNIT_SQUARE))


def some_rects():
    """Large and small ones."""
    one, other = np.random.default_rng(0).random((2, 300, 2))
    large = np.concatenate([np.minimum(one, other), np.maximum(one, other)], axis=1)
    return np.concatenate([large, np.concatenate([one, one + 0.03], axis=1)])


def test_a_rectangle_is_a_polygon():
    """Estimate, noise and spread."""
    _, sharper = releases()
    rects = some_rects()
    as_rects, as_polygons = sharper.answer(rects), sharper.answer_polygons([shapely.box(*rect) for rect in rects])

    for name in ("estimate", "noise_std", "spread_std"):
        np.testing.assert_allclose(getattr(as_polygons, name), getattr(as_rects, name), rtol=1e-9, atol=1e-9)


def test_noise_is_that_of_the_release_without_a_prior():
    """Measurements are the same."""
    plain, sharper = releases()
    rects = some_rects()

    assert sharper.partition.cells > 1.5 * plain.partition.cells
    np.testing.assert_allclose(sharper.answer(rects).noise_std, plain.answer(rects).noise_std, rtol=1e-9)


@pytest.mark.parametrize("cut", [0.25, 0.5])
def test_a_measured_leaf_is_uncertain_as_a_whole(cut):
    """A rectangle that cuts one measured leaf along its parts, of which none is cut itself."""
    plain, sharper = releases()
    bounds = plain.partition.bounds()
    inside = sharper.partition.bounds()
    for west, south, east, north in bounds:
        rect = np.array([west, south, west + cut * (east - west), north])
        parts = ((inside[:, :2] >= [west, south]) & (inside[:, 2:] <= [east, north])).all(axis=1)
        if parts.sum() >= 16:
            break
    answer = sharper.answer(rect)

    expected = cut * (1 - cut) * spread(np.array([sharper.counts[parts].sum()]))[0]
    assert answer.spread_std**2 == pytest.approx(expected + 0.25)
