"""Where a ledger lives: transactions, bytes, the SQLite file."""

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

PART = 2**22  # bytes of a part, so that long contents need not fit in memory or in one value

EVENTS = "CREATE TABLE hushgrid_events (number INTEGER PRIMARY KEY, event TEXT NOT NULL, hash TEXT NOT NULL)"
# BYTEA is PostgreSQL's name. SQLite takes any name, and keeps bytes as they are.
PARTS = (
    "CREATE TABLE hushgrid_parts "
    "(holder TEXT NOT NULL, part INTEGER NOT NULL, bytes BYTEA NOT NULL, PRIMARY KEY (holder, part))"
)
SCHEMA = (EVENTS, PARTS)
ALL = "SELECT number, event, hash FROM hushgrid_events ORDER BY number"
SINCE = "SELECT number, event, hash FROM hushgrid_events WHERE number >= :first ORDER BY number"


class Transaction:
    """Reads and writes that happen together.

    They are of events, and of the bytes of releases and journals.

    Parameters
    ----------
    execute : callable
        Runs a statement with named parameters. The store begins and ends the transaction.
    """

    def __init__(self, execute: Callable[[str, dict[str, Any]], Iterable[Any]]) -> None:
        self._execute = execute

    def run(self, statement: str, **parameters: int | str | bytes) -> Iterable[Any]:
        """Run a statement and return its rows."""
        return self._execute(statement, parameters)

    def create(self) -> None:
        """Create the tables."""
        for statement in SCHEMA:
            self.run(statement)

    def book(self) -> Book:
        """The state after all events.

        A broken chain is an error.
        """
        book = Book()
        self.read_on(book)
        return book

    def read_on(self, book: Book) -> None:
        """Read the events that are new to a book.

        It is an error if they do not continue from its head.

        The book's last event is read again: if it has changed, so has everything before it.
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
        """Add an event to the ledger and its book.

        The book must have been read in this transaction.
        """
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
        """Store bytes under a name, replacing earlier ones."""
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
        """Yield the bytes under a name, part by part."""
        one_part = "SELECT bytes FROM hushgrid_parts WHERE holder = :holder AND part = :part"
        number = 0
        while rows := list(self.run(one_part, holder=holder, part=number)):
            # A damaged file may hold anything; a value that is not bytes must not pass the hash.
            yield rows[0][0] if isinstance(rows[0][0], bytes) else b""
            number += 1

    def drop(self, holder: str) -> None:
        """Delete the bytes under a name."""
        self.run("DELETE FROM hushgrid_parts WHERE holder = :holder", holder=holder)

    def holders(self) -> set[str]:
        """All names that bytes are stored under."""
        return {str(holder) for (holder,) in self.run("SELECT DISTINCT holder FROM hushgrid_parts")}


def release_holder(sha256: str) -> str:
    """The name a release is stored under."""
    return f"release/{sha256}"


def journal_holder(entry: int, measurement: int) -> str:
    """The name a journalled measurement is stored under."""
    return f"journal/{entry}/{measurement}"


def kept_parts(transaction: Transaction, holder: str, sha256: str) -> Iterator[bytes]:
    """Yield stored bytes, part by part, checking their hash.

    A wrong hash is an error after the last part.
    """
    digest = hashlib.sha256()
    for part in transaction.parts(holder):
        digest.update(part)
        yield part
    if digest.hexdigest() != sha256:
        msg = (
            f"the ledger's copy {holder} is missing or was altered. It is not computed again, which would spend budget "
            "again. Restore the ledger from a backup."
        )
        raise LedgerError(msg)


PATIENCE = 30.0  # seconds to wait for other writers, each of which takes milliseconds


class LedgerStore(Protocol):
    """A database that holds one ledger.

    There is one writing transaction at a time, over all processes and machines. It is on disk when it ends; one that
    does not end leaves nothing. Every failure of the database becomes a `LedgerError`.
    """

    @property
    def place(self) -> str:
        """Its name for people.

        It is a path, or a URL without the password.
        """

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that sees one state."""

    def writing(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that shuts out other writers."""

    def close(self) -> None:
        """Close the database."""


LONGEST_VALUE = 2 * PART  # bytes: a file may come from anywhere, and no value of ours is longer


class SqliteStore:
    """A ledger in a SQLite file.

    Parameters
    ----------
    path : Path
        The file.
    create : bool
        Create it if it does not exist.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.place = str(path)
        complaint = irregularity(path)
        if complaint is not None and complaint != MISSING:
            msg = f"the ledger {path} {complaint}. Give the path of a regular file."
            raise LedgerError(msg)
        if not create and complaint == MISSING:
            msg = (
                f"the ledger {path} does not exist. Create it, with --per month if each month is to have a budget: "
                f"hushgrid ledger init --ledger {path} --dataset NAME --budget B --unit record|user"
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
        """Open a transaction that sees one state."""
        with self._transaction("BEGIN") as transaction:
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Open a transaction that shuts out other writers.

        The lock is taken before anything is read.
        """
        with self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _prepare(self, *, create: bool) -> None:
        with self._clear_errors():
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
            self._connection.execute("PRAGMA trusted_schema = OFF")
            # Deleted bytes are overwritten with zeros, above all measurements of an entry that has ended.
            self._connection.execute("PRAGMA secure_delete = ON")
            # A commit survives a power cut, on macOS too.
            self._connection.execute("PRAGMA synchronous = EXTRA")
            self._connection.execute("PRAGMA fullfsync = ON")
        with self.writing() if create else self.reading() as transaction:
            if create and not _tables(transaction):
                transaction.create()
            # Compared to the letter: a view or a trigger could be a program that never ends.
            if _tables(transaction) != set(SCHEMA):
                msg = f"{self.place} is a SQLite file, but not a ledger of this version of hushgrid."
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
        except UnicodeDecodeError as error:  # a complaint of SQLite that quotes a damaged schema
            msg = f"the ledger {self.place} cannot be used: it is damaged."
            raise LedgerError(msg) from error

    def _complaint(self, error: sqlite3.Error) -> LedgerError:
        # The first byte of an extended code is the code proper.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return LedgerError(
                f"the ledger {self.place} is busy: another process has held it for {PATIENCE:g} seconds. "
                "Nothing was changed. Try again."
            )
        return LedgerError(f"the ledger {self.place} cannot be used: {error}.")


def _tables(transaction: Transaction) -> set[str]:
    return {sql for (sql,) in transaction.run("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
