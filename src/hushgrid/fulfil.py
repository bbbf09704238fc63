"""From a reservation in a ledger to the release it was made for."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from hushgrid.counting.folder import parquet_files
from hushgrid.counting.open_counter import CountedThere
from hushgrid.counting.progress import Progress
from hushgrid.errors import EngineError, HushgridError, InputError, LedgerError
from hushgrid.job import Job
from hushgrid.ledger.amount import amount
from hushgrid.ledger.commit import commit_written
from hushgrid.ledger.release import Release
from hushgrid.ledger.reservation import Reservation
from hushgrid.privacy.bits import SystemBits
from hushgrid.synopsis.file import write_to

POINTS = 0  # number in the journal; what is drawn has those from one up


def fulfil(
    job: Job,
    points: Any,
    reservation: Reservation,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Release:
    """Publish points on a reservation, and commit the release to the ledger; nobody has seen it before that.

    An error on the way has a note that says what became of the budget.

    Parameters
    ----------
    job : Job
        What the reservation was made for: the same request.
    points : path, array or frame
        As for `hushgrid.publish`.
    reservation : Reservation
        New, or resumed: what its journal holds is not drawn again.
    folder : Path, optional
        Where there is room for the release until it is committed.
    progress : Progress, optional
        Told 0, 0.01, …, 1 for each question asked of the points: the same calls whatever they are.

    Privacy
    -------
    The budget is given back only if the points could not be opened by the first run of an entry, so that no row was
    read. Whatever else goes wrong leaves it spent. All passes of a release read one state of the points, those of
    runs that go on with it too.
    """
    try:
        source = job.open(points)
        state = source.state() if isinstance(source, CountedThere) else _state(points)
        begun = _was_begun(reservation, points, state)
    except BaseException as error:
        error.add_note(_not_opened(reservation))
        raise
    try:
        if not begun:
            reservation.journal.record(POINTS, "points", state)
        synopsis = job.release(source, bits=SystemBits(), journal=reservation.journal, progress=progress)
        marked = replace(synopsis, ledger=reservation.mark)
        return commit_written(reservation, lambda out: write_to(marked, out), folder=folder)
    except BaseException as error:
        error.add_note(_cut_off(reservation, error))
        raise


def _state(points: Any) -> bytes:
    """What a change of a file changes; it tells nothing of what is in it. Points in memory are of one run."""
    if not isinstance(points, str | os.PathLike):
        state = str(None)
    elif (path := Path(points)).is_dir():
        state = "\n".join(f"{file.relative_to(path)}\n{file.stat().st_mtime_ns}" for file in parquet_files(path))
    else:
        state = str(path.stat().st_mtime_ns)
    return hashlib.sha256(state.encode(errors="surrogateescape")).digest()


def _was_begun(reservation: Reservation, points: Any, state: bytes) -> bool:
    """Whether an earlier run has read points, which must be in the same state still."""
    known = reservation.journal.recall(POINTS, "points") if reservation.resumed else None
    if known not in (None, state):
        msg = (
            f"{points} was changed since entry {reservation.entry.number} was begun. A release reads one state of its "
            "points: restore the file, with its time, or ask for a release of its own."
        )
        raise InputError(msg)
    return known is not None


def _not_opened(reservation: Reservation) -> str:
    """What became of the budget when no point was read."""
    if reservation.resumed:
        return _can_be_resumed(reservation)
    reservation.abandon("the points could not be opened", data_was_read=False)
    return f"Nothing was read: entry {reservation.entry.number} of the ledger is given up, and its budget given back."


def _cut_off(reservation: Reservation, error: BaseException) -> str:
    """What became of the budget when points were read: it is spent, and another run can go on unless they changed."""
    if not isinstance(error, HushgridError) or isinstance(error, EngineError | LedgerError):
        return _can_be_resumed(reservation)
    reservation.abandon("the points could not be read to the end")  # such as a file that was changed meanwhile
    return f"Points were read: entry {reservation.entry.number} of the ledger is given up, and {_price(reservation)}."


def _can_be_resumed(reservation: Reservation) -> str:
    number = reservation.entry.number
    return (
        f"Points were read: {_price(reservation)} by entry {number} of the ledger. 'hushgrid publish' with the same "
        f"arguments and --resume {number} (in Python, resume={number}) goes on with it at no further cost, on the same "
        "points."
    )


def _price(reservation: Reservation) -> str:
    return f"epsilon {amount(reservation.entry.epsilon)} of the data set {reservation.entry.dataset!r} stays spent"
