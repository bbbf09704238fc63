"""Whole numbers as compact text inside a page; ``payload.mjs`` reads them back."""

import base64
import gzip

import numpy as np
from numpy.typing import ArrayLike

BITS = 8  # of a plane
LEVEL = 6  # of gzip; the highest takes six times as long to save one per cent


class Payload:
    r"""Named arrays of whole numbers, as bytes that compress well.

    Signs go to the lowest bit. The lowest bytes of all numbers come first, then the next ones, for as many planes as
    the largest number needs: small numbers leave the upper planes all zeros, and what is noise stays together.

    Examples
    --------
    >>> payload = Payload()
    >>> payload.add("sides", [3, -1, 300])
    >>> payload.contents, payload.planes
    ([['sides', 3, 2]], [b'\x06\x01X\x00\x00\x02'])
    """

    def __init__(self) -> None:
        self.contents: list[list[str | int]] = []
        self.planes: list[bytes] = []

    def add(self, name: str, values: ArrayLike) -> None:
        """Append an array; numbers may have up to 53 bits, as in JavaScript."""
        signed = np.asarray(values, np.int64)
        coded = (signed << 1) ^ (signed >> 63)
        count = -(-int(coded.max(initial=0)).bit_length() // BITS)
        self.contents.append([name, len(coded), count])
        self.planes.append(
            b"".join(((coded >> (BITS * plane)) & 0xFF).astype(np.uint8).tobytes() for plane in range(count))
        )

    @property
    def text(self) -> str:
        """All of it, compressed, in base64; the same numbers always make the same text."""
        return base64.b64encode(gzip.compress(b"".join(self.planes), LEVEL, mtime=0)).decode("ascii")
