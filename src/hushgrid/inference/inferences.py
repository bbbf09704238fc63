"""Every inference by the name that a release file carries, and what it takes for granted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import Patchwork
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.tree import Tree
from hushgrid.inference.belief import belief_masses
from hushgrid.inference.haar import cell_energy, padded, restore
from hushgrid.inference.least_squares import solve
from hushgrid.inference.measurements import NOT_MEASURED, Measurements
from hushgrid.inference.slopes import refined_means
from hushgrid.inference.splits import split_masses
from hushgrid.inference.two_level import reconcile

FEW_LEAVES = 10_000  # up to which a second sweep takes 0.6 % off the error; with more leaves it takes off less


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """Estimated counts of the leaves and the exact variances of their noise, shape (leaves,) each."""

    counts: NDArray[np.float64]
    variances: NDArray[np.float64]


Inference = Callable[[Partition, Measurements], Estimate]


def direct(partition: Partition, measurements: Measurements) -> Estimate:  # noqa: ARG001  # one signature for all
    """Each leaf's own measurement, as it is."""
    leaves = measurements.leaves
    return Estimate(counts=leaves.values.astype(np.float64), variances=leaves.variances)


def two_level(partition: Partition, measurements: Measurements) -> Estimate:
    """Blocks of leaves, measured as a whole and leaf by leaf, made to agree by least squares."""
    assert isinstance(partition, NestedGrid | GroupedGrid)
    levels = reconcile(
        cell_values=measurements.region_values.values,
        cell_variances=measurements.region_values.variances,
        leaf_values=measurements.leaves.values,
        leaf_variances=measurements.leaves.variances[partition.offsets[:-1]],
        offsets=partition.offsets,
    )
    return Estimate(counts=levels.leaf_counts, variances=levels.leaf_variances)


def least_squares(partition: Partition, measurements: Measurements) -> Estimate:
    """All nodes of a tree made to agree by least squares."""
    assert isinstance(partition, Tree)
    nodes = solve(partition, measurements)
    return Estimate(counts=nodes.counts[partition.leaves], variances=nodes.variances[partition.leaves])


def bayes(partition: Partition, measurements: Measurements) -> Estimate:
    """Masses of a quadtree by Bayes' rule, split by split; the variances are those of least squares."""
    assert isinstance(partition, Tree)
    known = solve(partition, measurements)
    masses = split_masses(partition, known.sums, known.below_variances).masses
    return Estimate(counts=masses[partition.leaves], variances=known.variances[partition.leaves])


def belief(partition: Partition, measurements: Measurements) -> Estimate:
    """Masses of a quadtree by belief propagation over all its splits; the variances are those of least squares."""
    assert isinstance(partition, Tree)
    known = solve(partition, measurements)
    fit = split_masses(partition, known.sums, known.below_variances)
    for _ in range(2 if partition.cells <= FEW_LEAVES else 1):
        fit = replace(fit, prior_means=refined_means(known, fit.masses))
        fit = fit.around(partition, belief_masses(partition, measurements, fit))
    return Estimate(counts=fit.masses[partition.leaves], variances=known.variances[partition.leaves])


def haar(partition: Partition, measurements: Measurements) -> Estimate:
    """Cells of a grid restored from its wavelet coefficients; the noise of every cell varies alike."""
    assert isinstance(partition, Grid)
    wavelet = measurements.wavelet
    assert wavelet is not None
    restored = restore(wavelet.coefficients.values.reshape(wavelet.rows, wavelet.columns))
    variance = wavelet.coefficients.variances[0] * cell_energy(wavelet.rows) * cell_energy(wavelet.columns)
    return Estimate(
        counts=restored[: partition.rows, : partition.columns].ravel(), variances=np.full(partition.cells, variance)
    )


INFERENCES: Mapping[str, Inference] = MappingProxyType(
    {
        "direct": direct,
        "two-level": two_level,
        "two-level-sloped": two_level,  # its surface slopes, as the counts say
        "least-squares": least_squares,
        "bayes": bayes,
        "belief": belief,  # of before, read but no longer published (decision 10)
        "belief-2": belief,
        "haar": haar,
    }
)

