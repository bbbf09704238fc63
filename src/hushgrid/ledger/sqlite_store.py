"""A ledger in one file, through the SQLite of the standard library."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from hushgrid.errors import LedgerError
from hushgrid.files.paths import MISSING, irregularity
from hushgrid.ledger import store
from hushgrid.ledger.transaction import PART, SCHEMA, Transaction

LONGEST_VALUE = 2 * PART  # a file may come from anywhere; no value of ours is longer


class SqliteStore:
    """A ledger in a SQLite file.

    Parameters
    ----------
    path : Path
        The file.
    create : bool
        Make it if it does not exist.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.place = str(path)
        complaint = irregularity(path)
        if complaint is not None and complaint != MISSING:
            msg = f"the ledger {path} {complaint}. A ledger is a file of its own."
            raise LedgerError(msg)
        if not create and complaint == MISSING:
            msg = (
                f"the ledger {path} does not exist. "
                f"Make it with: hushgrid ledger init --ledger {path} --dataset NAME --budget B --unit record|user"
            )
            raise LedgerError(msg)
        with self._clear_errors():
            self._connection = sqlite3.connect(
                f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}",
                uri=True,
                timeout=store.PATIENCE,
                isolation_level=None,  # transactions are begun and ended below, by name
            )
        try:
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that sees one state of the ledger."""
        with self._transaction("BEGIN") as transaction:
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction that no other writer comes between: the lock is taken before anything is read."""
        with self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _prepare(self, *, create: bool) -> None:
        with self._clear_errors():
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
            self._connection.execute("PRAGMA trusted_schema = OFF")
            # What is dropped is overwritten with zeros: measurements of an entry that has ended, above all.
            self._connection.execute("PRAGMA secure_delete = ON")
            # A commit survives a power cut, on macOS too.
            self._connection.execute("PRAGMA synchronous = EXTRA")
            self._connection.execute("PRAGMA fullfsync = ON")
        with self.writing() if create else self.reading() as transaction:
            if create and not _tables(transaction):
                transaction.create()
            # To the letter: a view or a trigger could be a program that never ends.
            if _tables(transaction) != set(SCHEMA):
                msg = f"{self.place} is a SQLite file, but no ledger of this version of hushgrid."
                raise LedgerError(msg)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        with self._clear_errors():
            self._connection.execute(begin)
            try:
                yield Transaction(self._connection.execute)
                self._connection.commit()
            except BaseException:
                self._connection.rollback()
                raise

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._complaint(error) from error

    def _complaint(self, error: sqlite3.Error) -> LedgerError:
        # The first byte of an extended code is the code proper.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return LedgerError(
                f"the ledger {self.place} is busy: another process has held it for {store.PATIENCE:g} seconds. "
                "Nothing was changed; try again."
            )
        return LedgerError(f"the ledger {self.place} cannot be used: {error}.")


def _tables(transaction: Transaction) -> set[str]:
    return {sql for (sql,) in transaction.run("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
