"""What each inference takes for granted of a structure and its measurements; a file could say otherwise."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import Patchwork
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.tree import Tree
from hushgrid.inference.haar import padded
from hushgrid.inference.measurements import NOT_MEASURED, Measurements
from hushgrid.inference.tree_least_squares import solve


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
