"""The unnormalised Haar wavelet transform, in whole numbers.

Reference: Xiao, Wang, Gehrke: "Differential Privacy via Wavelet Transforms", TKDE 2011. Each coefficient here is the
paper's, times the paper's weight for it; that makes all of them integers, and one record weighs the same in each.

Along one axis of M cells, M a power of two, coefficient 0 is the sum of all cells, and coefficient ``2**k + j`` is the
sum over the left half minus that over the right half of the j-th of ``2**k`` equal blocks. A grid is transformed along
its rows and then along its columns.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled


@compiled
def overlap(low: float, high: float, first: float, stop: float) -> float:
    """Length that two intervals share."""
    return max(min(high, stop) - max(low, first), 0.0)


@compiled
def block_weight(low: float, high: float, first: int, size: int) -> float:
    """Weight of a block's coefficient in a sum.

    It is the overlap with the left half minus that with the right half, over the size of the block.
    """
    middle = first + size // 2
    return (overlap(low, high, first, middle) - overlap(low, high, middle, first + size)) / size


@compiled
def haar_energy(low: float, high: float, cells: int) -> float:
    """Sum of squared coefficient weights of a range.

    Blocks that lie all inside or all outside have weight zero, so that of each size only the two that hold the ends
    are looked at.

    Parameters
    ----------
    low, high : float
        In units of cells; ends inside a cell stand for the fraction of it that is summed.
    cells : int
        Cells along the padded axis, a power of two.
    """
    whole = (high - low) / cells
    energy = whole * whole
    size = cells
    while size > 1:
        first, last = int(low) // size * size, int(high) // size * size
        weight = block_weight(low, high, first, size)
        energy += weight * weight
        if last != first:
            weight = block_weight(low, high, last, size)
            energy += weight * weight
        size //= 2
    return energy


def padded(cells: int) -> int:
    """Smallest power of two that is at least `cells`.

    Examples
    --------
    >>> padded(1), padded(5), padded(8)
    (1, 8, 8)
    """
    return 1 << (cells - 1).bit_length()


def touched(rows: int, columns: int) -> int:
    """Number of coefficients that one cell is in.

    It is ``(1 + log2 rows) (1 + log2 columns)``; both sides are powers of two.

    Along one axis a cell is part of the sum and of one block of each size.

    Examples
    --------
    >>> touched(1, 1), touched(4, 8)
    (1, 12)
    """
    return rows.bit_length() * columns.bit_length()


def transform(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Haar coefficients of a grid of whole numbers.

    The grid is padded with zeros to powers of two.

    Adding one to a cell changes `touched` coefficients, each by one, up or down.

    Parameters
    ----------
    counts : array of int, shape (rows, columns)

    Returns
    -------
    array of int, shape (padded rows, padded columns)

    Examples
    --------
    >>> transform(np.array([[5, 3, 1]]))
    array([[9, 7, 2, 1]])
    """
    rows, columns = counts.shape
    values = np.zeros((padded(rows), padded(columns)), np.int64)
    values[:rows, :columns] = counts
    return _differences(_differences(values).T).T


def restore(coefficients: NDArray[np.int64]) -> NDArray[np.float64]:
    """The grid that has these coefficients.

    Each coefficient, divided by the size of its block, is added to the block's cells with its signs.

    Parameters
    ----------
    coefficients : array of int, shape (rows, columns), powers of two

    Examples
    --------
    >>> restore(np.array([[9, 7, 2, 1]]))
    array([[5., 3., 1., 0.]])
    """
    return _halves(_halves(coefficients.astype(np.float64)).T).T


def cell_energy(cells: int) -> float:
    """Variance of one restored cell along an axis.

    Coefficients have variance one, and the number of cells M is a power of two.

    It is ``1 / M**2`` for the sum and ``1 / s**2`` for the blocks of s = 2, 4, ..., M cells: ``(1 + 2 / M**2) / 3``.

    Examples
    --------
    >>> cell_energy(1), cell_energy(2)
    (1.0, 0.5)
    """
    return (1 + 2 / cells**2) / 3


def _differences(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Coefficients along the last axis."""
    coefficients = np.empty_like(values)
    sums = values
    while (size := sums.shape[1]) > 1:
        left, right = sums[:, 0::2], sums[:, 1::2]
        coefficients[:, size // 2 : size] = left - right
        sums = left + right
    coefficients[:, :1] = sums
    return coefficients


def _halves(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cells along the last axis.

    A block's sum and difference give the sums of its halves.
    """
    sums = coefficients[:, :1]
    while (size := sums.shape[1]) < coefficients.shape[1]:
        differences = coefficients[:, size : 2 * size]
        halves = np.empty((len(sums), 2 * size))
        halves[:, 0::2] = (sums + differences) / 2
        halves[:, 1::2] = (sums - differences) / 2
        sums = halves
    return sums
