"""Synopses made from chosen measurements, with no data and no noise behind them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.tree import Tree
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import Measurements, NoisyValues, Regions
from hushgrid.synopsis.claim import Claim, MethodRecord, Spend
from hushgrid.synopsis.synopsis import Synopsis

# Kind of partition: method and inference of a release on it.
KINDS = {
    Grid: ("ug", "direct"),
    NestedGrid: ("ag", "two-level"),
    GroupedGrid: ("dag", "two-level"),
    Tree: ("quadtree", "least-squares"),
    AreaPartition: ("areas", "direct"),
}


def some_values(size, seed=0):
    """Signed integers that look like noisy counts."""
    return np.random.default_rng(seed).integers(-20, 200, size)


def synopsis_on(partition, *, epsilon=Fraction(1), values=None):
    """A synopsis on a partition of any kind, spending epsilon as a method would."""
    method, inference = KINDS[type(partition)]
    if isinstance(partition, AreaPartition) and partition.levels:
        inference = "least-squares"
    leaves = some_values(partition.cells) if values is None else np.asarray(values, np.int64)
    measurements, spends = MEASURES[type(partition)](partition, leaves, epsilon)
    return Synopsis.infer(
        partition,
        measurements,
        inference=inference,
        claim=Claim(epsilon=epsilon, spends=spends),
        method=MethodRecord(name=method, asked="auto"),
    )


def _leaves_alone(_, leaves, epsilon):
    spends = (Spend(purpose="leaves", epsilon=epsilon),)
    return Measurements.of_leaves(NoisyValues.at_one_rate(leaves, epsilon)), spends


def _areas(partition, leaves, epsilon):
    """All levels alike."""
    rate = epsilon / (1 + len(partition.levels))
    measured = Measurements.of_leaves(NoisyValues.at_one_rate(leaves, rate))
    spends = tuple(Spend(purpose="leaves", epsilon=rate) for _ in partition.all_levels)
    if not partition.levels:
        return measured, spends
    starts = [level.starts for level in partition.levels]
    sums = np.concatenate([level.sums(leaves) for level in partition.levels])
    regions = Regions(
        first=np.concatenate([each[:-1] for each in starts]), stop=np.concatenate([each[1:] for each in starts])
    )
    noisy = NoisyValues.at_one_rate(sums + some_values(len(sums), seed=1) - 90, rate)
    return replace(measured, regions=regions, region_values=noisy), spends


def _blocks_and_leaves(partition, leaves, epsilon):
    sums = np.add.reduceat(leaves, partition.offsets[:-1])
    blocks = NoisyValues.at_one_rate(sums + some_values(len(sums), seed=1) - 90, epsilon / 2)
    measured = NoisyValues.at_one_rate(leaves, epsilon / 2)
    spends = tuple(Spend(purpose=purpose, epsilon=epsilon / 2) for purpose in ("first level", "leaves"))
    regions = Regions.between(partition.offsets)
    return Measurements(leaves=measured, regions=regions, region_values=blocks), spends


def _structure_and_nodes(tree, leaves, epsilon):
    """Every leaf, and the root if it is another node; part of the budget went to the structure."""
    nodes = np.concatenate([tree.leaves, [0]]) if tree.nodes > 1 else tree.leaves
    rates = (epsilon / 2, epsilon / 4)
    measured = NoisyValues(
        values=np.concatenate([leaves, [leaves.sum() + 7]])[: len(nodes)],
        rates=rates,
        rate_index=(np.arange(len(nodes)) >= tree.cells).astype(np.int32),
    )
    spends = [
        Spend(purpose="structure", epsilon=epsilon / 4, measured=False),
        Spend(purpose="leaves", epsilon=rates[0]),
    ]
    spends.append(Spend(purpose="root", epsilon=rates[1], measured=tree.nodes > 1))
    return measurements_of_nodes(tree, nodes, measured), tuple(spends)


MEASURES = {
    Grid: _leaves_alone,
    NestedGrid: _blocks_and_leaves,
    GroupedGrid: _blocks_and_leaves,
    Tree: _structure_and_nodes,
    AreaPartition: _areas,
}
