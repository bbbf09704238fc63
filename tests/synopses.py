"""Synopses made from chosen measurements, with no data and no noise behind them."""

from fractions import Fraction

import numpy as np

from hushgrid.geometry.grid import Grid
from hushgrid.inference.measurements import Measured, Measurements, Regions
from hushgrid.synopsis.claim import Claim, MethodRecord, Spend
from hushgrid.synopsis.synopsis import Synopsis


def some_values(size, seed=0):
    """Signed integers that look like noisy counts."""
    return np.random.default_rng(seed).integers(-20, 200, size)


def synopsis_on(partition, *, epsilon=Fraction(1), values=None):
    """A synopsis on a partition of either kind, spending epsilon as UG or AG would."""
    grid_only = isinstance(partition, Grid)
    leaves = some_values(partition.cells) if values is None else np.asarray(values, np.int64)
    share = epsilon if grid_only else epsilon / 2
    measured = Measured.at_one_rate(leaves, share)
    spends = [Spend(purpose="leaves", epsilon=share)]
    if grid_only:
        measurements = Measurements.of_leaves(measured)
    else:
        sums = np.add.reduceat(leaves, partition.offsets[:-1])
        cells = Measured.at_one_rate(sums + some_values(len(sums), seed=1) - 90, share)
        measurements = Measurements(leaves=measured, regions=Regions.between(partition.offsets), region_values=cells)
        spends.insert(0, Spend(purpose="first level", epsilon=share))
    return Synopsis.infer(
        partition,
        measurements,
        inference="direct" if grid_only else "two-level",
        claim=Claim(epsilon=epsilon, spends=tuple(spends)),
        method=MethodRecord(name="ug" if grid_only else "ag", asked="auto"),
    )
