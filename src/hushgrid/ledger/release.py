"""A release that a ledger holds a copy of."""

from dataclasses import dataclass
from pathlib import Path

from hushgrid.files.paths import new_file
from hushgrid.ledger.entry import Entry
from hushgrid.ledger.kept import kept_parts, release_holder
from hushgrid.ledger.store import LedgerStore


@dataclass(frozen=True)
class Release:
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
