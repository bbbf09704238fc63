"""SHA-256 (FIPS 180-4) of many short messages.

Private side. All messages begin with the same 64 bytes, which are hashed once.

Messages are hashed side by side, one in each of `LANES` lanes: every step of the hash is a short loop over the lanes,
which compilers turn into instructions on many numbers at once. Word t of lane k is at place ``t * LANES + k``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.compiled import compiled
from hushgrid.counting.csv_loops import Text

LANES = 32  # messages that are hashed side by side; 16 are slower, and loops over 8 are unrolled word by word
BLOCK = 64  # bytes of a message that are hashed at once
LENGTH = 8  # bytes at the end of the last block, for the number of bits
WORDS = BLOCK // 4
ROUNDS = 64
NUMBERS = 4 * 11 + 1  # bytes of four numbers of up to ten digits, and of the colons around them
TEN = np.uint32(10)
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
def _extend(schedule: Words) -> None:
    """Write the words after the first sixteen (FIPS 180-4, 6.2.2, step 1)."""
    for first in range(WORDS * LANES, ROUNDS * LANES, LANES):
        for i in range(first, first + LANES):
            late, early = schedule[i - 2 * LANES], schedule[i - 15 * LANES]
            s1 = _turn(late, 17) ^ _turn(late, 19) ^ (late >> np.uint32(10))
            s0 = _turn(early, 7) ^ _turn(early, 18) ^ (early >> np.uint32(3))
            schedule[i] = np.uint32(s1 + schedule[i - 7 * LANES] + s0 + schedule[i - 16 * LANES])


@compiled
def _run_rounds(schedule: Words, front: Words, back: Words) -> None:
    """Run all rounds on one block a lane (FIPS 180-4, 6.2.2, step 3).

    Of the eight working variables of a round only a and e are new; b, c and d are the three values of a before it, f, g
    and h those of e. So `front` holds every a, and `back` every e, and the first four of each begin as d, c, b, a and
    h, g, f, e.
    """
    for t in range(ROUNDS):
        constant = ROUND_CONSTANTS[t]
        for i in range(t * LANES, t * LANES + LANES):
            a, b, c, d = front[i + 3 * LANES], front[i + 2 * LANES], front[i + LANES], front[i]
            e, f, g, h = back[i + 3 * LANES], back[i + 2 * LANES], back[i + LANES], back[i]
            choice = (e & f) ^ (~e & g)
            majority = (a & b) ^ (a & c) ^ (b & c)
            t1 = np.uint32(h + (_turn(e, 6) ^ _turn(e, 11) ^ _turn(e, 25)) + choice + constant + schedule[i])
            t2 = np.uint32((_turn(a, 2) ^ _turn(a, 13) ^ _turn(a, 22)) + majority)
            back[i + 4 * LANES] = np.uint32(d + t1)
            front[i + 4 * LANES] = np.uint32(t1 + t2)


@compiled
def _write_number(messages: Text, stop: int, number: np.uint32) -> int:
    """Write a colon and a decimal number that ends at a place.

    Returns where it begins. Backwards, nobody needs to know the number of digits.
    """
    place = stop - 1
    while number >= TEN:
        rest = np.uint32(number // TEN)
        messages[place] = ZERO + np.uint8(number - TEN * rest)
        number, place = rest, place - 1
    messages[place] = ZERO + np.uint8(number)
    messages[place - 1] = COLON
    return place - 1


@compiled
def _pad(messages: Text, first: int, stop: int) -> int:
    """Write the padding of a message whose first block is not here.

    Returns the number of its other blocks.
    """
    blocks = (stop - first + 1 + LENGTH + BLOCK - 1) // BLOCK
    end, bits = first + blocks * BLOCK, 8 * (stop - first + BLOCK)
    messages[stop] = 0x80
    messages[stop + 1 : end] = 0
    while bits > 0:
        end -= 1
        messages[end] = bits & 0xFF
        bits >>= 8
    return blocks


@compiled
def _load(messages: Text, firsts: Indices, block: int, schedule: Words) -> None:
    """Read a block of every lane as words, high bytes first."""
    for lane in range(LANES):
        first = min(firsts[lane] + block * BLOCK, messages.size - BLOCK)  # past the end, anything will do
        message = messages[first : first + BLOCK]
        for t in range(WORDS):
            word = np.uint32(0)
            for k in range(4):
                word = np.uint32((word << np.uint32(8)) | np.uint32(message[4 * t + k]))
            schedule[t * LANES + lane] = word


@compiled
def hash_blocks(states: Words, messages: Text, firsts: Indices, blocks: Indices) -> None:
    """Hash the messages of all lanes into their states.

    Parameters
    ----------
    states : array of uint32, shape (8 * LANES,)
        Word k of lane j is at ``k * LANES + j``.
    messages : array of uint8
    firsts, blocks : array of int64, shape (LANES,)
        Where each message begins, and how many blocks it has; what comes after them changes nothing.
    """
    schedule = np.empty(ROUNDS * LANES, np.uint32)
    front, back = np.empty((ROUNDS + 4) * LANES, np.uint32), np.empty((ROUNDS + 4) * LANES, np.uint32)
    for block in range(blocks.max()):
        _load(messages, firsts, block, schedule)
        _extend(schedule)
        for k in range(4):
            for lane in range(LANES):
                front[k * LANES + lane] = states[(3 - k) * LANES + lane]
                back[k * LANES + lane] = states[(7 - k) * LANES + lane]
        _run_rounds(schedule, front, back)
        for k in range(4):
            for lane in range(LANES):
                if block < blocks[lane]:
                    states[(3 - k) * LANES + lane] += front[(ROUNDS + k) * LANES + lane]
                    states[(7 - k) * LANES + lane] += back[(ROUNDS + k) * LANES + lane]


@compiled
def hash_records(
    head: Text,
    numbers: NDArray[np.uint32],
    content: Text,
    edges: NDArray[np.int64],
    owners: NDArray[np.int32],
    digests: NDArray[np.uint64],
) -> None:
    """Write the hash of ``head:a:b:c:id`` for every record, or of ``head:a:b:c:d:id``.

    Parameters
    ----------
    head : array of uint8, shape (64,)
    numbers : array of uint32, shape (3, records) or (4, records)
        a, b and c, and d if there is one.
    content, edges : array of uint8, array of int64, shape (ids + 1,)
        The bytes of all ids, and where each begins and the last one ends.
    owners : array of int32, shape (records,)
        Which id each record has.
    digests : array of uint64, shape (records, words)
        The first words of the hashes, at most four; their order is that of the bytes.
    """
    longest = 0
    for i in range(owners.size):
        longest = max(longest, edges[owners[i] + 1] - edges[owners[i]])
    width = NUMBERS + longest + 2 * BLOCK
    messages = np.zeros(LANES * width, np.uint8)
    firsts, blocks, states = np.zeros(LANES, np.int64), np.ones(LANES, np.int64), np.repeat(START, LANES)
    messages[:BLOCK] = head
    hash_blocks(states, messages, firsts, blocks)
    begun = states.copy()
    for start in range(0, owners.size, LANES):
        lanes = min(LANES, owners.size - start)
        for lane in range(lanes):
            i, first = start + lane, lane * width + NUMBERS - 1
            messages[first] = COLON
            stop = first + 1
            for k in range(edges[owners[i]], edges[owners[i] + 1]):
                messages[stop] = content[k]
                stop += 1
            for k in range(numbers.shape[0] - 1, -1, -1):
                first = _write_number(messages, first, numbers[k, i])
            firsts[lane], blocks[lane] = first, _pad(messages, first, stop)
        states[:] = begun
        hash_blocks(states, messages, firsts, blocks)
        for lane in range(lanes):
            for k in range(digests.shape[1]):
                high, low = states[2 * k * LANES + lane], states[(2 * k + 1) * LANES + lane]
                digests[start + lane, k] = (np.uint64(high) << np.uint64(32)) | np.uint64(low)
