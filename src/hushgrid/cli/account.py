"""A release that is charged to a data set of a ledger."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from hushgrid.cli.input_file import STANDARD_INPUT
from hushgrid.cli.ledger import DEFAULT
from hushgrid.cli.notes import note
from hushgrid.cli.progress import reading
from hushgrid.errors import ArgumentError

if TYPE_CHECKING:
    from hushgrid.counting.engine.address import Address
    from hushgrid.ledger.ledger import Ledger
    from hushgrid.ledger.reservation import CommittedRelease, Reservation
    from hushgrid.release.request import Job
    from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True)
class Account:
    """Where a release is charged, as the options of ``hushgrid publish`` say.

    Parameters
    ----------
    place : str
        Path or URL of the ledger.
    dataset : str
        The data set in it.
    new_release : bool
        Whether to pay for a release that the ledger has already.
    resume : int or None
        The entry of a run that was cut off.
    """

    place: str
    dataset: str
    new_release: bool
    resume: int | None

    @classmethod
    def of(cls, dataset: str | None, *, ledger: str | None, new_release: bool, resume: int | None) -> Self | None:
        """The account that the options name, or None where they name none."""
        if new_release and resume is not None:
            msg = "--resume goes on with a release that was begun, --new-release pays for another. Give one of them."
            raise ArgumentError(msg)
        if dataset is not None:
            place = ledger or os.environ.get("HUSHGRID_LEDGER") or DEFAULT
            return cls(place=place, dataset=dataset, new_release=new_release, resume=resume)
        for option, given in {"--ledger": ledger, "--new-release": new_release, "--resume": resume}.items():
            if given:
                msg = f"{option} needs --dataset NAME: the data set that the release is charged to. "
                msg += "'hushgrid ledger show' lists those of a ledger, 'hushgrid ledger init' adds one."
                raise ArgumentError(msg)
        return None

    def publish(self, job: "Job", points: "Path | Address", output: Path, *, overwrite: bool) -> "Synopsis":
        """Reserve, publish, commit, and let the release appear; or let the one appear that the ledger has."""
        _refuse_standard_input(points)
        from hushgrid.ledger.ledger import open_ledger
        from hushgrid.ledger.reservation import CommittedRelease
        from hushgrid.synopsis.synopsis import read

        with open_ledger(self.place) as ledger:
            request = job.request(self.dataset)
            if self.resume is None:
                answer = ledger.reserve(request, new_release=self.new_release)
            else:
                answer = ledger.resume(self.resume, request)
            if isinstance(answer, CommittedRelease):
                note(
                    f"The ledger has this release as entry {answer.entry.number}. It is given back, byte for byte, and "
                    "nothing was spent. To pay for another one, pass --new-release."
                )
                release = answer
            else:
                release = _fulfilled(job, points, answer, folder=output.parent)
                _say_what_is_left(ledger, release)
            release.save(output, overwrite=overwrite)
        return read(output)


def _refuse_standard_input(points: "Path | Address") -> None:
    if str(points) == STANDARD_INPUT:
        msg = "a run with --dataset that is cut off goes on with the same points, and standard input is gone by then. "
        msg += "Save it to a file first."
        raise ArgumentError(msg, instead={"points": "POINTS.csv"})


def _fulfilled(job: "Job", points: "Path | Address", reservation: "Reservation", *, folder: Path) -> "CommittedRelease":
    from hushgrid.release.reserved import publish_reserved

    try:
        with reading() as progress:
            return publish_reserved(job, points, reservation, folder=folder, progress=progress)
    except BaseException as error:
        for text in getattr(error, "__notes__", ()):
            note(text)
        raise


def _say_what_is_left(ledger: "Ledger", release: "CommittedRelease") -> None:
    from hushgrid.ledger.book import amount

    entry = release.entry
    account = ledger.book().account(entry.dataset)
    note(
        f"Entry {entry.number} of the ledger: epsilon {amount(entry.charged)} of the data set {entry.dataset!r} is "
        f"spent, {amount(account.left)} of {amount(account.budget)} is left."
    )
