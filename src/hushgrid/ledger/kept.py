"""Bytes that a ledger keeps, and whose hash its events hold."""

import hashlib
from collections.abc import Iterator

from hushgrid.errors import LedgerError
from hushgrid.ledger.transaction import Transaction


def release_holder(sha256: str) -> str:
    """The name that a release is kept under."""
    return f"release/{sha256}"


def journal_holder(entry: int, measurement: int) -> str:
    """The name that a measurement of an unfinished entry is kept under."""
    return f"journal/{entry}/{measurement}"


def kept_parts(transaction: Transaction, holder: str, sha256: str) -> Iterator[bytes]:
    """The bytes under a name, a part at a time; an error at the end if they do not have the hash they should have."""
    digest = hashlib.sha256()
    for part in transaction.parts(holder):
        digest.update(part)
        yield part
    if digest.hexdigest() != sha256:
        msg = (
            f"what the ledger keeps as {holder} is missing or was altered, and it is not computed anew: that would "
            "spend budget again. Restore the ledger from a backup."
        )
        raise LedgerError(msg)
