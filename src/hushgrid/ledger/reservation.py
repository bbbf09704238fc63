"""Budget set aside for one release, its journal, and the commit that ends it.

A run that goes on with another must see whether its points are the same, so that their state is in the journal. As it
is it would be an oracle: whoever knows all records but one could try every place for that one until the digest agrees.
So the ledger has it under a key that is not in the ledger, but in a file of whoever runs the release.
"""

import hashlib
import hmac
import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO

from hushgrid.errors import LedgerError
from hushgrid.files.paths import new_file
from hushgrid.ledger.book import Book, Entry
from hushgrid.ledger.event import Abandoned, Committed, Measured
from hushgrid.ledger.store import LedgerStore, Transaction, journal_holder, kept_parts, release_holder
from hushgrid.synopsis.claim import LedgerMark


@dataclass(frozen=True)
class CommittedRelease:
    """A committed entry and its bytes, which may be had again and again at no cost.

    Parameters
    ----------
    entry : Entry
        What was asked for, and the hash of what came of it.
    store : LedgerStore
        Where the bytes are.
    """

    entry: Entry
    store: LedgerStore

    @property
    def sha256(self) -> str:
        """Hash of the bytes."""
        assert self.entry.sha256 is not None
        return self.entry.sha256

    def read(self) -> bytes:
        """The bytes; an error if they are missing or altered."""
        with self.store.reading() as transaction:
            return b"".join(kept_parts(transaction, release_holder(self.sha256), self.sha256))

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the bytes to a file that appears whole or not at all; an error if they are missing or altered."""
        with self.store.reading() as transaction, new_file(path, overwrite=overwrite) as out:
            for part in kept_parts(transaction, release_holder(self.sha256), self.sha256):
                out.write(part)


KEY_BYTES = 32
OF_KEY, OF_STATE = b"key", b"state"


def key_file() -> Path:
    """Where the key is: in the folder that the system keeps for the state of programs of this user."""
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    folder = given if given.is_absolute() else Path.home() / ".local" / "state"
    return folder / "hushgrid" / "resume.key"


def seal(state: bytes) -> bytes | None:
    """A state under the key, which is made if there is none; None where no key can be kept.

    Privacy
    -------
    To whoever has no key it is random: HMAC-SHA-256 over a nonce of 32 bytes and the state. The nonce is dropped from
    the ledger when the entry ends. What is left, a hash of all this in the chain, is of no use even with the key.
    """
    key = _key(create=True)
    if key is None:
        return None
    nonce = secrets.token_bytes(KEY_BYTES)
    return nonce + _code(key, nonce, OF_KEY) + _code(key, nonce, OF_STATE + state)


def is_of(sealed: bytes, state: bytes) -> bool:
    """Whether a sealed state is this one; an error where the key is not the one it was sealed with."""
    key = _key(create=False)
    nonce, of_key, of_state = (sealed[first : first + KEY_BYTES] for first in range(0, 3 * KEY_BYTES, KEY_BYTES))
    if key is None or not hmac.compare_digest(of_key, _code(key, nonce, OF_KEY)):
        msg = (
            f"the key to what the ledger keeps of its points is not in {key_file()}: the entry was begun by another "
            "user, on another machine, or before that file was lost. Resume it where it was begun, or ask for a "
            "release of its own."
        )
        raise LedgerError(msg)
    return hmac.compare_digest(of_state, _code(key, nonce, OF_STATE + state))


def _code(key: bytes, nonce: bytes, content: bytes) -> bytes:
    return hmac.digest(key, nonce + content, "sha256")


def _key(*, create: bool) -> bytes | None:
    try:
        path = key_file()
        if create and not path.exists():
            _make(path)
        key = path.read_bytes()
    except (OSError, RuntimeError):  # a disk without room for it, a user without a home
        return None
    return key if len(key) == KEY_BYTES else None


def _make(path: Path) -> None:
    """Make the file, whole and readable by its owner alone, unless another process was quicker."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent) as draft:
        draft.write(secrets.token_bytes(KEY_BYTES))
        draft.flush()
        os.fsync(draft.fileno())
        with suppress(FileExistsError):
            os.link(draft.name, path)


class LedgerJournal:
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
    def journal(self) -> LedgerJournal:
        """The measurements of this entry that were kept."""
        return LedgerJournal(self.entry.number, self.store)

    def commit(self, release: IO[bytes]) -> CommittedRelease:
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
        return CommittedRelease(book.entries[self.entry.number], self.store)

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


def commit_written(
    reservation: Reservation, write: Callable[[IO[bytes]], None], *, folder: Path | None = None
) -> CommittedRelease:
    """Write a release where nobody sees it, and commit it; only then may it appear under a name.

    Until the commit its bytes are in a file without a name, which is gone when the process is. The commit keeps a copy
    in the ledger and ends the entry at once. Whatever then appears comes from that copy, by `Release.save`; if it does
    not come to that, asking again for the same release gives it back at no cost.

    Parameters
    ----------
    reservation : Reservation
        What the release is charged to.
    write : callable
        Writes the release to a binary file.
    folder : Path, optional
        Where there is room for that file; best the folder where the release is to appear.
    """
    with TemporaryFile(dir=folder) as unnamed:
        write(unnamed)
        return reservation.commit(unnamed)
