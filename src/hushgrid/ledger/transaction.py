"""One transaction on a ledger, in SQL that SQLite and PostgreSQL both understand."""

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from hushgrid.errors import LedgerError
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
