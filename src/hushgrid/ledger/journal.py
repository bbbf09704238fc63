"""The noisy measurements of an unfinished release, so that a run that was cut off can go on."""

import hashlib
import io
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from hushgrid.errors import LedgerError
from hushgrid.ledger.book import Book
from hushgrid.ledger.event import Measured
from hushgrid.ledger.kept import journal_holder, kept_parts
from hushgrid.ledger.store import LedgerStore
from hushgrid.ledger.transaction import Transaction


class Journal:
    """Measurements of one entry, by their number in the release.

    The bytes are those of a plain array, such as ``values.astype("<i8").tobytes()``, never a pickle. The first use
    reads all events of the ledger, and each later one those that have come since.

    Parameters
    ----------
    entry : int
        Number of the entry.
    store : LedgerStore
        Where the ledger is.

    Privacy
    -------
    A measurement drawn twice costs twice. So each is recorded, on disk, before anything uses it, and a run that goes
    on recalls it in place of drawing again. The fingerprint stands for what was measured, its cells and rate: a run
    that asks for something else under the same number is an error.

    Whoever may read the ledger may read all of it, and the hash of each measurement stays in the chain for good. So it
    takes only what the claim covers: docs/decisions/0009-journal-and-resume.md.
    """

    def __init__(self, entry: int, store: LedgerStore) -> None:
        self._entry = entry
        self._store = store
        self._book = Book()

    def recall(self, number: int, fingerprint: str) -> bytes | None:
        """A measurement that was recorded, or None if it was not."""
        with self._reading_on(self._store.reading()) as transaction:
            measured = self._book.journals[self._book.unfinished(self._entry).number].get(number)
            if measured is None:
                return None
            if measured.fingerprint != fingerprint:
                msg = (
                    f"measurement {number} of entry {self._entry} was of other cells or of another rate than is asked "
                    "for now. An entry is resumed by the same version of hushgrid, with the same request."
                )
                raise LedgerError(msg)
            return b"".join(kept_parts(transaction, journal_holder(self._entry, number), measured.sha256))

    def mark(self, number: int) -> str | None:
        """The fingerprint that a measurement was recorded with, or None if it was not."""
        with self._reading_on(self._store.reading()):
            measured = self._book.journals[self._book.unfinished(self._entry).number].get(number)
            return None if measured is None else measured.fingerprint

    def record(self, number: int, fingerprint: str, payload: bytes) -> None:
        """Keep a measurement; it is on disk when this returns, and may be used from then on."""
        with self._reading_on(self._store.writing()) as transaction:
            if number in self._book.journals[self._book.unfinished(self._entry).number]:
                msg = (
                    f"measurement {number} of entry {self._entry} was recorded before; does another run go on with it?"
                )
                raise LedgerError(msg)
            transaction.keep(journal_holder(self._entry, number), io.BytesIO(payload))
            sha256 = hashlib.sha256(payload).hexdigest()
            event = Measured(entry=self._entry, measurement=number, fingerprint=fingerprint, sha256=sha256)
            transaction.append(self._book, event)

    @contextmanager
    def _reading_on(self, opened: AbstractContextManager[Transaction]) -> Iterator[Transaction]:
        """A transaction, with the book brought up to it."""
        try:
            with opened as transaction:
                transaction.read_on(self._book)
                yield transaction
        except BaseException:
            self._book = Book()  # it may hold an event that was never committed
            raise
