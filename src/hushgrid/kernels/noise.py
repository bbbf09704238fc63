"""Inner loops of the exact noise: uniform words to digits, digits to codes, codes to noise on counts.

The guide gives the digit of a word from its leading bits; where these do not tell, it gives ``~d``, and thresholds
are scanned from ``d`` on. A word equal to a threshold is undecided: its index goes on a list, and
`hushgrid.privacy.digit` reads more bits for it. Thresholds never increase and end with a zero, which ends every scan.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled

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
    """Put the digit of every word at its place in the codes, which the first digit overwrites.

    Indices of undecided words are appended to `undecided`, of which `found` entries are in use; the new number of
    these comes back.
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
    if first:
        for i in range(size):
            codes[i] = np.int64(digits[i]) << place
    else:
        for i in range(size):
            codes[i] += np.int64(digits[i]) << place
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
    """Do as `place_digit` where each word has a rate of its own, which tells its thresholds, guide and place."""
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
    if first:
        for i in range(size):
            codes[i] = np.int64(digits[i]) << places[rate_index[i]]
    else:
        for i in range(size):
            codes[i] += np.int64(digits[i]) << places[rate_index[i]]
    return found


@compiled
def add_to_counts(true_counts: NDArray[np.int64], codes: NDArray[np.int64], noisy_counts: NDArray[np.int64]) -> bool:
    """Add the noise 0, -1, 1, -2, 2 ... that the codes 0, 1, 2, 3, 4 ... stand for to the counts.

    Whether every count was within `COUNT_LIMIT`; if not, the sums mean nothing.
    """
    excess = np.int64(0)
    for i in range(len(codes)):
        # Negative exactly for a count outside: above the limit it wraps.
        excess |= true_counts[i] + COUNT_LIMIT
        noisy_counts[i] = true_counts[i] + ((codes[i] >> 1) ^ -(codes[i] & 1))
    return bool(excess >= 0)
