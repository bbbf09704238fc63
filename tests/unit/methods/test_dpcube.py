"""DPCube: parts that look uniform, and two measurements of every record."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.methods.dpcube import DPCube, uniform_parts
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 9))
def test_parts_tile_the_grid(seed, rows, columns):
    """Every cell in exactly one."""
    counts = np.random.default_rng(seed).normal(0, 9, (rows, columns))
    tree = uniform_parts(counts, noise_variance=1.0, tolerance=1.0)
    covered = np.zeros((rows, columns))
    for part in tree.parts:
        left, bottom, right, top = tree.boxes[part]
        covered[bottom:top, left:right] += 1

    assert np.all(covered == 1)


def test_pure_noise_is_one_part():
    """What noise explains is not cut."""
    counts = np.random.default_rng(0).normal(0, 10, (20, 20))

    assert len(uniform_parts(counts, noise_variance=100.0, tolerance=2.0).parts) == 1


def test_an_edge_is_found():
    """The first cut is where the density changes, along either axis."""
    counts = np.zeros((6, 8))
    counts[:, 5:] = 1000
    tree = uniform_parts(counts, noise_variance=1.0, tolerance=2.0)
    turned = uniform_parts(counts.T, noise_variance=1.0, tolerance=2.0)

    assert [tree.boxes[part] for part in tree.parts] == [(0, 0, 5, 6), (5, 0, 8, 6)]
    assert [turned.boxes[part] for part in turned.parts] == [(0, 0, 6, 5), (0, 5, 6, 8)]


def test_every_record_is_measured_twice():
    """As part of a cell and of a part, with the shares asked for."""
    points = tuple(map(tuple, np.random.default_rng(0).random((500, 2)) ** 3))
    budget = Budget(Fraction(1), bits=simulation_rng(0), public_size=500)
    release = DPCube(side=8, cell_share=0.25).release(PlainCounter(UNIT_SQUARE, points), budget)
    regions, values = release.measurements.regions, release.measurements.region_values

    assert np.sum(regions.stop - regions.first) == 64
    assert release.measurements.leaves.rates[release.measurements.leaves.rate_index[0]] == Fraction(1, 4)
    assert {values.rates[index] for index in values.rate_index} == {Fraction(3, 4)}


@pytest.mark.parametrize("parameters", [{"side": 0}, {"cell_share": 1}, {"tolerance": 0}, {"c": -1}])
def test_parameters_are_checked(parameters):
    """Before any data is seen."""
    with pytest.raises(ArgumentError):
        DPCube(**parameters)
