"""The ledger: one budget and one unit per data set."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, get_args

from hushgrid.errors import ArgumentError, BudgetError, LedgerError
from hushgrid.files.verify import FileCheck, Verification
from hushgrid.ledger.book import Account, Book, Entry, amount, check_sums
from hushgrid.ledger.event import Opened, Reserved
from hushgrid.ledger.postgres_store import PostgresStore
from hushgrid.ledger.request import Request, check_amount
from hushgrid.ledger.reservation import CommittedRelease, Reservation
from hushgrid.ledger.store import LedgerStore, SqliteStore, Transaction, journal_holder, kept_parts, release_holder
from hushgrid.privacy.exact import Exactable, exact
from hushgrid.synopsis.claim import Unit


def verify_store(transaction: Transaction, *, head: str | None) -> Verification:
    """Check everything that a ledger holds.

    A broken chain leaves nothing else to check.
    """
    try:
        book = transaction.book()
    except LedgerError as error:
        return Verification(checks=(FileCheck(name="events", ok=False, detail=str(error)),))
    events = FileCheck(name="events", ok=True, detail=f"{len(book.hashes):,}, and each follows from those before it")
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
    detail = "; ".join(complaints) or "every release, and every measurement of an unfinished one, is kept unaltered"
    return FileCheck(name="copies", ok=not complaints, detail=detail)


def _strays(transaction: Transaction, book: Book) -> FileCheck:
    strays = transaction.holders() - {holder for holder, _ in _expected(book)}
    detail = f"{len(strays):,} copies belong to no entry, so events at the end were removed" if strays else "none"
    return FileCheck(name="copies without an entry", ok=not strays, detail=detail)


def _head(book: Book, head: str) -> FileCheck:
    if head in book.hashes:
        event = book.hashes.index(head) + 1
        return FileCheck(name="head", ok=True, detail=f"belongs to event {event:,} of {len(book.hashes):,}")
    detail = "is not in the chain: this is an old copy of the ledger, a forged one, or another ledger"
    return FileCheck(name="head", ok=False, detail=detail)


def _expected(book: Book) -> Iterator[tuple[str, str]]:
    for entry in book.entries.values():
        if entry.sha256 is not None:
            yield release_holder(entry.sha256), entry.sha256
        if entry.state == "reserved":
            for number, measured in book.journals[entry.number].items():
                yield journal_holder(entry.number, number), measured.sha256


LONGEST_NAME = 100
POSTGRES = ("postgresql://", "postgres://")


def open_ledger(place: str | Path, *, create: bool = False) -> "Ledger":
    """Open the ledger at a path or URL.

    Parameters
    ----------
    place : path or str
        A SQLite file, or ``postgresql://USER@HOST/DATABASE``.
    create : bool
        Create it if it does not exist.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, open_ledger(Path(folder) / "trips.ledger", create=True) as ledger:
    ...     ledger.add_dataset("trips", budget=3, unit="user").left
    Fraction(3, 1)
    """
    text = str(place)
    if isinstance(place, str) and text.startswith(POSTGRES):
        return Ledger(PostgresStore(text, create=create))
    if isinstance(place, str) and "://" in text:
        msg = f"a ledger is a file or postgresql://USER@HOST/DATABASE, got {text.partition('://')[0]}://..."
        raise ArgumentError(msg)
    return Ledger(SqliteStore(Path(place), create=create))


class Ledger:
    """The account of every release of some data sets.

    It is a context manager, and is safe to use from many processes and, in PostgreSQL, many machines at once.

    Privacy
    -------
    For each data set, the epsilons of all entries that could have read it never exceed its budget: budget is reserved
    before anything is read, in a transaction that shuts out all others. By sequential composition, all releases
    together are as private as the budget says.
    """

    def __init__(self, store: LedgerStore) -> None:
        self._store = store

    @property
    def place(self) -> str:
        """Its path, or its URL without the password."""
        return self._store.place

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._store.close()

    def add_dataset(self, dataset: str, *, budget: Exactable, unit: Unit) -> Account:
        """Give a data set its budget and unit, for good."""
        granted = exact(budget, name="budget")
        check_amount(granted, name="budget")
        _check_name(dataset)
        if unit not in get_args(Unit):
            msg = f"unit must be 'record' or 'user', got unit={unit!r}."
            raise ArgumentError(msg)
        with self._store.writing() as transaction:
            book = transaction.book()
            if dataset in book.accounts:
                known = book.accounts[dataset]
                msg = (
                    f"the ledger already has the data set {dataset!r}, with a budget of {amount(known.budget)} "
                    f"for each {known.unit}. Neither can be changed."
                )
                raise ArgumentError(msg)
            transaction.append(book, Opened(dataset=dataset, budget=granted, unit=unit))
        return book.accounts[dataset]

    def reserve(self, request: Request, *, new_release: bool = False) -> Reservation | CommittedRelease:
        """Set budget aside, or return the existing release.

        Budget is reserved before anything is read.

        Parameters
        ----------
        request : Request
            What is asked for.
        new_release : bool
            Charge for another release even if the same request has one already.

        Returns
        -------
        Reservation or CommittedRelease
            A release if one with the same key was committed. It costs nothing. A reserved entry does not count.
        """
        with self._store.writing() as transaction:
            book = transaction.book()
            existing = self._existing(book, request, new_release=new_release)
            if existing is not None:
                return CommittedRelease(existing, self._store)
            number = len(book.entries) + 1
            transaction.append(
                book,
                Reserved(entry=number, dataset=request.dataset, epsilon=request.epsilon, request=request.text),
            )
        return Reservation(book.entries[number], self._store)

    def foresee(self, request: Request, *, new_release: bool = False) -> Entry | None:
        """The entry that `reserve` would give back, if any.

        It is an error where `reserve` would be one. Nothing is written.
        """
        return self._existing(self.book(), request, new_release=new_release)

    def _existing(self, book: Book, request: Request, *, new_release: bool) -> Entry | None:
        """The entry of the same request.

        Without one, there must be budget for it.
        """
        account = book.account(request.dataset, place=self.place)
        _check_unit(account, request)
        existing = None if new_release else book.release(request.key)
        if existing is None:
            _check_left(account, request)
        return existing

    def resume(self, entry: int, request: Request) -> Reservation:
        """Resume an entry that was cut off.

        The request must be the same. What the journal holds is not drawn again.
        """
        unfinished = self.book().unfinished(entry)
        if unfinished.key != request.key:
            msg = f"entry {entry} was reserved for another request. Resume it with the same request."
            raise LedgerError(msg)
        return Reservation(unfinished, self._store, resumed=True)

    def book(self) -> Book:
        """All accounts and entries at this moment.

        A broken chain is an error.
        """
        with self._store.reading() as transaction:
            return transaction.book()

    def verify(self, *, head: str | None = None) -> Verification:
        """Check the chain, the accounts and every copy.

        With the head of a release, check too that this is not an older copy of the ledger.
        """
        with self._store.reading() as transaction:
            return verify_store(transaction, head=head)


def _check_name(dataset: str) -> None:
    if not (0 < len(dataset) <= LONGEST_NAME and dataset.isprintable() and dataset == dataset.strip()):
        msg = f"dataset must be a name of 1 to {LONGEST_NAME} printable characters, got dataset={dataset[:40]!r}."
        raise ArgumentError(msg)


def _check_unit(account: Account, request: Request) -> None:
    if account.unit != request.unit:
        msg = (
            f"the budget of the data set {account.dataset!r} protects each {account.unit}, but the release would "
            f"protect each {request.unit}. A data set has one unit."
        )
        raise LedgerError(msg)


def _check_left(account: Account, request: Request) -> None:
    if request.epsilon > account.left:
        msg = (
            f"epsilon {amount(request.epsilon)} is asked of the data set {account.dataset!r}, which has "
            f"{amount(account.left)} left: of its budget of {amount(account.budget)}, {amount(account.spent)} is spent "
            f"and {amount(account.reserved)} reserved by releases that are not finished. Nothing was read or charged."
        )
        if account.left > 0:
            raise BudgetError(msg, instead={"epsilon": amount(account.left)})
        msg += " Its releases can be read again at no cost. List them: hushgrid ledger history"
        raise BudgetError(msg)
    check_sums(account, request.epsilon)
