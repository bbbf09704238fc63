"""Variance by noise of sums over what areas cover of a grid, where wavelet coefficients were measured."""

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.grid import Grid
from hushgrid.inference.measurements import Wavelet
from hushgrid.synopsis.cover import Cover


class WaveletNoise:
    """Noise of a grid restored from Haar coefficients, all of one variance."""

    def __init__(self, grid: Grid, wavelet: Wavelet) -> None:
        self._grid_columns = grid.columns
        self._rows, self._columns = wavelet.rows, wavelet.columns
        self._variance = float(wavelet.coefficients.variances[0])

    def variances(self, cover: Cover) -> Floats:
        """Variance of every sum, shape (areas,)."""
        single = cover.node_by_node()
        rows, columns = np.divmod(single.runs[:, 0] - 1, self._grid_columns)  # node 0 is the domain
        noise = np.zeros(cover.areas)
        for area, (first, stop) in enumerate(zip(single.starts[:-1], single.starts[1:], strict=True)):
            if first < stop:
                here = slice(first, stop)
                noise[area] = self._variance * self._energy(rows[here], columns[here], single.area_shares[here])
        return noise

    def _energy(self, rows: Indices, columns: Indices, weights: Floats) -> float:
        """Sum of the squared weights of all coefficients in a weighted sum of cells."""
        bottom, left = rows.min(), columns.min()
        window = np.zeros((rows.max() - bottom + 1, columns.max() - left + 1))
        window[rows - bottom, columns - left] = weights
        along = coefficient_weights(window, int(bottom), self._rows)
        across = coefficient_weights(along.T, int(left), self._columns)
        return float(np.sum(across**2))


def coefficient_weights(weights: Floats, start: int, cells: int) -> Floats:
    """Weights of the Haar coefficients of `cells` cells, where those from `start` on have weights and others zero.

    A coefficient is a block's left half minus its right half, and adds to a cell with that sign, divided by the size
    of the block (`hushgrid.inference.haar`). Coefficients whose block has no weight are left out.

    Parameters
    ----------
    weights : array, shape (n, ...)
        Along the first axis.
    cells : int
        A power of two.

    Examples
    --------
    >>> coefficient_weights(np.array([1.0, 1.0]), 1, 4)
    array([-0.5,  0.5,  0. ,  0.5])
    """
    parts, sums, size = [], weights, 1
    while size < cells:
        ends = (start % 2, (start + len(sums)) % 2)
        padded = np.pad(sums, [ends] + [(0, 0)] * (sums.ndim - 1))
        size *= 2
        parts.append((padded[0::2] - padded[1::2]) / size)
        sums = padded[0::2] + padded[1::2]
        start //= 2
    return np.concatenate([*parts, sums / size])
