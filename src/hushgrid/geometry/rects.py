"""Query rectangles: west, south, east, north, shape (n, 4)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain


def check_rects(rects: ArrayLike) -> NDArray[np.float64]:
    """Rectangles as contiguous float64, shape (n, 4).

    An error names the first bad row.

    A rectangle may reach outside the domain, without bound if need be: what lies outside counts nothing.

    Examples
    --------
    >>> check_rects([-74, 40, -73, 41])
    array([[-74.,  40., -73.,  41.]])
    """
    try:
        checked = _doubles(rects)
    except (TypeError, ValueError, OverflowError):
        msg = "rectangles must be numbers, in rows of west, south, east, north."
        raise ArgumentError(msg) from None
    if checked.size == 0:
        return np.empty((0, 4))
    checked = np.atleast_2d(checked)
    if checked.ndim != 2 or checked.shape[1] != 4:
        msg = f"rectangles must have shape (n, 4): west, south, east, north; got {checked.shape}."
        raise ArgumentError(msg)
    good = (checked[:, 0] < checked[:, 2]) & (checked[:, 1] < checked[:, 3])  # false for NaN too
    if not good.all():
        row = int(np.argmin(good))
        values = ",".join(f"{value:g}" for value in checked[row])
        msg = f"rectangle {row} ({values}) {_complaint(checked[row])}. The order is west, south, east, north."
        raise ArgumentError(msg)
    return checked


def area_shares(rects: NDArray[np.float64], domain: Domain) -> NDArray[np.float64]:
    """Share of the domain that each rectangle covers.

    Examples
    --------
    >>> area_shares(np.array([[-1.0, 0.0, 1.0, 1.0]]), Domain(west=0, south=0, east=2, north=2))
    array([0.25])
    """
    west, south, east, north = domain.bounds
    across = np.clip(rects[:, 2], west, east) - np.clip(rects[:, 0], west, east)
    along = np.clip(rects[:, 3], south, north) - np.clip(rects[:, 1], south, north)
    return np.asarray((across / domain.width) * (along / domain.height))


def _doubles(rects: ArrayLike) -> NDArray[np.float64]:
    given = np.asarray(rects)
    if given.dtype.kind == "c" or (given.dtype.kind == "O" and any(isinstance(each, complex) for each in given.flat)):
        raise TypeError  # numpy would drop the imaginary part
    return np.ascontiguousarray(given, dtype=np.float64)


def _complaint(rect: NDArray[np.float64]) -> str:
    west, south, east, north = rect
    if np.isnan(rect).any():
        return "holds NaN"
    if east < west:
        return "is inverted: east is below west"
    if north < south:
        return "is inverted: north is below south"
    return "is empty: west equals east" if west == east else "is empty: south equals north"
