"""Leaf estimates, and the inferences that make them, by the name a release file carries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.nested import NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.inference.measurements import Measurements
from hushgrid.inference.two_level import reconcile


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
    """First-level cells and their leaves made to agree by least squares."""
    assert isinstance(partition, NestedGrid)
    levels = reconcile(
        cell_values=measurements.region_values.values,
        cell_variances=measurements.region_values.variances,
        leaf_values=measurements.leaves.values,
        leaf_variances=measurements.leaves.variances[partition.offsets[:-1]],
        offsets=partition.offsets,
    )
    return Estimate(counts=levels.leaf_counts, variances=levels.leaf_variances)


INFERENCES: Mapping[str, Inference] = MappingProxyType({"direct": direct, "two-level": two_level})
