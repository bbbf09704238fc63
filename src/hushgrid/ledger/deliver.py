"""The last steps of a release, in the order that no crash can turn against the account."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from hushgrid.ledger.release import Release
from hushgrid.ledger.reservation import Reservation


def deliver(
    reservation: Reservation, write: Callable[[IO[bytes]], None], output: Path, *, overwrite: bool = False
) -> Release:
    """Write a release, commit it, and only then let it appear under its name.

    Until the commit its bytes are in a file without a name, which is gone when the process is. The commit keeps a copy
    in the ledger and ends the entry at once. What then appears at `output` comes from that copy; if it does not come
    to that, asking again for the same release gives it back at no cost.

    Parameters
    ----------
    reservation : Reservation
        What the release is charged to.
    write : callable
        Writes the release to a binary file.
    output : Path
        Where it is to appear; `hushgrid.synopsis.new_file.check_target` has looked at it before the reservation.
    overwrite : bool
        Replace a file that is there.
    """
    with TemporaryFile(dir=output.parent) as unnamed:
        write(unnamed)
        release = reservation.commit(unnamed)
    release.save(output, overwrite=overwrite)
    return release
