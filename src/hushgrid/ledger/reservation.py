"""Budget reserved for one release, its journal and commit.

A resumed run must see whether its points are the same, so the journal keeps a digest of their state. A plain digest
would be an oracle: whoever knows all records but one could try every place for that one until the digest agrees. So it
is sealed under a key that is not in the ledger, but in a file of the user who runs the release.
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
from hushgrid.text import shown


@dataclass(frozen=True)
class CommittedRelease:
    """A committed entry and its bytes.

    They can be read again at no cost.

    Parameters
    ----------
    entry : Entry
        What was asked for, and the hash of the release.
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
        """Read the bytes, or fail if they were altered."""
        with self.store.reading() as transaction:
            return b"".join(kept_parts(transaction, release_holder(self.sha256), self.sha256))

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the bytes to a file that appears whole.

        It is an error if they are missing or altered.
        """
        with self.store.reading() as transaction, new_file(path, overwrite=overwrite) as out:
            for part in kept_parts(transaction, release_holder(self.sha256), self.sha256):
                out.write(part)


KEY_BYTES = 32
OF_KEY, OF_STATE = b"key", b"state"


def key_file() -> Path:
    """Path of the key, in the user's state folder."""
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    folder = given if given.is_absolute() else Path.home() / ".local" / "state"
    return folder / "hushgrid" / "resume.key"


def seal(state: bytes) -> bytes | None:
    """Seal a state under the key.

    The key is made if there is none. The result is None where no key can be kept.

    Privacy
    -------
    Without the key it looks random: HMAC-SHA-256 over a nonce of 32 bytes and the state. The nonce is dropped from the
    ledger when the entry ends. What is left, a hash of all this in the chain, is of no use even with the key.
    """
    key = _key(create=True)
    if key is None:
        return None
    nonce = secrets.token_bytes(KEY_BYTES)
    return nonce + _code(key, nonce, OF_KEY) + _code(key, nonce, OF_STATE + state)


