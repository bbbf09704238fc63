"""Cells as polygons, in well-known binary (OGC Simple Features, section 8.2)."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
    """Rectangles as polygons of 93 bytes each, an Arrow array of shape (n,).

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
