"""Releases that are charged to a ledger."""

import os
from dataclasses import replace
from threading import Event
from typing import IO, Any

from hushgrid.counting.engine.address import Address
from hushgrid.errors import ArgumentError, EngineError, HushgridError, InputError, LedgerError
from hushgrid.files.release import parse_release, write_to
from hushgrid.geometry.domain import Domain
from hushgrid.ledger.book import amount
from hushgrid.ledger.ledger import Ledger, open_ledger
from hushgrid.ledger.request import Request, whose_budget
from hushgrid.ledger.reservation import CommittedRelease, Reservation, commit_written, is_of, seal
from hushgrid.priors.masses import Source
from hushgrid.priors.prior import Prior
from hushgrid.priors.releases import release_prior
from hushgrid.privacy.bits import SystemBits
from hushgrid.release.delivery import Charge, Delivery
from hushgrid.release.publish import release
from hushgrid.release.request import ReleaseRequest
from hushgrid.release.sliced import marked
from hushgrid.release.warm_up import helped_to_compile
from hushgrid.slices.files import parse_slices, write_slices_to
from hushgrid.slices.slices import Slices, read_saved
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import current_work

POINTS = 0  # its number in the journal; draws are numbered from one
SEALED = "points, sealed"  # how the state of the points is kept; once it was "points", by the time of a file alone
NOWHERE = Delivery()
WHAT_CAN = "Runs on local Parquet and CSV files, and on arrays and frames in memory, can be resumed."


def publish_on_ledger(request: ReleaseRequest, points: Any, charge: Charge, delivery: Delivery) -> Synopsis | Slices:
    """Publish on a ledger, or return the release it has."""
    with open_ledger(charge.ledger) as ledger:
        wanted = charge.wanted(request)
        if charge.resume is None:
            earlier = _earlier(ledger, wanted, charge)
            known = _sharpened(request, earlier)  # before anything is charged
            prior = None if earlier is None else earlier.sha256
            answer = ledger.reserve(wanted, new_release=charge.new_release, prior=prior)
        else:
            answer = ledger.resume(charge.resume, wanted)
            earlier = None if answer.entry.prior is None else ledger.released(answer.entry.prior)
            known = _sharpened(request, earlier)
        if isinstance(answer, CommittedRelease):
            release = answer
            delivery.say(
                f"The ledger has this release as entry {release.entry.number}. It is given back, byte for byte, and "
                "nothing was spent. To pay for another one, pass --new-release."
            )
        else:
            if earlier is not None:
                delivery.say(f"It is sharpened by entry {earlier.entry.number} of the ledger, at no cost.")
            with helped_to_compile(request.method, delivery.say):
                release = publish_reserved(known, points, answer, delivery)
            delivery.say(_what_is_left(ledger, release))
        if delivery.output is None:
            parse = parse_release if request.by is None else parse_slices
            return parse(release.read(), name=f"the release of entry {release.entry.number}")
        release.save(delivery.output, overwrite=delivery.overwrite)
        return read_saved(delivery.output)


def _earlier(ledger: Ledger, wanted: Request, charge: Charge) -> CommittedRelease | None:
    """The release of a series that sharpens the one asked for.

    There is none where the ledger has that one already.
    """
    if not charge.series or ledger.foresee(wanted, new_release=charge.new_release) is not None:
        return None
    return ledger.before(wanted)


def _sharpened(request: ReleaseRequest, earlier: CommittedRelease | None) -> ReleaseRequest:
    return request if earlier is None else replace(request, prior=_as_prior(earlier, request.domain))


def _as_prior(release: CommittedRelease, domain: Domain) -> Prior:
    """An earlier release of a ledger as a prior.

    Like any other prior it must be public by its own claim: a simulation is refused.
    """
    entry = release.entry
    name = f"the release of entry {entry.number}" if entry.period is None else f"the release of {entry.period}"
    source = Source(name=name, kind="", sha256=release.sha256)
    try:
        return release_prior(source, parse_release(release.read(), name=name), domain)
    except ArgumentError as error:
        msg = f"cannot use {name}, entry {entry.number} of the ledger, as a prior: {error} Leave out series, or name "
        msg += "another prior."
        raise InputError(msg) from None


def _what_is_left(ledger: Ledger, release: CommittedRelease) -> str:
    entry = release.entry
    whole = ledger.book().account(entry.dataset)
    account = whole.paying(entry.period)
    said = (
        f"Entry {entry.number} of the ledger: epsilon {amount(entry.charged)} of {account.whose} is spent, "
        f"{amount(account.left)} of {amount(account.budget)} is left."
    )
    return said if whole.per is None else f"{said} {whole.everyone}"


