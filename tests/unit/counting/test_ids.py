"""Hashes that divide ids among files, and spans of text."""

import numpy as np

from hushgrid.counting.by_user.ids import hash_ids
from hushgrid.counting.users import copy_spans, trim_spans


def plain_hash(text, salt):
    """FNV-1a, folded."""
    value = ((0xCBF29CE484222325 ^ salt) * 0x100000001B3) % 2**64
    for byte in text:
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value ^ (value >> 32)


def test_hashes_are_fnv_and_salted():
    """Hashes of ids are those of plain FNV-1a, for every salt."""
    ids = [b"", b"a", b"ann", bytes(range(256))]
    edges = np.concatenate([[0], np.cumsum([len(one) for one in ids])])

    for salt in (0, 1, 2):
        hashes = np.empty(len(ids), np.uint64)
        hash_ids(np.frombuffer(b"".join(ids), np.uint8), edges, salt, hashes)
        assert hashes.tolist() == [plain_hash(one, salt) for one in ids]


def test_ids_spread_over_files():
    """Ten thousand running numbers fill 64 files evenly, by any salt."""
    ids = [b"%d" % number for number in range(10_000)]
    edges = np.concatenate([[0], np.cumsum([len(one) for one in ids])])
    hashes = np.empty(len(ids), np.uint64)

    for salt in (0, 1):
        hash_ids(np.frombuffer(b"".join(ids), np.uint8), edges, salt, hashes)
        sizes = np.bincount((hashes % 64).astype(int), minlength=64)
        assert sizes.min() > 90
        assert sizes.max() < 240


def test_spans_are_trimmed_and_copied():
    """Blanks at the ends of a span go, and those inside stay."""
    text = np.frombuffer(b"  a b \t|\r|", np.uint8)
    spans = np.array([[0, 7], [8, 9], [9, 9]])
    trim_spans(text, spans)
    content = np.empty(int((spans[:, 1] - spans[:, 0]).sum()), np.uint8)
    copy_spans(text, spans, content)

    assert content.tobytes() == b"a b"
