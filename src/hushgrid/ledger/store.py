"""Where a ledger is kept."""

from contextlib import AbstractContextManager
from typing import Protocol

from hushgrid.ledger.transaction import Transaction

PATIENCE = 30.0  # seconds to wait for another writer; each of them takes milliseconds


class LedgerStore(Protocol):
    """A database that holds one ledger.

    A writing transaction is the only one of its kind at a time, over all processes and machines, and is on disk when
    it ends; one that does not end leaves nothing. Every failure of the database becomes a `LedgerError`.
    """

    @property
    def place(self) -> str:
        """What to call it in words: its path, or its URL without the password."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """A transaction that sees one state of the ledger."""

    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction that no other writer comes between."""

    def close(self) -> None:
        """Let go of the database."""
