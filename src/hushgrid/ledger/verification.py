"""Whether a ledger is what it was: its chain, its accounts, the copies it keeps."""

from collections.abc import Iterator

from hushgrid.errors import LedgerError
from hushgrid.files.verify import FileCheck, Verification
from hushgrid.ledger.book import Book
from hushgrid.ledger.kept import journal_holder, kept_parts, release_holder
from hushgrid.ledger.transaction import Transaction


def verify_store(transaction: Transaction, *, head: str | None) -> Verification:
    """Look at everything a ledger holds; a chain that is broken leaves nothing else to look at."""
    try:
        book = transaction.book()
    except LedgerError as error:
        return Verification(checks=(FileCheck(name="events", ok=False, detail=str(error)),))
    events = FileCheck(name="events", ok=True, detail=f"{len(book.hashes):,}, each follows from those before it")
    checks = (events, _copies(transaction, book), _strays(transaction, book))
    return Verification(checks=checks if head is None else (*checks, _head(book, head)))


def _copies(transaction: Transaction, book: Book) -> FileCheck:
    complaints = []
    for holder, sha256 in _expected(book):
        try:
            for _ in kept_parts(transaction, holder, sha256):
                pass
        except LedgerError:
            complaints.append(f"{holder} is missing or was altered")
    detail = "; ".join(complaints) or "every release and every measurement of an unfinished one is kept, unaltered"
    return FileCheck(name="copies", ok=not complaints, detail=detail)


def _strays(transaction: Transaction, book: Book) -> FileCheck:
    strays = transaction.holders() - {holder for holder, _ in _expected(book)}
    detail = f"{len(strays):,} copies belong to no entry: events at the end were removed" if strays else "none"
    return FileCheck(name="copies without an entry", ok=not strays, detail=detail)


def _head(book: Book, head: str) -> FileCheck:
    if head in book.hashes:
        event = book.hashes.index(head) + 1
        return FileCheck(name="head", ok=True, detail=f"is that of event {event:,} of {len(book.hashes):,}")
    detail = "is not in the chain: this is an old copy of the ledger, one made up anew, or another ledger"
    return FileCheck(name="head", ok=False, detail=detail)


def _expected(book: Book) -> Iterator[tuple[str, str]]:
    for entry in book.entries.values():
        if entry.sha256 is not None:
            yield release_holder(entry.sha256), entry.sha256
        if entry.state == "reserved":
            for number, measured in book.journals[entry.number].items():
                yield journal_holder(entry.number, number), measured.sha256
