"""Noise variance of sums over polygons.

It is exact, given the structure. Learned inferences are given the variance of least squares.
"""

from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np

from hushgrid.answering.areas import AreaShapes
from hushgrid.answering.boxes import BoxTree, vary_on_runs
from hushgrid.answering.cover import SMALLEST_SLICE, Cover
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import run_in_slices
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.grid import DIVIDED, Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.tree import Tree
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.measurements import Measurements, Wavelet
from hushgrid.inference.two_level import combined_variances


class WaveletNoise:
    """Noise of a grid restored from Haar coefficients.

    All coefficients have one variance.
    """

    def __init__(self, grid: Grid, wavelet: Wavelet) -> None:
        self._grid_columns = grid.columns
        self._rows, self._columns = wavelet.rows, wavelet.columns
        self._variance = float(wavelet.coefficients.variances[0])

    def variances(self, cover: Cover) -> Floats:
        """Variance of every sum, shape (areas,)."""
        single = cover.node_by_node()
        rows, columns = np.divmod(single.runs[:, 0] - 1, self._grid_columns)  # node 0 is the domain
        noise = np.zeros(cover.areas)
        for area, (first, stop) in enumerate(zip(single.starts[:-1], single.starts[1:], strict=True)):
            if first < stop:
                here = slice(first, stop)
                noise[area] = self._variance * self._energy(rows[here], columns[here], single.area_shares[here])
        return noise

    def _energy(self, rows: Indices, columns: Indices, weights: Floats) -> float:
        """Sum of squared weights of all coefficients."""
        bottom, left = rows.min(), columns.min()
        window = np.zeros((rows.max() - bottom + 1, columns.max() - left + 1))
        window[rows - bottom, columns - left] = weights
        along = coefficient_weights(window, int(bottom), self._rows)
        across = coefficient_weights(along.T, int(left), self._columns)
        return float(np.sum(across**2))


def coefficient_weights(weights: Floats, start: int, cells: int) -> Floats:
    """Weights of Haar coefficients in a weighted sum.

    There are `cells` cells. Those from `start` on have the given weights, all others have zero.

    A coefficient is a block's left half minus its right half, and adds to a cell with that sign, divided by the size
    of the block (`hushgrid.inference.haar`). Coefficients whose block has no weight are left out.

    Parameters
    ----------
    weights : array, shape (n, ...)
        Along the first axis.
    cells : int
        A power of two.

    Examples
    --------
    >>> coefficient_weights(np.array([1.0, 1.0]), 1, 4)
    array([-0.5,  0.5,  0. ,  0.5])
    """
    parts, sums, size = [], weights, 1
    while size < cells:
        ends = (start % 2, (start + len(sums)) % 2)
        padded = np.pad(sums, [ends] + [(0, 0)] * (sums.ndim - 1))
        size *= 2
        parts.append((padded[0::2] - padded[1::2]) / size)
        sums = padded[0::2] + padded[1::2]
        start //= 2
    return np.concatenate([*parts, sums / size])


class AreaNoise(Protocol):
    """Noise in sums of leaves.

    Each leaf is weighted by its covered share.
    """

    def variances(self, cover: Cover) -> Floats:
        """Variance of every sum, shape (areas,)."""


def area_noise(hierarchy: BoxTree | AreaShapes, evidence: Evidence) -> AreaNoise:
    """The noise of a release."""
    partition, measurements = evidence.partition, evidence.measurements
    if measurements.wavelet is not None:
        assert isinstance(partition, Grid)
        return WaveletNoise(partition, measurements.wavelet)
    if isinstance(partition, AreaPartition) and partition.levels:
        return LevelNoise(evidence)
    if isinstance(partition, Grid | AreaPartition):
        return LeafNoise(float(measurements.leaves.variances[0]))
    assert isinstance(hierarchy, BoxTree)
    if isinstance(partition, GroupedGrid):
        return GroupedNoise(hierarchy, partition, measurements)
    if isinstance(partition, Tree):
        return NodeNoise(hierarchy.parents, evidence.nodes.below_variances)
    assert isinstance(partition, NestedGrid)
    leaf_variances = measurements.leaves.variances
    cell_variances = combined_variances(
        measurements.region_values.variances, leaf_variances[partition.offsets[:-1]], partition.sides**2
    )
    variances = np.empty(hierarchy.nodes)
    variances[hierarchy.leaves] = leaf_variances
    variances[1 : 1 + partition.grid.cells] = cell_variances
    variances[0] = cell_variances.sum()
    return NodeNoise(hierarchy.parents, variances)


