"""A series: the last release of the data set sharpens the next, and the ledger says which."""

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

import hushgrid as hg
from hushgrid.errors import ArgumentError, InputError
from hushgrid.export.language import SHIPPED, Language
from hushgrid.files.release import write_to
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import LedgerJournal, Reservation
from hushgrid.release.delivery import Charge
from hushgrid.release.request import ReleaseRequest

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
GIVEN: dict[str, Any] = {"domain": DOMAIN, "epsilon": "0.5", "method": "staq", "calibrate": False}


def trips() -> pa.Table:
    """Trips around three places from January to March."""
    rng = np.random.default_rng(4)
    rows = 6000
    centres = np.array([[0.2, 0.3], [0.7, 0.6], [0.5, 0.9]])[rng.integers(0, 3, rows)]
    lon, lat = (centres + rng.normal(0, 0.03, (rows, 2))).T
    months = np.array(["2026-01-15", "2026-02-15", "2026-03-15"], "datetime64[us]")[rng.integers(0, 3, rows)]
    return pa.table({"lon": lon, "lat": lat, "started_at": months})


TRIPS = trips()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A ledger with a budget of 1 for each month."""
    path = tmp_path / "trips.ledger"
    with open_ledger(path, create=True) as ledger:
        ledger.add_dataset("trips", budget=1, unit="record", per="month")
    return path


def publish(place: Path, month: str, **more: Any) -> hg.Synopsis:
    """The release of a month, in series unless something else is said."""
    given = GIVEN | {"period": month, "time": "started_at", "series": True, **more}
    return hg.publish(TRIPS, ledger=place, dataset="trips", **given)


def hashes(place: Path) -> list[tuple[str | None, str | None]]:
    """Of every entry, the hash of its release and that of its prior."""
    with open_ledger(place) as ledger:
        assert ledger.verify().ok
        return [(entry.sha256, entry.prior) for entry in ledger.book().entries.values()]


def test_each_month_is_sharpened_by_the_one_before(place: Path) -> None:
    """The first by nothing; the ledger and the release name the same hash, and asking again costs nothing."""
    january, february, march = (publish(place, month) for month in ("2026-01", "2026-02", "2026-03"))
    found = hashes(place)

    assert january.prior is None
    assert [prior for _, prior in found] == [None, found[0][0], found[1][0]]
    assert february.prior is not None
    assert (february.prior.sha256, february.prior.kind) == (found[0][0], "release")
    assert march.prior is not None
    assert march.prior.name == "the release of 2026-02 (entry 2 of the data set 'trips')"
    again = publish(place, "2026-03")
    assert np.array_equal(again.counts, march.counts)
    assert hashes(place) == found


def test_a_late_correction_does_not_make_the_next_month_another_request(place: Path) -> None:
    """March was sharpened by the first February, and is given back when it is asked for again."""
    publish(place, "2026-02")
    march = publish(place, "2026-03")
    publish(place, "2026-02", new_release=True)

    assert np.array_equal(publish(place, "2026-03").counts, march.counts)
    assert len(hashes(place)) == 3


def test_a_run_that_was_cut_off_goes_on_with_the_same_prior(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though there is a later release of the month before."""
    publish(place, "2026-01")
    record, left = LedgerJournal.record, [3]

    def cutting_off(self: LedgerJournal, *arguments: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise ConnectionError
        record(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(LedgerJournal, "record", cutting_off)
        with pytest.raises(ConnectionError) as cut:
            publish(place, "2026-02")
    assert "epsilon 0.5 of 2026-02 of 'trips' stays spent" in cut.value.__notes__[0]
    publish(place, "2026-01", new_release=True)
    february = publish(place, "2026-02", resume=2)

    assert february.prior is not None
    assert february.prior.sha256 == hashes(place)[0][0]


def test_a_simulation_is_no_prior(place: Path) -> None:
    """Somebody has committed one: it is not public by its own claim. Nothing is charged."""
    request = ReleaseRequest.of(**GIVEN, period="2026-01", time="started_at")
    made_up = hg.publish(TRIPS, **GIVEN, rng=hg.simulation_rng(1))
    content = io.BytesIO()
    write_to(made_up, content)
    with open_ledger(place) as ledger:
        reservation = ledger.reserve(request.for_ledger("trips"))
        assert isinstance(reservation, Reservation)
        reservation.commit(content)

    with pytest.raises(InputError, match=r"entry 1 of the ledger, as a prior: it is a simulation and not a release"):
        publish(place, "2026-02")
    assert hashes(place) == [(hashlib.sha256(content.getvalue()).hexdigest(), None)]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another prior": (
        {"prior": "places", "domain": hg.Domain(west=-8, south=49.5, east=2, north=61)},
        "Leave out prior, or series",
    ),
    "no prior": ({"prior": "none"}, "Leave out prior, or series"),
    "an aim at a scale": ({"aim": "5%"}, "a series does not go together with an aim at a scale"),
    "an aim at places": ({"aim": [shapely.box(0.1, 0.1, 0.2, 0.2)]}, "a series does not go together with an aim at"),
    "slices": ({"by": hg.By("kind", values=["a"]), "period": None, "time": None}, "series and by do not go together"),
    "slices of a period": ({"by": hg.By("kind", values=["a"])}, "period and by do not go together"),
    "a method without priors": ({"method": "ag"}, "series sharpens releases by staq"),
}


