"""Points out of well-known binary, one row at a time. Private side."""

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled

NOT_A_NUMBER = np.float64(np.nan).view(np.uint64)

# Flags of EWKB in the high bits of the type; ISO adds 1000 for Z, 2000 for M, 3000 for both.
HAS_Z = np.uint32(0x8000_0000)
HAS_M = np.uint32(0x4000_0000)
HAS_SRID = np.uint32(0x2000_0000)
CODE = np.uint32(0x1FFF_FFFF)
POINT = 1


@compiled
def _unsigned(data: NDArray[np.uint8], first: int, size: int, little_endian: bool) -> np.uint64:
    value = np.uint64(0)
    for i in range(size):
        place = size - 1 - i if little_endian else i
        value = (value << np.uint64(8)) | np.uint64(data[first + place])
    return value


@compiled
def _ordinates(kind: np.uint32) -> int:
    """Numbers a point of this type holds, or 0 if it is no point."""
    code = kind & CODE
    if code % 1000 != POINT or code > 3000 + POINT:
        return 0
    iso = code // 1000
    has_z = iso == 1 or iso == 3 or (kind & HAS_Z) != 0
    has_m = iso == 2 or iso == 3 or (kind & HAS_M) != 0
    return 2 + int(has_z) + int(has_m)


@compiled
def read_points(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int32] | NDArray[np.int64],
    longitude_bits: NDArray[np.uint64],
    latitude_bits: NDArray[np.uint64],
) -> None:
    """Write the first two ordinates of every point, as the bits of float64; NaN for whatever is not a point.

    Reads ISO WKB and EWKB of both byte orders. A row must be a point from its first byte to its last.

    Parameters
    ----------
    data, offsets : array
        Row i is the bytes from ``offsets[i]`` to ``offsets[i + 1]``.
    longitude_bits, latitude_bits : array of uint64, shape (offsets.size - 1,)
    """
    for i in range(offsets.size - 1):
        longitude_bits[i] = latitude_bits[i] = NOT_A_NUMBER
        first, stop = int(offsets[i]), int(offsets[i + 1])
        if stop - first < 5 or data[first] > 1:
            continue
        little_endian = data[first] == 1
        kind = np.uint32(_unsigned(data, first + 1, 4, little_endian))
        ordinates = _ordinates(kind)
        head = 9 if kind & HAS_SRID else 5
        if ordinates == 0 or stop - first != head + 8 * ordinates:
            continue
        longitude_bits[i] = _unsigned(data, first + head, 8, little_endian)
        latitude_bits[i] = _unsigned(data, first + head + 8, 8, little_endian)