# Inferences whose variances are those of another, which is faster.
VARIANCES_OF: Mapping[str, str] = MappingProxyType(
    {"bayes": "least-squares", "belief": "least-squares", "belief-2": "least-squares"}
)


def leaf_variances(inference: str, partition: Partition, measurements: Measurements) -> NDArray[np.float64]:
    """Variances of the noise of the leaves, shape (leaves,), without their counts where that is faster."""
    return INFERENCES[VARIANCES_OF.get(inference, inference)](partition, measurements).variances


def check_premises(inference: str, partition: Partition, measurements: Measurements) -> str | None:
    """Why an inference cannot be applied, or None if it can."""
    holds = PREMISES.get(inference)
    if holds is None:
        return f"the inference {inference[:40]!r} is not known to this version of hushgrid."
    if not holds(partition, measurements):
        return f"its structure and measurements do not fit the inference {inference!r}."
    return None


def _direct(partition: Partition, measurements: Measurements) -> bool:
    """A grid or areas, every leaf measured at one rate, nothing else measured."""
    index = measurements.leaves.rate_index
    return (
        isinstance(partition, Grid | Patchwork)
        and _only_leaves(measurements)
        and index[0] != NOT_MEASURED
        and bool(np.all(index == index[0]))
    )


def _two_level(partition: Partition, measurements: Measurements) -> bool:
    """A nested or grouped grid, its blocks measured in order, the leaves of each of them at one rate."""
    if not isinstance(partition, NestedGrid | GroupedGrid) or measurements.wavelet is not None:
        return False
    index, regions = measurements.leaves.rate_index, measurements.regions
    rate_of_cell = index[partition.offsets[:-1]]
    return (
        np.array_equal(regions.first, partition.offsets[:-1])
        and np.array_equal(regions.stop, partition.offsets[1:])
        and not np.any(rate_of_cell == NOT_MEASURED)
        and np.array_equal(index, np.repeat(rate_of_cell, np.diff(partition.offsets)))
    )


def _two_level_sloped(partition: Partition, measurements: Measurements) -> bool:
    """The same, and a nested grid."""
    return isinstance(partition, NestedGrid) and _two_level(partition, measurements)


def _least_squares(partition: Partition, measurements: Measurements) -> bool:
    """A tree, every measured region a node of it, every leaf determined."""
    if not isinstance(partition, Tree) or measurements.wavelet is not None:
        return False
    try:
        variances = solve(partition, measurements).variances
    except ArgumentError:
        return False
    return bool(np.isfinite(variances[partition.leaves]).all())


def _bayes(partition: Partition, measurements: Measurements) -> bool:
    """As for least squares, and all inner nodes of two columns and two rows."""
    return (
        _least_squares(partition, measurements)
        and isinstance(partition, Tree)
        and bool(np.isin(partition.splits, (0, 2)).all())
    )


def _haar(partition: Partition, measurements: Measurements) -> bool:
    """A grid, all coefficients of it padded to powers of two, nothing else measured."""
    wavelet = measurements.wavelet
    return (
        isinstance(partition, Grid)
        and wavelet is not None
        and (wavelet.rows, wavelet.columns) == (padded(partition.rows), padded(partition.columns))
        and len(measurements.region_values.values) == 0
        and bool(np.all(measurements.leaves.rate_index == NOT_MEASURED))
    )


def _only_leaves(measurements: Measurements) -> bool:
    return len(measurements.region_values.values) == 0 and measurements.wavelet is None


PREMISES: Mapping[str, Callable[[Partition, Measurements], bool]] = MappingProxyType(
    {
        "direct": _direct,
        "two-level": _two_level,
        "two-level-sloped": _two_level_sloped,
        "least-squares": _least_squares,
        "bayes": _bayes,
        "belief": _bayes,
        "belief-2": _bayes,
        "haar": _haar,
    }
)
