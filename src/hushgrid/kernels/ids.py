"""Bytes of user ids: hashed, trimmed, copied. Private side.

The hash divides work and decides nothing: ids are compared in full.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled
from hushgrid.kernels.lines import Text, is_space

FNV_OFFSET, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # Fowler, Noll, Vo: FNV-1a, 64 bits
FOLD = np.uint64(32)


@compiled
def hash_ids(content: Text, edges: NDArray[np.int64], salt: int, hashes: NDArray[np.uint64]) -> None:
    """Write a hash of every id; another salt makes another hash.

    Parameters
    ----------
    content, edges : array of uint8, array of int64, shape (ids + 1,)
        The bytes of all ids, and where each begins and the last one ends.
    salt : int
    hashes : array of uint64, shape (ids,)
    """
    for i in range(hashes.size):
        value = (FNV_OFFSET ^ np.uint64(salt)) * FNV_PRIME
        for k in range(edges[i], edges[i + 1]):
            value = (value ^ np.uint64(content[k])) * FNV_PRIME
        hashes[i] = value ^ (value >> FOLD)  # the low bits of FNV alone do not depend on high bits of the text


@compiled
def trim_spans(text: Text, spans: NDArray[np.int64]) -> None:
    """Narrow every span, first and last byte half-open, by the blanks at its ends."""
    for row in range(spans.shape[0]):
        first, stop = spans[row, 0], spans[row, 1]
        while first < stop and is_space(text[first]):
            first += 1
        while first < stop and is_space(text[stop - 1]):
            stop -= 1
        spans[row, 0], spans[row, 1] = first, stop


@compiled
def copy_spans(text: Text, spans: NDArray[np.int64], content: Text) -> None:
    """Write the bytes of all spans one after the other."""
    place = 0
    for row in range(spans.shape[0]):
        for k in range(spans[row, 0], spans[row, 1]):
            content[place] = text[k]
            place += 1
