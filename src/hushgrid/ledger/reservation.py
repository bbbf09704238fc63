"""Budget that is set aside for one release."""

import hashlib
from dataclasses import dataclass
from typing import IO

from hushgrid.errors import LedgerError
from hushgrid.ledger.book import Book
from hushgrid.ledger.entry import Entry
from hushgrid.ledger.event import Abandoned, Committed
from hushgrid.ledger.journal import Journal
from hushgrid.ledger.kept import journal_holder, release_holder
from hushgrid.ledger.release import Release
from hushgrid.ledger.store import LedgerStore
from hushgrid.ledger.transaction import Transaction
from hushgrid.synopsis.claim import LedgerMark


@dataclass(frozen=True)
class Reservation:
    """A reserved entry, to be committed with its release.

    Parameters
    ----------
    entry : Entry
        As it was reserved.
    store : LedgerStore
        Where the ledger is.
    resumed : bool
        Whether an earlier run was cut off, which may have read data.

    Privacy
    -------
    The budget counts as spent from the moment this exists. Nothing gives it back but `abandon` with
    ``data_was_read=False``; in particular no crash does.
    """

    entry: Entry
    store: LedgerStore
    resumed: bool = False

    @property
    def mark(self) -> LedgerMark:
        """What the release carries: the data set, the number of the entry, and the head of the chain."""
        return LedgerMark(dataset=self.entry.dataset, entry=self.entry.number, head=self.entry.head)

    @property
    def journal(self) -> Journal:
        """The measurements of this entry that were kept."""
        return Journal(self.entry.number, self.store)

    def commit(self, release: IO[bytes]) -> Release:
        """Keep a copy of the release and end the entry, in one transaction; only then may it be shown.

        Parameters
        ----------
        release : binary file
            Read from its start; a file on disk or ``io.BytesIO``.
        """
        release.seek(0)
        sha256 = hashlib.file_digest(release, "sha256").hexdigest()  # type: ignore[arg-type]  # its stub wants more than it needs
        release.seek(0)
        with self.store.writing() as transaction:
            book = transaction.book()
            book.unfinished(self.entry.number)
            transaction.keep(release_holder(sha256), release)
            self._end(transaction, book, Committed(entry=self.entry.number, sha256=sha256))
        return Release(book.entries[self.entry.number], self.store)

    def abandon(self, reason: str, *, data_was_read: bool = True) -> Entry:
        """End the entry without a release.

        Parameters
        ----------
        reason : str
            In a few words, of which none comes from the data.
        data_was_read : bool
            False gives the budget back. Whoever says so knows that no row and no row count was read: an argument or
            a file was found wrong first. An entry with journalled measurements has read data, whatever is said.
        """
        with self.store.writing() as transaction:
            book = transaction.book()
            book.unfinished(self.entry.number)
            if not data_was_read and book.journals[self.entry.number]:
                msg = f"entry {self.entry.number} has measured data; its budget is spent and cannot be given back."
                raise LedgerError(msg)
            shown = "".join(letter if letter.isprintable() else " " for letter in reason)
            event = Abandoned(entry=self.entry.number, reason=shown, charged=data_was_read)
            self._end(transaction, book, event)
        return book.entries[self.entry.number]

    def _end(self, transaction: Transaction, book: Book, event: Committed | Abandoned) -> None:
        transaction.append(book, event)
        for number in book.journals[self.entry.number]:
            transaction.drop(journal_holder(self.entry.number, number))
