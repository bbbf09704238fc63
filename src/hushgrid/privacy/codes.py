"""Noise as codes: drawn in blocks, added to counts.

The guide gives the digit of a word from its leading bits; where these do not tell, it gives ``~d``, and thresholds
are scanned from ``d`` on. A word equal to a threshold is undecided: its index goes on a list, and
`hushgrid.privacy.digit` reads more bits for it. Thresholds never increase and end with a zero, which ends every scan.

The zigzag code of noise 0, -1, 1, -2, 2 ... is 0, 1, 2, 3, 4 .... Its bits are cut into digits, which are independent
and take one word each (docs/privacy/noise.md, sections 1 and 2). A coder knows the digits; this file feeds it words,
and has it settle the draws that these do not decide.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.compiled import compiled
from hushgrid.errors import ArgumentError
from hushgrid.privacy.bits import WORD_BITS, Bits

# Noise decided here is below 2**61 in size, so its sum with a count within this limit fits int64.
COUNT_LIMIT = 2**62


@compiled
def place_digit(
    words: NDArray[np.uint32],
    thresholds: NDArray[np.uint32],
    guide: NDArray[np.int16],
    guide_shift: int,
    place: int,
    first: bool,
    codes: NDArray[np.int64],
    undecided: NDArray[np.int32],
    found: int,
) -> int:
    """Write one digit of every code.

    The first digit overwrites the code, later ones are added at their place.

    Indices of undecided words are appended to `undecided`, whose first `found` entries are in use. Returns the new
    number of entries in use.
    """
    size = len(words)
    shift = np.uint32(guide_shift)
    digits = np.empty(size, np.int16)
    unsure = np.empty(size, np.int32)
    for i in range(size):
        digits[i] = guide[words[i] >> shift]
    scans = 0
    for i in range(size):
        # No branch: always written, kept only where the guide was unsure.
        unsure[scans] = i
        scans += digits[i] < 0
    for j in range(scans):
        i = unsure[j]
        word = words[i]
        digit = np.int64(~digits[i])
        while word < thresholds[digit]:
            digit += 1
        if word == thresholds[digit]:
            undecided[found] = i
            found += 1
        digits[i] = digit
    for i in range(size):
        code = np.int64(digits[i]) << place
        codes[i] = code if first else codes[i] + code
    return found


@compiled
def place_mixed_digit(
    words: NDArray[np.uint32],
    rate_index: NDArray[np.int32],
    thresholds: NDArray[np.uint32],
    starts: NDArray[np.int64],
    guides: NDArray[np.int16],
    guide_shift: int,
    places: NDArray[np.int64],
    first: bool,
    codes: NDArray[np.int64],
    undecided: NDArray[np.int32],
    found: int,
) -> int:
    """Do as `place_digit`, each word at its own rate.

    The rate of a word gives its thresholds, guide and place.
    """
    size = len(words)
    shift = np.uint32(guide_shift)
    digits = np.empty(size, np.int16)
    unsure = np.empty(size, np.int32)
    for i in range(size):
        digits[i] = guides[rate_index[i], words[i] >> shift]
    scans = 0
    for i in range(size):
        unsure[scans] = i
        scans += digits[i] < 0
    for j in range(scans):
        i = unsure[j]
        word = words[i]
        start = starts[rate_index[i]]
        digit = np.int64(~digits[i])
        while word < thresholds[start + digit]:
            digit += 1
        if word == thresholds[start + digit]:
            undecided[found] = i
            found += 1
        digits[i] = digit
    for i in range(size):
        code = np.int64(digits[i]) << places[rate_index[i]]
        codes[i] = code if first else codes[i] + code
    return found


@compiled
def add_to_counts(true_counts: NDArray[np.int64], codes: NDArray[np.int64], noisy_counts: NDArray[np.int64]) -> bool:
    """Add the noise that the codes stand for.

    The codes 0, 1, 2, 3, 4 ... stand for the noise 0, -1, 1, -2, 2 ....

    Returns whether every count was within `COUNT_LIMIT`. If not, the sums mean nothing.
    """
    excess = np.int64(0)
    for i in range(len(codes)):
        # Negative exactly for a count outside: above the limit it wraps.
        excess |= true_counts[i] + COUNT_LIMIT
        noisy_counts[i] = true_counts[i] + ((codes[i] >> 1) ^ -(codes[i] & 1))
    return bool(excess >= 0)


BLOCK = 2**14  # draws, few enough that their words and codes stay in the cache
INT64 = np.iinfo(np.int64)


class Coder(Protocol):
    """Turns uniform words into codes."""

    @property
    def word_bits(self) -> int:
        """Bits of a word, at most 32."""

    @property
    def words_per_draw(self) -> int:
        """Number of digits."""

    def encode(
        self, words: NDArray[np.uint32], where: slice, codes: NDArray[np.int64], undecided: NDArray[np.int32]
    ) -> int:
        """Write the codes of the draws `where`.

        Row j of `words` has the words of their digits j.

        Indices of draws with a word that does not suffice go into `undecided`. Returns how many there are.
        """

    def settle(self, words: list[int], draw: int, bits: Bits) -> int:
        """Code of one draw, reading more bits as needed.

        Digits are settled from the lowest.
        """


class CodeBlock(NamedTuple):
    """Codes of neighbouring draws."""

    where: slice
    codes: NDArray[np.int64]
    """Valid until the next block is asked for."""
    settled: dict[int, int]
    """Codes of any size, by index in the block. They replace those in `codes`."""


def code_blocks(size: int, coder: Coder, bits: Bits) -> Iterator[CodeBlock]:
    """Draw codes, block by block."""
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
    """Draw noise as codes and add it to counts."""
    noisy_counts = np.empty_like(true_counts)
    flat_counts, flat_noisy = true_counts.reshape(-1), noisy_counts.reshape(-1)
    for block in code_blocks(flat_counts.size, coder, bits):
        add_block(flat_counts[block.where], block, flat_noisy[block.where])
    return noisy_counts


def add_block(true_counts: NDArray[np.int64], block: CodeBlock, noisy_counts: NDArray[np.int64]) -> None:
    """Add one block of noise to its counts.

    Privacy
    -------
    A sum that does not fit int64 is clamped, which is post-processing. Noise itself is never clamped.
    """
    if not add_to_counts(true_counts, block.codes, noisy_counts):
        msg = "counts must be within plus or minus 2**62."
        raise ArgumentError(msg)
    for i, code in block.settled.items():
        total = int(true_counts[i]) + (code >> 1 ^ -(code & 1))
        noisy_counts[i] = max(INT64.min, min(total, INT64.max))


def check_counts(true_counts: ArrayLike) -> NDArray[np.int64]:
    """Counts as int64, judged by their type alone."""
    counts = np.asarray(true_counts)
    if not np.can_cast(counts.dtype, np.int64):
        msg = f"counts must be integers that fit int64, got an array of {counts.dtype}."
        raise ArgumentError(msg)
    return np.ascontiguousarray(counts, np.int64).reshape(counts.shape)