@pytest.mark.parametrize(("given", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_in_series_is_refused(place: Path, given: dict[str, Any], said: str) -> None:
    """Before anything is charged."""
    with pytest.raises(ArgumentError, match=said):
        publish(place, "2026-02", **given)
    assert hashes(place) == []


def test_a_series_is_one_of_a_ledger() -> None:
    """Which has its releases."""
    with pytest.raises(ArgumentError, match="series needs dataset"):
        hg.publish(TRIPS, **GIVEN, series=True)


def test_without_periods_the_last_release_at_all_is_taken(tmp_path: Path) -> None:
    """A data set with one budget has a series too."""
    with open_ledger(tmp_path / "a.ledger", create=True) as ledger:
        ledger.add_dataset("trips", budget=2, unit="record")
    given = GIVEN | {"ledger": tmp_path / "a.ledger", "dataset": "trips", "series": True}
    hg.publish(TRIPS, **given)
    second = hg.publish(TRIPS, **given, new_release=True)

    found = hashes(tmp_path / "a.ledger")
    assert found[1][1] == found[0][0]
    assert second.prior is not None


@pytest.mark.parametrize("code", SHIPPED)
def test_no_statement_denies_that_a_release_is_made_from_the_data(place: Path, tmp_path: Path, code: str) -> None:
    """A prior that is a release may well be; it is said to be one, and that its cost adds up."""
    publish(place, "2026-01")
    publish(place, "2026-02").save(tmp_path / "february.dp.parquet")
    said, language = str(hg.manifest(tmp_path / "february.dp.parquet", language=code)), Language.of(code)
    before, after = language.sentences["prior_release"].split("`{name}`")

    assert before in said
    assert after.format(licence=language.say("not_stated")) in said
    assert language.sentences["prior_used"].split("`{name}`")[1].partition("(")[0] not in said


def test_a_dry_run_asks_the_period(place: Path) -> None:
    """What it has left, and what a release that exists costs."""
    given = GIVEN | {"time": "started_at", "ledger": place, "dataset": "trips", "series": True}
    publish(place, "2026-01")

    new, old = (hg.check(TRIPS, **given, period=month).quote for month in ("2026-02", "2026-01"))
    assert new is not None
    assert (new.period, new.left, new.left_after) == ("2026-02", 1, 0.5)
    assert "of 2026-02 of 'trips' in the ledger" in str(new)
    assert old is not None
    assert old.entry == 1
    assert not hg.check(TRIPS, **GIVEN, ledger=place, dataset="trips").ok


def test_the_ledger_is_told_of_a_series_by_name_alone() -> None:
    """The request is the same whichever release comes before."""
    request = ReleaseRequest.of(**GIVEN)
    charges = [Charge(ledger="a", dataset="trips", series=series) for series in (False, True)]
    alone, series = (charge.wanted(request) for charge in charges)

    assert alone.key != series.key
    assert series.parameters["series"] is True
