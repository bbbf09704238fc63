"""The ledger: one budget and one unit per data set."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, get_args
from unicodedata import normalize

from hushgrid.errors import ArgumentError, BudgetError, LedgerError
from hushgrid.files.verify import FileCheck, Verification
from hushgrid.ledger.book import Account, Book, Entry, amount, check_sums
from hushgrid.ledger.event import Opened, Reserved
from hushgrid.ledger.postgres_store import PostgresStore
from hushgrid.ledger.request import Request, check_amount
from hushgrid.ledger.reservation import CommittedRelease, Reservation
from hushgrid.ledger.store import LedgerStore, SqliteStore, Transaction, journal_holder, kept_parts, release_holder
from hushgrid.periods import PeriodKind
from hushgrid.privacy.exact import Exactable, exact
from hushgrid.synopsis.claim import Unit
from hushgrid.text import is_shown


def verify_store(transaction: Transaction, *, head: str | None) -> Verification:
    """Check everything that a ledger holds.

    A broken chain leaves nothing else to check.
    """
    try:
        book = transaction.book()
    except LedgerError as error:
        return Verification(checks=(FileCheck(name="events", ok=False, detail=str(error)),))
    events = FileCheck(name="events", ok=True, detail=f"{len(book.hashes):,}, and each follows from those before it")
    checks = (events, *_periods(book), _copies(transaction, book), _strays(transaction, book))
    return Verification(checks=checks if head is None else (*checks, _head(book, head)))


def _periods(book: Book) -> Iterator[FileCheck]:
    """What periods have spent; that none went beyond its budget, the chain has shown."""
    for account in (account for account in book.accounts.values() if account.per is not None):
        detail = (
            f"none beyond its budget of {amount(account.budget)}; someone in all of them: {amount(account.lifetime)}"
        )
        number = len(account.by_period)
        name = f"{number:,} {account.per}{'' if number == 1 else 's'} of {account.dataset}"
        yield FileCheck(name=name, ok=True, detail=detail)


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

    With a budget for each period, that holds for the records of one period, which no other may read: a data set has
    one column of times and one time zone. Somebody present in several has to bear the sum, `Account.lifetime`.
    """

    def __init__(self, store: LedgerStore) -> None:
        self._store = store

    @property
    def place(self) -> str:
        """Path of the ledger, or its URL without the password."""
        return self._store.place

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._store.close()

    def add_dataset(self, dataset: str, *, budget: Exactable, unit: Unit, per: PeriodKind | None = None) -> Account:
        """Give a data set its budget and unit, for good.

        With `per`, each period of that kind has the budget.
        """
        granted = exact(budget, name="budget")
        check_amount(granted, name="budget")
        _check_name(dataset)
        if unit not in get_args(Unit):
            msg = f"unit must be 'record' or 'user', got unit={unit!r}."
            raise ArgumentError(msg)
        if per is not None and per not in get_args(PeriodKind):
            msg = f"per must be one of {', '.join(map(repr, get_args(PeriodKind)))}, got per={per!r}."
            raise ArgumentError(msg)
        with self._store.writing() as transaction:
            book = transaction.book()
            known = next((known for name, known in book.accounts.items() if _is_same(name, dataset)), None)
            if known is not None:
                a_period = "" if known.per is None else f"a {known.per} "
                otherwise = "" if known.dataset == dataset else ", in characters that look the same"
                msg = (
                    f"the ledger already has the data set {known.dataset!r}{otherwise}, with a budget of "
                    f"{amount(known.budget)} {a_period}for each {known.unit}. Neither can be changed."
                )
                raise ArgumentError(msg)
            transaction.append(book, Opened(dataset=dataset, budget=granted, unit=unit, per=per))
        return book.accounts[dataset]

    def reserve(
        self, request: Request, *, new_release: bool = False, prior: str | None = None
    ) -> Reservation | CommittedRelease:
        """Set budget aside, or return the existing release.

        Budget is reserved before anything is read.

        Parameters
        ----------
        request : Request
            What is asked for.
        new_release : bool
            Charge for another release even if the same request has one already.
        prior : str, optional
            SHA-256 of the earlier release of a series that will sharpen this one.

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
            rule = request.period
            event = Reserved(
                entry=number,
                dataset=request.dataset,
                epsilon=request.epsilon,
                request=request.text,
                period=None if rule is None else rule.period.name,
                time_column=None if rule is None else rule.time,
                timezone=None if rule is None else rule.timezone,
                prior=prior,
            )
            transaction.append(book, event)
        return Reservation(book.entries[number], self._store)

    def foresee(self, request: Request, *, new_release: bool = False) -> Entry | None:
        """The entry that `reserve` would give back, if any.

        It is an error where `reserve` would be one. Nothing is written.
        """
        return self._existing(self.book(), request, new_release=new_release)

    def before(self, request: Request) -> CommittedRelease | None:
        """The last release of the same data set and domain before a period.

        Of a request without a period, the last one at all.
        """
        entry = self.book().before(request)
        return None if entry is None else CommittedRelease(entry, self._store)

    def released(self, sha256: str) -> CommittedRelease:
        """The release with that hash; an error where there is none."""
        for entry in self.book().entries.values():
            if entry.sha256 == sha256:
                return CommittedRelease(entry, self._store)
        msg = f"the ledger has no release with the SHA-256 {sha256}."
        raise LedgerError(msg)

    def _existing(self, book: Book, request: Request, *, new_release: bool) -> Entry | None:
        """The entry of the same request.

        Without one, there must be budget for it.
        """
        per = None if request.period is None else request.period.period.kind
        account = book.account(request.dataset, place=self.place, per=per)
        _check_unit(account, request)
        payer = account.paying(None if request.period is None else request.period.period.name)
        _check_clock(book, request)
        existing = None if new_release else book.release(request.key)
        if existing is None:
            _check_left(account, payer, request)
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
    if not (0 < len(dataset) <= LONGEST_NAME and is_shown(dataset) and dataset == dataset.strip()):
        msg = f"dataset must be a name of 1 to {LONGEST_NAME} printable characters, got dataset={dataset[:40]!r}."
        raise ArgumentError(msg)


def _is_same(name: str, other: str) -> bool:
    """Whether two names are one to readers: an accent is a letter's own, or a character after it."""
    return normalize("NFC", name) == normalize("NFC", other)


