"""The leaves of a partition as table columns.

Columns say where leaves are, what they are called, and which shape they have.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.answering.areas import AreaShapes
from hushgrid.geometry.areas import AreaPartition, are_h3_indexes
from hushgrid.geometry.domain import BOUNDS
from hushgrid.geometry.partition import Structure

# Columns of west, south, east, north that make a closed ring, counterclockwise from the south-west corner.
RING = np.array([[0, 1], [2, 1], [2, 3], [0, 3], [0, 1]])

WKB_POLYGON = np.dtype(
    [
        ("byte_order", "u1"),
        ("geometry_type", "<u4"),
        ("rings", "<u4"),
        ("points", "<u4"),
        ("coordinates", "<f8", RING.shape),
    ]
)
LITTLE_ENDIAN, POLYGON = 1, 3


def polygons(bounds: NDArray[np.float64]) -> pa.BinaryArray:
    """Rectangles as polygons of 93 bytes each.

    The result is an Arrow array of shape (n,).

    Parameters
    ----------
    bounds : array of float, shape (n, 4)
        West, south, east, north of each.

    Examples
    --------
    >>> polygons(np.array([[0.0, 0.0, 2.0, 1.0]]))[0].as_py()[:13].hex()
    '01030000000100000005000000'
    """
    wkb = np.empty(len(bounds), WKB_POLYGON)
    wkb["byte_order"] = LITTLE_ENDIAN
    wkb["geometry_type"] = POLYGON
    wkb["rings"] = 1
    wkb["points"] = len(RING)
    wkb["coordinates"] = bounds[:, RING]
    offsets = np.arange(len(bounds) + 1, dtype=np.int32) * np.int32(WKB_POLYGON.itemsize)
    return pa.BinaryArray.from_buffers(pa.binary(), len(bounds), [None, pa.py_buffer(offsets), pa.py_buffer(wkb)])


def places(partition: Structure, first: int = 0, stop: int | None = None) -> dict[str, pa.Array]:
    """Names and bounds of the leaves `first` to `stop`.

    Bounds are west, south, east and north. Only areas have names.

    Examples
    --------
    >>> from hushgrid.geometry.domain import Domain
    >>> from hushgrid.geometry.grid import Grid
    >>> list(places(Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=1, columns=1)))
    ['west', 'south', 'east', 'north']
    """
    bounds = partition.bounds(first, stop).T
    columns = {name: pa.array(np.ascontiguousarray(values)) for name, values in zip(BOUNDS, bounds, strict=True)}
    return {**names(partition, first, stop), **columns}


def names(partition: Structure, first: int = 0, stop: int | None = None) -> dict[str, pa.Array]:
    """A column of names, for areas only.

    H3 cells have another one, where tools look for indexes.
    """
    labels = ["name", "h3"] if are_h3_indexes(partition.names) else ["name"] if partition.names else []
    return {label: pa.array(partition.names[first:stop]) for label in labels}


def shapes(partition: Structure, first: int = 0, stop: int | None = None) -> pa.BinaryArray:
    """The leaves `first` to `stop` in well-known binary.

    Areas are multipolygons, all other leaves polygons.
    """
    if isinstance(partition, AreaPartition):
        return AreaShapes(partition).wkb(first, stop)
    return polygons(partition.bounds(first, stop))


def shape_type(partition: Structure) -> str:
    """The geometry type of the leaves."""
    return "Polygon" if partition.tiles else "MultiPolygon"