def is_of(sealed: bytes, state: bytes) -> bool:
    """Whether a sealed state is this one.

    It is an error if the key is not the one it was sealed with.
    """
    key = _key(create=False)
    nonce, of_key, of_state = (sealed[first : first + KEY_BYTES] for first in range(0, 3 * KEY_BYTES, KEY_BYTES))
    if key is None or not hmac.compare_digest(of_key, _code(key, nonce, OF_KEY)):
        msg = (
            f"the key to the state of the points is not in {key_file()}: the entry was started by another user, on "
            "another machine, or before that file was lost. Resume it where it was started, or ask for a new release."
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
    except (OSError, RuntimeError):  # a full disk, or a user without a home
        return None
    return key if len(key) == KEY_BYTES else None


def _make(path: Path) -> None:
    """Make the key file unless another process was quicker.

    It appears whole, and only its owner can read it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent) as draft:
        draft.write(secrets.token_bytes(KEY_BYTES))
        draft.flush()
        os.fsync(draft.fileno())
        with suppress(FileExistsError):
            os.link(draft.name, path)


class LedgerJournal:
    """Measurements of one entry, by their number.

    The bytes are those of a plain array, such as ``values.astype("<i8").tobytes()``, never a pickle. The first call
    reads all events of the ledger, and each later one only new events.

    Parameters
    ----------
    entry : int
        Number of the entry.
    store : LedgerStore
        Where the ledger is.

    Privacy
    -------
    A measurement drawn twice costs twice. So each is recorded on disk before anything uses it, and a resumed run
    recalls it instead of drawing again. The fingerprint stands for what was measured, its cells and rate: asking for
    something else under the same number is an error.

    Whoever can read the ledger can read all of it, and the hash of each measurement stays in the chain for good. So the
    journal takes only what the claim covers: docs/decisions/0009-journal-and-resume.md.
    """

    def __init__(self, entry: int, store: LedgerStore) -> None:
        self._entry = entry
        self._store = store
        self._book = Book()

    def recall(self, number: int, fingerprint: str) -> bytes | None:
        """A recorded measurement, or None."""
        with self._reading_on(self._store.reading()) as transaction:
            measured = self._book.journals[self._book.unfinished(self._entry).number].get(number)
            if measured is None:
                return None
            if measured.fingerprint != fingerprint:
                msg = (
                    f"measurement {number} of entry {self._entry} was made of other cells or at another rate than is "
                    "asked for now. Resume an entry with the same version of hushgrid and the same request."
                )
                raise LedgerError(msg)
            return b"".join(kept_parts(transaction, journal_holder(self._entry, number), measured.sha256))

    def mark(self, number: int) -> str | None:
        """Fingerprint of a recorded measurement, or None."""
        with self._reading_on(self._store.reading()):
            measured = self._book.journals[self._book.unfinished(self._entry).number].get(number)
            return None if measured is None else measured.fingerprint

    def record(self, number: int, fingerprint: str, payload: bytes) -> None:
        """Keep a measurement on disk.

        When this returns, the measurement may be used.
        """
        with self._reading_on(self._store.writing()) as transaction:
            if number in self._book.journals[self._book.unfinished(self._entry).number]:
                msg = f"measurement {number} of entry {self._entry} is already recorded. Is another run resuming it?"
                raise LedgerError(msg)
            transaction.keep(journal_holder(self._entry, number), io.BytesIO(payload))
            sha256 = hashlib.sha256(payload).hexdigest()
            event = Measured(entry=self._entry, measurement=number, fingerprint=fingerprint, sha256=sha256)
            transaction.append(self._book, event)

    @contextmanager
    def _reading_on(self, opened: AbstractContextManager[Transaction]) -> Iterator[Transaction]:
        """A transaction, with the book brought up to date."""
        try:
            with opened as transaction:
                transaction.read_on(self._book)
                yield transaction
        except BaseException:
            self._book = Book()  # it may hold an event that was never committed
            raise


@dataclass(frozen=True)
class Reservation:
    """A reserved entry, waiting for its release.

    Parameters
    ----------
    entry : Entry
        As it was reserved.
    store : LedgerStore
        Where the ledger is.
    resumed : bool
        Whether an earlier run was cut off. It may have read data.

    Privacy
    -------
    The budget counts as spent from the moment this exists. Only `abandon` with ``data_was_read=False`` gives it back;
    a crash does not.
    """

    entry: Entry
    store: LedgerStore
    resumed: bool = False

    @property
    def mark(self) -> LedgerMark:
        """What the release carries from the ledger.

        That is the data set, the number of the entry, and the head of the chain.
        """
        return LedgerMark(dataset=self.entry.dataset, entry=self.entry.number, head=self.entry.head)

    @property
    def journal(self) -> LedgerJournal:
        """The measurements kept for this entry."""
        return LedgerJournal(self.entry.number, self.store)

    def commit(self, release: IO[bytes]) -> CommittedRelease:
        """Keep a copy of the release and end the entry.

        Both happen in one transaction; only then may the release be shown.

        Parameters
        ----------
        release : binary file
            A file on disk or ``io.BytesIO``, read from its start.
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
            A few words, none of which comes from the data.
        data_was_read : bool
            False gives the budget back. The caller must know that no row and no row count was read, because an
            argument or a file was found wrong first. An entry with journalled measurements has always read data.
        """
        with self.store.writing() as transaction:
            book = transaction.book()
            book.unfinished(self.entry.number)
            if not data_was_read and book.journals[self.entry.number]:
                msg = f"entry {self.entry.number} has measured data, so its budget is spent and cannot be given back."
                raise LedgerError(msg)
            event = Abandoned(entry=self.entry.number, reason=shown(reason, other=" "), charged=data_was_read)
            self._end(transaction, book, event)
        return book.entries[self.entry.number]

    def _end(self, transaction: Transaction, book: Book, event: Committed | Abandoned) -> None:
        transaction.append(book, event)
        for number in book.journals[self.entry.number]:
            transaction.drop(journal_holder(self.entry.number, number))


def commit_written(
    reservation: Reservation, write: Callable[[IO[bytes]], None], *, folder: Path | None = None
) -> CommittedRelease:
    """Write a release where nobody sees it, then commit.

    Until the commit its bytes are in a file without a name, which disappears with the process. The commit keeps a copy
    in the ledger and ends the entry at once. The release then appears from that copy, by `CommittedRelease.save`. If
    that fails, asking again for the same release returns it at no cost.

    Parameters
    ----------
    reservation : Reservation
        The entry that the release is charged to.
    write : callable
        Writes the release to a binary file.
    folder : Path, optional
        Where to put that file, best the folder where the release is to appear. It needs room there.
    """
    with TemporaryFile(dir=folder) as unnamed:
        write(unnamed)
        return reservation.commit(unnamed)
