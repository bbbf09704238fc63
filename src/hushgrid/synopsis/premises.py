"""What each inference takes for granted of a structure and its measurements; a file could say otherwise."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from hushgrid.geometry.grid import Grid
from hushgrid.geometry.nested import NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.inference.measurements import NOT_MEASURED, Measurements


def check_premises(inference: str, partition: Partition, measurements: Measurements) -> str | None:
    """Why an inference cannot be applied, or None if it can."""
    holds = PREMISES.get(inference)
    if holds is None:
        return f"the inference {inference[:40]!r} is not known to this version of hushgrid."
    if not holds(partition, measurements):
        return f"its structure and measurements do not fit the inference {inference!r}."
    return None


def _direct(partition: Partition, measurements: Measurements) -> bool:
    """A grid, every leaf measured at one rate, nothing else measured."""
    index = measurements.leaves.rate_index
    return (
        isinstance(partition, Grid)
        and len(measurements.region_values.values) == 0
        and index[0] != NOT_MEASURED
        and bool(np.all(index == index[0]))
    )


def _two_level(partition: Partition, measurements: Measurements) -> bool:
    """A nested grid, its first-level cells measured in order, the leaves of each of them at one rate."""
    if not isinstance(partition, NestedGrid):
        return False
    index, regions = measurements.leaves.rate_index, measurements.regions
    rate_of_cell = index[partition.offsets[:-1]]
    return (
        np.array_equal(regions.first, partition.offsets[:-1])
        and np.array_equal(regions.stop, partition.offsets[1:])
        and not np.any(rate_of_cell == NOT_MEASURED)
        and np.array_equal(index, np.repeat(rate_of_cell, np.diff(partition.offsets)))
    )


PREMISES: Mapping[str, Callable[[Partition, Measurements], bool]] = MappingProxyType(
    {"direct": _direct, "two-level": _two_level}
)
