"""The compiled hash is the one of the standard library."""

import hashlib

import numpy as np
import pytest

from hushgrid.counting.by_user.sha256 import LANES, ROUND_CONSTANTS, START, hash_records


def test_constants_are_those_of_the_standard():
    """First and last constants are those that FIPS 180-4 lists."""
    assert START[0] == 0x6A09E667
    assert START[-1] == 0x5BE0CD19
    assert len(ROUND_CONSTANTS) == 64
    assert ROUND_CONSTANTS[0] == 0x428A2F98
    assert ROUND_CONSTANTS[-1] == 0xC67178F2


@pytest.mark.parametrize("words", [1, 4])
def test_records_hash_as_hashlib_does(words):
    """Ids of every length around the ends of blocks, the smallest and the largest numbers, a last group of few."""
    rng = np.random.default_rng(1)
    ids = [rng.bytes(length) for length in range(150)]
    edges = np.concatenate([[0], np.cumsum([len(one) for one in ids])])
    numbers = np.concatenate([rng.integers(0, 2**31, (150, 3)), [[0, 9, 10], [2**32 - 1, 99, 100]] * 75])
    owners = np.concatenate([np.arange(150), rng.integers(0, 150, 150)]).astype(np.int32)
    assert owners.size % LANES
    head, digests = rng.bytes(64), np.empty((300, words), np.uint64)
    content = np.frombuffer(b"".join(ids), np.uint8)
    hash_records(np.frombuffer(head, np.uint8), numbers.T.astype(np.uint32, order="C"), content, edges, owners, digests)

    for owner, triple, digest in zip(owners, numbers.tolist(), digests, strict=True):
        message = head + ":{}:{}:{}:".format(*triple).encode() + ids[owner]
        assert digest.astype(">u8").tobytes() == hashlib.sha256(message).digest()[: 8 * words]


def test_no_records_at_all():
    """Nothing to hash is no error."""
    empty, digests = np.empty((3, 0), np.uint32), np.empty((0, 1), np.uint64)
    hash_records(np.zeros(64, np.uint8), empty, np.zeros(1, np.uint8), np.array([0, 1]), np.empty(0, np.int32), digests)
