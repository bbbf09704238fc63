"""The noisy measurements of an unfinished release, so that a run that was cut off can go on."""

import hashlib
import io
from dataclasses import dataclass

from hushgrid.errors import LedgerError
from hushgrid.ledger.event import Measured
from hushgrid.ledger.kept import journal_holder, kept_parts
from hushgrid.ledger.store import LedgerStore


@dataclass(frozen=True)
class Journal:
    """Measurements of one entry, by their number in the release.

    The bytes are those of a plain array, such as ``values.astype("<i8").tobytes()``, never a pickle.

    Privacy
    -------
    A measurement drawn twice costs twice. So each is recorded, on disk, before anything uses it, and a run that goes
    on recalls it in place of drawing again. The fingerprint stands for what was measured, its cells and rate: a run
    that asks for something else under the same number is an error.
    """

    entry: int
    store: LedgerStore

    def recall(self, number: int, fingerprint: str) -> bytes | None:
        """A measurement that was recorded, or None if it was not."""
        with self.store.reading() as transaction:
            book = transaction.book()
            measured = book.journals[book.unfinished(self.entry).number].get(number)
            if measured is None:
                return None
            if measured.fingerprint != fingerprint:
                msg = (
                    f"measurement {number} of entry {self.entry} was of other cells or of another rate than is asked "
                    "for now. An entry is resumed by the same version of hushgrid, with the same request."
                )
                raise LedgerError(msg)
            return b"".join(kept_parts(transaction, journal_holder(self.entry, number), measured.sha256))

    def record(self, number: int, fingerprint: str, payload: bytes) -> None:
        """Keep a measurement; it is on disk when this returns, and may be used from then on."""
        with self.store.writing() as transaction:
            book = transaction.book()
            if number in book.journals[book.unfinished(self.entry).number]:
                msg = f"measurement {number} of entry {self.entry} was recorded before; does another run go on with it?"
                raise LedgerError(msg)
            transaction.keep(journal_holder(self.entry, number), io.BytesIO(payload))
            sha256 = hashlib.sha256(payload).hexdigest()
            event = Measured(entry=self.entry, measurement=number, fingerprint=fingerprint, sha256=sha256)
            transaction.append(book, event)