def publish_reserved(
    request: ReleaseRequest,
    points: Any,
    reservation: Reservation,
    delivery: Delivery = NOWHERE,
) -> CommittedRelease:
    """Publish points on a reservation, and commit the release.

    Nobody has seen the release before that.

    An error on the way has a note that says what became of the budget.

    Parameters
    ----------
    request : ReleaseRequest
        What the reservation was made for: the same request.
    points : path, array or frame
        As for `hushgrid.publish`.
    reservation : Reservation
        New, or resumed: what its journal holds is not drawn again.
    delivery : Delivery
        Who hears of it on the way, and where there is room for the release until it is committed.

    Privacy
    -------
    The budget is given back only if the points could not be opened by the first run of an entry, and no step was taken
    that may have looked at a row. Whatever else goes wrong leaves it spent. All passes of a release read one state of
    the points, those of runs that go on with it too; where no later run could tell whether it is the same, none does.
    """
    _refuse_for_good(reservation)
    looked_at_rows = Event()
    try:
        source = request.open(points, before_rows=looked_at_rows.set)
        looked_at_rows.set()  # the state of points in memory is a digest of them
        state = source.state()
        begun = _was_begun(reservation, points, state)
    except BaseException as error:
        error.add_note(_not_opened(reservation, error, looked_at_rows=looked_at_rows.is_set()))
        raise
    can_go_on = begun
    try:
        if not begun:
            sealed = None if state is None else seal(state)
            can_go_on = sealed is not None
            reservation.journal.record(POINTS, SEALED, sealed or b"")
        released = release(request, source, bits=SystemBits(), journal=reservation.journal, tell=delivery.tell)
        current_work().begin("writing")
        return commit_written(reservation, lambda out: _write(released, reservation, out), folder=delivery.folder)
    except BaseException as error:
        error.add_note(_cut_off(reservation, error) if can_go_on else _lost(reservation, error))
        raise


def _write(released: Synopsis | Slices, reservation: Reservation, out: IO[bytes]) -> None:
    """Write a release with the mark of its entry."""
    if isinstance(released, Slices):
        write_slices_to(marked(released, reservation.mark), out)
    else:
        write_to(replace(released, ledger=reservation.mark), out)


def _refuse_for_good(reservation: Reservation) -> None:
    """Give up an entry that no run can resume.

    No run could tell whether its points are still the same.
    """
    mark = reservation.journal.mark(POINTS) if reservation.resumed else None
    if mark is None:
        return
    if mark != SEALED:
        why = "was begun by an earlier version of hushgrid, which kept too little of its points"
    elif not reservation.journal.recall(POINTS, SEALED):
        why = "is of points that cannot be recognised, or was begun where no key could be kept"
    else:
        return
    reservation.abandon("its points cannot be told from others")
    msg = (
        f"entry {reservation.entry.number} {why}: whether the points are still the same cannot be told, so that it "
        f"cannot be resumed. It is given up, and {_price(reservation)}. Ask for a new release. {WHAT_CAN}"
    )
    raise LedgerError(msg)


def _was_begun(reservation: Reservation, points: Any, state: bytes | None) -> bool:
    """Whether an earlier run has read these points.

    They must be in the same state still.
    """
    sealed = reservation.journal.recall(POINTS, SEALED) if reservation.resumed else None
    if sealed is None:
        return False
    if state is None or not is_of(sealed, state):
        # The points themselves may be an array, whose text is rows.
        given = str(points) if isinstance(points, str | os.PathLike | Address) else "what is given as points"
        msg = (
            f"{given} is not what entry {reservation.entry.number} was begun with, or was changed since; a file counts "
            "as changed when it is copied, moved or touched. A release reads one state of its points: give the same "
            "ones, or ask for a new release."
        )
        raise InputError(msg)
    return True


def _lost(reservation: Reservation, error: BaseException) -> str:
    """Settle the budget after points nobody can recognise."""
    if not isinstance(error, LedgerError):
        reservation.abandon("cut off, and its points cannot be told from others")
    return (
        f"Points were read: {_price(reservation)} by entry {reservation.entry.number} of the ledger, and no run can go "
        f"on with it, because none could tell whether the points are still the same. {WHAT_CAN}"
    )


def _not_opened(reservation: Reservation, error: BaseException, *, looked_at_rows: bool) -> str:
    """Settle the budget when points could not be opened.

    It is given back only if no row can have been looked at.

    Else whoever asks for one release after the other, each refused because of a row, would learn of rows at no cost.
    """
    if reservation.resumed or (looked_at_rows and not isinstance(error, HushgridError)):
        return _can_be_resumed(reservation)
    reservation.abandon("the points could not be opened", data_was_read=looked_at_rows)
    given_up = f"entry {reservation.entry.number} of the ledger is given up"
    if looked_at_rows:
        return f"Rows may have been read to open the points: {given_up}, and {_price(reservation)}."
    return f"Nothing was read: {given_up}, and its budget given back."


def _cut_off(reservation: Reservation, error: BaseException) -> str:
    """Settle the budget when a run broke off.

    It is spent, and another run can go on unless the points changed.
    """
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
    entry = reservation.entry
    return f"epsilon {amount(entry.epsilon)} of {whose_budget(entry.dataset, entry.period)} stays spent"