class LeafNoise:
    """Noise of leaves measured independently, all with one variance."""

    def __init__(self, variance: float) -> None:
        self._variance = variance

    def variances(self, cover: Cover) -> Floats:
        """Variance of every sum, shape (areas,)."""
        first, stop = cover.runs.T
        return self._variance * cover.total((stop - first) * cover.area_shares**2)


class NodeNoise:
    """Noise after least squares on a tree.

    Parameters
    ----------
    parents : array of int, shape (nodes,)
        Each below the node's own number; -1 for the root.
    variances : array, shape (nodes,)
        Variance of each node's estimate from itself and below, infinite where there is none.
    """

    def __init__(self, parents: Indices, variances: Floats) -> None:
        self._parents = parents
        self._variances = variances
        finite = np.isfinite(variances)
        self._parts = np.stack([np.where(finite, variances, 0), ~finite], axis=1)

    def variances(self, cover: Cover) -> Floats:
        """Variance of every sum, shape (areas,)."""
        noise = np.empty(cover.areas)
        given = (self._parents, self._variances, self._totals, self._running)

        def work(first: int, stop: int) -> None:
            vary_on_runs(cover.starts, cover.runs, cover.area_shares, first, stop, *given, noise)

        run_in_slices(work, cover.areas, smallest=SMALLEST_SLICE)
        return noise

    @cached_property
    def _totals(self) -> Floats:
        """Children's variances of each node, shape (nodes, 2).

        The sum of the finite ones, and how many are infinite.
        """
        parents, parts = self._parents[1:], self._parts[1:]
        return np.stack([np.bincount(parents, part, minlength=len(self._parents)) for part in parts.T], axis=1)

    @cached_property
    def _running(self) -> Floats:
        """Running sums over nodes, shape (nodes + 1, 2).

        Of all nodes before each: the sum of finite variances, and how many are infinite.
        """
        return np.concatenate([np.zeros((1, 2)), np.cumsum(self._parts, axis=0)])


class LevelNoise:
    """Noise of areas in levels.

    They are a tree whose leaves are the areas.
    """

    def __init__(self, evidence: Evidence) -> None:
        tree = evidence.nodes.tree
        self._leaves = tree.leaves
        self._noise = NodeNoise(tree.parents, evidence.nodes.below_variances)

    def variances(self, cover: Cover) -> Floats:
        """Variance of every sum, shape (areas,)."""
        single = cover.node_by_node()
        nodes = self._leaves[single.runs[:, 0]]
        return self._noise.variances(replace(single, runs=np.stack([nodes, nodes + 1], axis=1)))


class GroupedNoise:
    """Noise of a grouped grid.

    It is a tree too: its first level is the divided cells and the groups.
    """

    def __init__(self, hierarchy: BoxTree, grouped: GroupedGrid, measurements: Measurements) -> None:
        blocks, starts = grouped.block_groups, grouped.offsets[:-1]
        leaf_variances = measurements.leaves.variances
        block_variances = combined_variances(
            measurements.region_values.variances, leaf_variances[starts], np.diff(grouped.offsets)
        )
        groups = int(grouped.groups.max()) + 1
        variances = np.zeros(groups + hierarchy.nodes)
        variances[groups + hierarchy.leaves] = leaf_variances
        variances[1 + blocks[blocks != DIVIDED]] = block_variances[blocks != DIVIDED]
        variances[groups + 1 + np.flatnonzero(grouped.groups == DIVIDED)] = block_variances[blocks == DIVIDED]
        variances[0] = block_variances.sum()
        above = np.concatenate([np.zeros(groups + 1, np.int64), groups + hierarchy.parents[1:]])
        above[0] = -1
        above[groups + 1 : groups + 1 + len(grouped.groups)] = 1 + grouped.groups  # the root for `DIVIDED`
        self._groups = groups
        self._noise = NodeNoise(above, variances)

    def variances(self, cover: Cover) -> Floats:
        """Variance of every sum, shape (areas,)."""
        # A run could span several groups.
        single = cover.node_by_node()
        return self._noise.variances(replace(single, runs=single.runs + self._groups))
