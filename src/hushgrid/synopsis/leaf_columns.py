"""The leaves of a partition as columns of a table: where they are, what they are called, and their shapes."""

import numpy as np
import pyarrow as pa

from hushgrid.geometry.areas import Patchwork
from hushgrid.geometry.partition import Partition
from hushgrid.synopsis.patches import Patches
from hushgrid.synopsis.polygons import polygons

BOUNDS = ("west", "south", "east", "north")


def places(partition: Partition, first: int = 0, stop: int | None = None) -> dict[str, pa.Array]:
    """West, south, east, north of the leaves `first` to `stop`, and before them the names of areas.

    Examples
    --------
    >>> from hushgrid.geometry.grid import Grid
    >>> from tests.plain import UNIT_SQUARE
    >>> list(places(Grid(domain=UNIT_SQUARE, rows=1, columns=1)))
    ['west', 'south', 'east', 'north']
    """
    bounds = partition.bounds(first, stop).T
    columns = {name: pa.array(np.ascontiguousarray(values)) for name, values in zip(BOUNDS, bounds, strict=True)}
    return {**names(partition, first, stop), **columns}


def names(partition: Partition, first: int = 0, stop: int | None = None) -> dict[str, pa.Array]:
    """A column of the names of areas; other leaves have none."""
    return {"name": pa.array(partition.names[first:stop])} if isinstance(partition, Patchwork) else {}


def shapes(partition: Partition, first: int = 0, stop: int | None = None) -> pa.BinaryArray:
    """The leaves `first` to `stop` in well-known binary: polygons, or multipolygons where they are areas."""
    if isinstance(partition, Patchwork):
        return Patches(partition).wkb(first, stop)
    return polygons(partition.bounds(first, stop))


def shape_type(partition: Partition) -> str:
    """The type of those geometries."""
    return "MultiPolygon" if isinstance(partition, Patchwork) else "Polygon"
