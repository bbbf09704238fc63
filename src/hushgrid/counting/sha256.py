"""SHA-256 (FIPS 180-4) of many short messages.

Private side. All messages begin with the same 64 bytes.

hashlib is as fast on one message; calling it, and making the message, takes Python ten times as long as hashing it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled
from hushgrid.counting.csv_loops import Text

BLOCK = 64  # bytes that are hashed at once
LENGTH = 8  # bytes at the end of the last block, for the number of bits
COLON, ZERO = np.uint8(ord(":")), np.uint8(ord("0"))

Words = NDArray[np.uint32]


def _root_bits(prime: int, root: int) -> int:
    """First 32 fractional bits of a prime's root.

    The square root or the cube root.
    """
    scaled = prime << (32 * root)
    estimate = math.isqrt(scaled) if root == 2 else round(scaled ** (1 / 3))
    while estimate**root > scaled:
        estimate -= 1
    while (estimate + 1) ** root <= scaled:
        estimate += 1
    return estimate & 0xFFFFFFFF


PRIMES = [number for number in range(2, 312) if all(number % divisor for divisor in range(2, math.isqrt(number) + 1))]
START = np.array([_root_bits(prime, 2) for prime in PRIMES[:8]], np.uint32)  # FIPS 180-4, 5.3.3
ROUND_CONSTANTS = np.array([_root_bits(prime, 3) for prime in PRIMES], np.uint32)  # FIPS 180-4, 4.2.2


@compiled
def _turn(word: np.uint32, count: int) -> np.uint32:
    """Rotate the bits of a word to the right."""
    return np.uint32((word >> np.uint32(count)) | (word << np.uint32(32 - count)))


@compiled
def hash_block(state: Words, block: Text, schedule: Words) -> None:
    """Hash one block into the state (FIPS 180-4, 6.2.2).

    A block has 64 bytes, the state 8 words; `schedule` is room for 64.
    """
    for t in range(16):
        word = np.uint32(0)
        for k in range(4):
            word = np.uint32((word << np.uint32(8)) | np.uint32(block[4 * t + k]))
        schedule[t] = word
    for t in range(16, 64):
        late, early = schedule[t - 2], schedule[t - 15]
        s1 = _turn(late, 17) ^ _turn(late, 19) ^ (late >> np.uint32(10))
        s0 = _turn(early, 7) ^ _turn(early, 18) ^ (early >> np.uint32(3))
        schedule[t] = np.uint32(s1 + schedule[t - 7] + s0 + schedule[t - 16])
    a, b, c, d, e, f, g, h = state
    for t in range(64):
        choice = (e & f) ^ (~e & g)
        majority = (a & b) ^ (a & c) ^ (b & c)
        t1 = np.uint32(h + (_turn(e, 6) ^ _turn(e, 11) ^ _turn(e, 25)) + choice + ROUND_CONSTANTS[t] + schedule[t])
        t2 = np.uint32((_turn(a, 2) ^ _turn(a, 13) ^ _turn(a, 22)) + majority)
        a, b, c, d, e, f, g, h = np.uint32(t1 + t2), a, b, c, np.uint32(d + t1), e, f, g
    for k, word in enumerate((a, b, c, d, e, f, g, h)):
        state[k] = np.uint32(state[k] + word)


@compiled
def _write_number(message: Text, place: int, number: int) -> int:
    """Write a colon and a decimal number.

    The number is not negative. Returns where it ends.
    """
    message[place] = COLON
    digits = 1
    rest = number // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for k in range(digits):
        message[place + digits - k] = np.uint8(ZERO + np.uint8(number % 10))
        number //= 10
    return place + digits + 1


@compiled
def _finish(state: Words, message: Text, length: int, schedule: Words) -> None:
    """Hash the rest of a message and its padding.

    Its first block is in the state already.
    """
    blocks = (length + 1 + LENGTH + BLOCK - 1) // BLOCK
    message[length] = 0x80
    message[length + 1 : blocks * BLOCK] = 0
    bits = 8 * (length + BLOCK)
    for k in range(LENGTH):
        message[blocks * BLOCK - 1 - k] = np.uint8((bits >> (8 * k)) & 0xFF)
    for block in range(blocks):
        hash_block(state, message[block * BLOCK : (block + 1) * BLOCK], schedule)


@compiled
def hash_records(
    head: Text,
    numbers: NDArray[np.int64],
    content: Text,
    edges: NDArray[np.int64],
    codes: NDArray[np.int64],
    digests: NDArray[np.uint64],
) -> None:
    """Write the hash of ``head:a:b:c:id`` for every record.

    Parameters
    ----------
    head : array of uint8, shape (64,)
    numbers : array of int64, shape (records, 3)
        a, b and c, none negative.
    content, edges : array of uint8, array of int64, shape (ids + 1,)
        The bytes of all ids, and where each begins and the last one ends.
    codes : array of int64, shape (records,)
        Which id each record has.
    digests : array of uint64, shape (records, 4)
        The hashes as four words, whose order is that of their bytes.
    """
    schedule = np.empty(64, np.uint32)
    begun = START.copy()
    hash_block(begun, head, schedule)
    longest = 0
    for i in range(edges.size - 1):
        longest = max(longest, edges[i + 1] - edges[i])
    message = np.empty(longest + 2 * BLOCK + 80, np.uint8)  # three numbers of up to 20 bytes each, and the padding
    state = np.empty(8, np.uint32)
    for i in range(codes.size):
        length = 0
        for k in range(3):
            length = _write_number(message, length, numbers[i, k])
        message[length] = COLON
        length += 1
        for k in range(edges[codes[i]], edges[codes[i] + 1]):
            message[length] = content[k]
            length += 1
        state[:] = begun
        _finish(state, message, length, schedule)
        for k in range(4):
            digests[i, k] = (np.uint64(state[2 * k]) << np.uint64(32)) | np.uint64(state[2 * k + 1])
