"""Where a ledger is kept: transactions in SQL, kept bytes, and the SQLite file."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import quote

from hushgrid.errors import LedgerError
from hushgrid.files.paths import MISSING, irregularity
from hushgrid.ledger.book import GENESIS, Book, link
from hushgrid.ledger.event import Event, encode

PART = 2**22  # bytes; long contents are kept in parts, so that none need fit in memory or in one value

EVENTS = "CREATE TABLE hushgrid_events (number INTEGER PRIMARY KEY, event TEXT NOT NULL, hash TEXT NOT NULL)"
# BYTEA is PostgreSQL's name; SQLite takes any name, and keeps bytes as they are.
PARTS = (
    "CREATE TABLE hushgrid_parts "
    "(holder TEXT NOT NULL, part INTEGER NOT NULL, bytes BYTEA NOT NULL, PRIMARY KEY (holder, part))"
)
SCHEMA = (EVENTS, PARTS)
ALL = "SELECT number, event, hash FROM hushgrid_events ORDER BY number"
SINCE = "SELECT number, event, hash FROM hushgrid_events WHERE number >= :first ORDER BY number"


class Transaction:
    """What is read and written together: events, and the bytes of releases and journals.

    Parameters
    ----------
    execute : callable
        Runs a statement with named parameters. To begin and end the transaction is not its task.
    """

    def __init__(self, execute: Callable[[str, dict[str, Any]], Iterable[Any]]) -> None:
        self._execute = execute

    def run(self, statement: str, **parameters: int | str | bytes) -> Iterable[Any]:
        """The rows that a statement gives."""
        return self._execute(statement, parameters)

    def create(self) -> None:
        """Make the tables."""
        for statement in SCHEMA:
            self.run(statement)

    def book(self) -> Book:
        """The state that follows from all events; a broken chain is an error."""
        book = Book()
        self.read_on(book)
        return book

    def read_on(self, book: Book) -> None:
        """Take the events that a book has not read into it; an error if they do not go on from its head.

        The last event that the book has read is read again: if it is another by now, so is all that was before it.
        """
        known = len(book.hashes)
        rows = iter(self.run(SINCE, first=known) if known else self.run(ALL))
        if known:
            number, text, digest = next(rows, (None, None, None))
            previous = book.hashes[-2] if known > 1 else GENESIS
            if number != known or digest != book.head or digest != link(previous, known, str(text)):
                msg = f"the ledger is damaged: event {known} was edited, moved or removed."
                raise LedgerError(msg)
        for number, text, digest in rows:
            book.read(number, text, digest)

    def append(self, book: Book, event: Event) -> None:
        """Add an event to the ledger, and to the book that was read in this transaction."""
        number, text = len(book.hashes) + 1, encode(event)
        digest = link(book.head, number, text)
        book.read(number, text, digest)
        self.run(
            "INSERT INTO hushgrid_events (number, event, hash) VALUES (:number, :event, :hash)",
            number=number,
            event=text,
            hash=digest,
        )

    def keep(self, holder: str, content: IO[bytes]) -> None:
        """Keep bytes under a name, in place of any that were there."""
        self.drop(holder)
        number = 0
        while part := content.read(PART):
            self.run(
                "INSERT INTO hushgrid_parts (holder, part, bytes) VALUES (:holder, :part, :bytes)",
                holder=holder,
                part=number,
                bytes=part,
            )
            number += 1

    def parts(self, holder: str) -> Iterator[bytes]:
        """The bytes under a name, a part at a time; nothing if there are none."""
        one_part = "SELECT bytes FROM hushgrid_parts WHERE holder = :holder AND part = :part"
        number = 0
        while rows := list(self.run(one_part, holder=holder, part=number)):
            # A damaged file may hold anything; what is not bytes does not have their hash.
            yield rows[0][0] if isinstance(rows[0][0], bytes) else b""
            number += 1

    def drop(self, holder: str) -> None:
        """Forget the bytes under a name."""
        self.run("DELETE FROM hushgrid_parts WHERE holder = :holder", holder=holder)

    def holders(self) -> set[str]:
        """Every name that bytes are kept under."""
        return {str(holder) for (holder,) in self.run("SELECT DISTINCT holder FROM hushgrid_parts")}


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
                timeout=PATIENCE,
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
                f"the ledger {self.place} is busy: another process has held it for {PATIENCE:g} seconds. "
                "Nothing was changed; try again."
            )
        return LedgerError(f"the ledger {self.place} cannot be used: {error}.")


def _tables(transaction: Transaction) -> set[str]:
    return {sql for (sql,) in transaction.run("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
