"""Releases on the account of a data set, in SQLite and in PostgreSQL."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError, BudgetError
from hushgrid.files.release import parse_release
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import CommittedRelease, LedgerJournal, Reservation
from hushgrid.methods import METHODS
from hushgrid.release.on_ledger import publish_reserved
from hushgrid.release.request import ReleaseRequest

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
POINTS = np.random.default_rng(5).random((3000, 2))
GIVEN: dict[str, Any] = {
    "domain": DOMAIN,
    "epsilon": 1,
    "method": "ag",
    "user": np.arange(3000) % 500,
    "max_per_user": 2,
    "calibrate": False,
}


def test_one_request_is_one_release(place: str) -> None:
    """Asked for twice it is charged once; another one, and what does not fit, are on the same account."""
    first, again = (hg.publish(POINTS, **GIVEN, ledger=place, dataset="trips") for _ in range(2))
    new = hg.publish(POINTS, **GIVEN, ledger=place, dataset="trips", new_release=True)

    assert np.array_equal(first.counts, again.counts)
    assert first.ledger == again.ledger
    assert new.ledger is not None
    assert new.ledger.entry == 2
    with pytest.raises(BudgetError, match="which has 1 left"):
        hg.publish(POINTS, **GIVEN | {"epsilon": 2}, ledger=place, dataset="trips")
    with open_ledger(place) as ledger:
        assert ledger.verify(head=new.ledger.head).ok
        assert ledger.book().accounts["trips"].left == 1


@pytest.mark.parametrize("kept", range(6))
def test_a_run_that_was_cut_off_goes_on_with_what_it_drew(
    place: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After any number of measurements: the ledger kept them, the release is made of them, and costs nothing more."""
    job = ReleaseRequest.of(**GIVEN)
    drawn: dict[int, bytes] = {}
    with open_ledger(place) as ledger:
        reservation = ledger.reserve(job.for_ledger("trips"))
        assert isinstance(reservation, Reservation)
        with monkeypatch.context() as patch:
            patch.setattr(LedgerJournal, "record", cutting_off(after=kept, drawn=drawn))
            with pytest.raises(ConnectionError) as cut:
                publish_reserved(job, POINTS, reservation)
        recalled: dict[int, bytes] = {}
        monkeypatch.setattr(LedgerJournal, "recall", noting(recalled))
        release = publish_reserved(job, POINTS, ledger.resume(1, job.for_ledger("trips")))
        left = ledger.book().accounts["trips"].left
        synopsis = parse_release(release.read(), name="it")

    assert "stays spent by entry 1" in cut.value.__notes__[0]
    assert recalled == drawn
    assert len(drawn) == kept
    assert left == 2
    if 4 in drawn:  # after the state of the points, the key of the users, the total and the size: the first level
        assert synopsis.measurements.region_values.values.tobytes() == drawn[4]