def _check_unit(account: Account, request: Request) -> None:
    if account.unit != request.unit:
        msg = (
            f"the budget of the data set {account.dataset!r} protects each {account.unit}, but the release would "
            f"protect each {request.unit}. A data set has one unit."
        )
        raise LedgerError(msg)


def _check_clock(book: Book, request: Request) -> None:
    """Refuse another way to tell periods: a record could be in two."""
    rule, known = request.period, book.clock(request.dataset)
    if rule is not None and known not in (None, (rule.time, rule.timezone)):
        column, timezone = known or (None, None)
        msg = (
            f"records of the data set {request.dataset!r} are assigned to periods by the column {column!r} in the time "
            f"zone {timezone}, and that cannot change: otherwise one record could be in two periods. Got "
            f"time={rule.time!r} and timezone={rule.timezone!r}."
        )
        raise LedgerError(msg, instead={"time": column, "timezone": timezone})


def _check_left(account: Account, payer: Account, request: Request) -> None:
    if request.epsilon > payer.left:
        msg = (
            f"epsilon {amount(request.epsilon)} is asked of {payer.whose}, which has {amount(payer.left)} left: of its "
            f"budget of {amount(payer.budget)}, {amount(payer.spent)} is spent and {amount(payer.reserved)} reserved "
            "by releases that are not finished. Nothing was read or charged."
        )
        if payer.left > 0:
            raise BudgetError(msg, instead={"epsilon": amount(payer.left)})
        msg += " Its releases can be read again at no cost. List them: hushgrid ledger history"
        raise BudgetError(msg)
    check_sums(account, payer, request.epsilon)
