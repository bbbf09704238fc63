"""Query rectangles: arrays of shape (n, 4) holding west, south, east, north."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.errors import ArgumentError


def check_rects(rects: ArrayLike) -> NDArray[np.float64]:
    """Rectangles as a contiguous float64 array of shape (n, 4), or an error that names the first bad row.

    A rectangle may reach outside the domain, without bound if need be: what lies outside counts nothing.

    Examples
    --------
    >>> check_rects([-74, 40, -73, 41])
    array([[-74.,  40., -73.,  41.]])
    """
    try:
        checked = np.ascontiguousarray(rects, dtype=np.float64)
    except (TypeError, ValueError):
        msg = "rectangles must be numbers, in rows of west, south, east, north."
        raise ArgumentError(msg) from None
    if checked.size == 0:
        return np.empty((0, 4))
    checked = np.atleast_2d(checked)
    if checked.ndim != 2 or checked.shape[1] != 4:
        msg = f"rectangles must have shape (n, 4): west, south, east, north; got {checked.shape}."
        raise ArgumentError(msg)
    _refuse(checked, np.asarray(np.isnan(checked).any(axis=1)), "holds NaN")
    _refuse(checked, checked[:, 2] < checked[:, 0], "is inverted: east is below west")
    _refuse(checked, checked[:, 3] < checked[:, 1], "is inverted: north is below south")
    _refuse(checked, checked[:, 2] == checked[:, 0], "is empty: west equals east")
    _refuse(checked, checked[:, 3] == checked[:, 1], "is empty: south equals north")
    return checked


def _refuse(rects: NDArray[np.float64], bad: NDArray[np.bool_], complaint: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        values = ",".join(f"{value:g}" for value in rects[row])
        msg = f"rectangle {row} ({values}) {complaint}. The order is west, south, east, north."
        raise ArgumentError(msg)