def test_python_goes_on_with_an_entry(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`publish(resume=...)` costs nothing more; it is no new release, and is about an entry of a ledger."""
    given = {**GIVEN, "ledger": place, "dataset": "trips"}
    with monkeypatch.context() as patch:
        patch.setattr(LedgerJournal, "record", cutting_off(after=2, drawn={}))
        with pytest.raises(ConnectionError):
            hg.publish(POINTS, **given)

    synopsis = hg.publish(POINTS, **given, resume=1)

    assert synopsis.ledger is not None
    assert synopsis.ledger.entry == 1
    with open_ledger(place) as ledger:
        assert ledger.book().accounts["trips"].left == 2
    with pytest.raises(ArgumentError, match="Give one of them"):
        hg.publish(POINTS, **given, resume=1, new_release=True)
    with pytest.raises(ArgumentError, match="resume needs dataset"):
        hg.publish(POINTS, **GIVEN, resume=1)


def test_the_points_are_given_as_a_name_too(place: str, tmp_path: Path) -> None:
    """A path may be a text; what is wrong with it gives the budget back, and the error says so."""
    missing = str(tmp_path / "none.parquet")
    with pytest.raises(hg.InputError) as error:
        hg.publish(missing, **GIVEN | {"user": "rider"}, ledger=place, dataset="trips")

    assert "its budget given back" in error.value.__notes__[0]
    with open_ledger(place) as ledger:
        assert ledger.book().accounts["trips"].left == 3


@pytest.mark.parametrize("method", METHODS)
def test_settings_and_parameters_have_names_of_their_own(method: str) -> None:
    """A request has both, so that none may hide another."""
    made = METHODS[method]() if method != "identity" else METHODS[method](side=4)
    job = ReleaseRequest.of(domain=DOMAIN, epsilon=1, method=made, user="rider", max_per_user=2)

    assert not set(vars(made)) & set(job._settings)
    assert set(job.for_ledger("trips").parameters) == set(vars(made)) | set(job._settings)


CHANGES: dict[str, dict[str, Any]] = {
    "epsilon": {"epsilon": "0.7"},
    "domain": {"domain": hg.Domain(west=0, south=0, east=1, north=2)},
    "method": {"method": "ug"},
    "parameters": {"method": hg.AdaptiveGrid(alpha=0.25)},
    "columns": {"lon": "x", "lat": "y"},
    "geometry": {"geometry": "place"},
    "user column": {"user": "driver"},
    "records kept": {"max_per_user": 3},
    "rows without an id": {"missing_user": "own"},
    "decimals after a comma": {"decimal": ","},
    "columns between tabs": {"delimiter": "tab"},
    "a public total": {"scale_to_total": 10**6},
    "a private total": {"scale_to_total": "private"},
    "its cap": {"scale_to_total": "private", "max_for_total": 7},
    "the share of records kept": {"kept_share": False},
    "the cap of all records": {"max_for_total": 7},
    "users counted": {"distinct": True, "method": hg.UniformGrid(side=4)},
    "a grid of records": {"method": hg.UniformGrid(side=4)},
    "a public size": {"public_size": 10},
    "where the size is from": {"size_from": "domain"},
    "what the size costs": {"size_share": "0.02"},
    "calibration": {"calibrate": True},
}


def test_every_argument_that_shapes_a_release_is_part_of_the_request() -> None:
    """Each change makes another key, and other spellings of the same numbers do not."""
    plain = GIVEN | {"user": "rider"}
    keys = [ReleaseRequest.of(**plain | change).for_ledger("trips").key for change in [{}, *CHANGES.values()]]

    assert len(set(keys)) == len(CHANGES) + 1
    for same in ({"epsilon": Fraction(1)}, {"epsilon": "1.000"}, {"size_share": 0.01}, {"method": hg.AdaptiveGrid()}):
        assert ReleaseRequest.of(**plain | same).for_ledger("trips").key == keys[0]


def cutting_off(*, after: int, drawn: dict[int, bytes]) -> Callable[..., None]:
    """A journal that loses its connection after so many measurements."""
    record = LedgerJournal.record

    def stand_in(self: LedgerJournal, number: int, fingerprint: str, payload: bytes) -> None:
        if len(drawn) == after:
            raise ConnectionError
        drawn[number] = payload
        record(self, number, fingerprint, payload)

    return stand_in


def noting(recalled: dict[int, bytes]) -> Callable[..., bytes | None]:
    """A journal that notes what it gives back."""
    recall = LedgerJournal.recall

    def stand_in(self: LedgerJournal, number: int, fingerprint: str) -> bytes | None:
        payload = recall(self, number, fingerprint)
        if payload is not None:
            recalled[number] = payload
        return payload

    return stand_in


def test_the_release_of_an_entry_is_kept(place: str) -> None:
    """What fulfils a reservation is what the same request gives from then on."""
    job = ReleaseRequest.of(**GIVEN)
    with open_ledger(place) as ledger:
        reservation = ledger.reserve(job.for_ledger("trips"))
        assert isinstance(reservation, Reservation)
        made = publish_reserved(job, POINTS, reservation)
        again = ledger.reserve(job.for_ledger("trips"))

        assert isinstance(again, CommittedRelease)
        assert made.read() == again.read()
