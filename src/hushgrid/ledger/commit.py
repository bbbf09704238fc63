"""The last step of a release, which no crash can turn against the account."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from hushgrid.ledger.release import Release
from hushgrid.ledger.reservation import Reservation


def commit_written(
    reservation: Reservation, write: Callable[[IO[bytes]], None], *, folder: Path | None = None
) -> Release:
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
