"""The compiled hash is the one of the standard library."""

import hashlib

import numpy as np

from hushgrid.counting.sha256 import ROUND_CONSTANTS, START, hash_records


def test_constants_are_those_of_the_standard():
    """First and last constants are those that FIPS 180-4 lists."""
    assert START[0] == 0x6A09E667
    assert START[-1] == 0x5BE0CD19
    assert len(ROUND_CONSTANTS) == 64
    assert ROUND_CONSTANTS[0] == 0x428A2F98
    assert ROUND_CONSTANTS[-1] == 0xC67178F2


def test_records_hash_as_hashlib_does():
    """Ids of every length around the ends of blocks, the smallest and the largest numbers."""
    rng = np.random.default_rng(1)
    ids = [rng.bytes(length) for length in range(150)]
    edges = np.concatenate([[0], np.cumsum([len(one) for one in ids])])
    numbers = np.concatenate([rng.integers(0, 2**31, (150, 3)), [[0, 9, 10], [2**63 - 1, 99, 100]] * 75])
    codes = np.concatenate([np.arange(150), rng.integers(0, 150, 150)])
    head, digests = rng.bytes(64), np.empty((300, 4), np.uint64)
    hash_records(np.frombuffer(head, np.uint8), numbers, np.frombuffer(b"".join(ids), np.uint8), edges, codes, digests)

    for code, triple, digest in zip(codes, numbers.tolist(), digests, strict=True):
        message = head + ":{}:{}:{}:".format(*triple).encode() + ids[code]
        assert digest.astype(">u8").tobytes() == hashlib.sha256(message).digest()
