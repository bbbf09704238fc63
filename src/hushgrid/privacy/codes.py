"""Noise as codes, drawn block by block and added to counts.

The zigzag code of noise 0, -1, 1, -2, 2 ... is 0, 1, 2, 3, 4 .... Its bits are cut into digits, which are independent
and take one word each (docs/privacy/noise.md, sections 1 and 2). A coder knows the digits; this file feeds it words,
and has it settle the draws that these do not decide.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.errors import ArgumentError
from hushgrid.kernels.noise import add_to_counts
from hushgrid.privacy.bits import WORD_BITS, Bits

BLOCK = 2**14  # draws; their words and codes stay in the cache
INT64 = np.iinfo(np.int64)


class Coder(Protocol):
    """What turns uniform words into codes."""

    @property
    def word_bits(self) -> int:
        """Bits of a word, at most 32."""

    @property
    def words_per_draw(self) -> int:
        """Number of digits."""

    def encode(
        self, words: NDArray[np.uint32], where: slice, codes: NDArray[np.int64], undecided: NDArray[np.int32]
    ) -> int:
        """Put the codes of the draws `where` into `codes`; row j of `words` has the words of their digits j.

        Indices of draws with a word that does not suffice go into `undecided`; how many comes back.
        """

    def settle(self, words: list[int], draw: int, bits: Bits) -> int:
        """Code of one draw, reading as many more bits as it takes, digit by digit from the lowest."""


class CodeBlock(NamedTuple):
    """Codes of neighbouring draws."""

    where: slice
    codes: NDArray[np.int64]
    """Valid until the next block is asked for."""
    settled: dict[int, int]
    """Codes of any size, by index in the block, that take the place of those in `codes`."""


def code_blocks(size: int, coder: Coder, bits: Bits) -> Iterator[CodeBlock]:
    """Draw codes."""
    codes = np.empty(min(size, BLOCK), np.int64)
    undecided = np.empty(coder.words_per_draw * len(codes), np.int32)
    for start in range(0, size, BLOCK):
        where = slice(start, min(start + BLOCK, size))
        length = where.stop - start
        words = bits.words(coder.words_per_draw * length).reshape(coder.words_per_draw, length)
        if coder.word_bits < WORD_BITS:
            words = words >> np.uint32(WORD_BITS - coder.word_bits)
        found = coder.encode(words, where, codes[:length], undecided)
        unsettled = sorted(set(undecided[:found].tolist()))
        settled = {i: coder.settle(words[:, i].tolist(), start + i, bits) for i in unsettled}
        yield CodeBlock(where, codes[:length], settled)


def add_codes(true_counts: NDArray[np.int64], coder: Coder, bits: Bits) -> NDArray[np.int64]:
    """Draw a zigzag code for every count, and add the noise it stands for."""
    noisy_counts = np.empty_like(true_counts)
    flat_counts, flat_noisy = true_counts.reshape(-1), noisy_counts.reshape(-1)
    for block in code_blocks(flat_counts.size, coder, bits):
        add_block(flat_counts[block.where], block, flat_noisy[block.where])
    return noisy_counts


def add_block(true_counts: NDArray[np.int64], block: CodeBlock, noisy_counts: NDArray[np.int64]) -> None:
    """Put the counts, plus the noise that the codes stand for, into `noisy_counts`.

    Privacy
    -------
    A sum that does not fit int64 is clamped, which is post-processing; noise itself never is.
    """
    if not add_to_counts(true_counts, block.codes, noisy_counts):
        msg = "counts must be within plus or minus 2**62."
        raise ArgumentError(msg)
    for i, code in block.settled.items():
        total = int(true_counts[i]) + (code >> 1 ^ -(code & 1))
        noisy_counts[i] = max(INT64.min, min(total, INT64.max))


def check_counts(true_counts: ArrayLike) -> NDArray[np.int64]:
    """Counts as a contiguous int64 array, or an error that looks at their type alone."""
    counts = np.asarray(true_counts)
    if not np.can_cast(counts.dtype, np.int64):
        msg = f"counts must be integers that fit int64, got an array of {counts.dtype}."
        raise ArgumentError(msg)
    return np.ascontiguousarray(counts, np.int64).reshape(counts.shape)
