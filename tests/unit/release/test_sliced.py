"""A release of slices: every method, users, files, the budget and the ledger."""

import json
from collections import Counter as Tally
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import CELL_LIMIT, Grid
from hushgrid.ledger.ledger import open_ledger
from hushgrid.privacy.draws import Draws
from hushgrid.release import sliced
from hushgrid.release.request import ReleaseRequest
from hushgrid.work import Work
from tests.districts import SHAPES
from tests.priors import clustered

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
KINDS = hg.By("kind", values=["a", "b", "empty"])


def made_up(rows: int = 3000) -> pa.Table:
    rng = np.random.default_rng(3)
    kinds = rng.choice(["a", "b", "c"], rows)
    x = np.where(kinds == "a", rng.beta(2, 9, rows), rng.beta(9, 2, rows))
    users = rng.integers(0, 300, rows)
    return pa.table({"lon": x, "lat": rng.beta(2, 3, rows), "kind": kinds, "who": users})


TABLE = made_up()
INSIDE = TABLE.filter(pa.compute.is_in(TABLE["kind"], pa.array(["a", "b"])))


def publish(points=TABLE, *, by=KINDS, epsilon=1, **options) -> hg.Slices:
    return hg.publish(points, domain=DOMAIN, epsilon=epsilon, by=by, rng=hg.simulation_rng(7), **options)


def test_slices_of_few_points_follow_their_total() -> None:
    """Thirty of 3,030 points can prove nothing, and lie as the others do."""
    rng = np.random.default_rng(4)
    kinds = np.where(np.arange(3030) < 30, "few", "many")
    crowd = pa.table({"lon": rng.beta(30, 9, 3030), "lat": rng.beta(9, 30, 3030), "kind": kinds})
    slices = publish(crowd, by=hg.By("kind", values=["few", "many"]), method="staq", calibrate=False)
    corner = (0.6, 0.1, 0.9, 0.4)  # most of them

    assert slices["few"].prior.used
    assert slices["few"].count(corner) > 0.6 * slices["few"].total


MANY = hg.By("kind", values=[*"ab", *map(str, range(sliced.MANY - 2))])


def parameters(name: str, slices: hg.Slices) -> tuple[set[object], object]:
    """A parameter of the slices, which they share, and that of their total."""
    return {part.method.parameters[name] for part in slices.values()}, slices.total.method.parameters[name]


@pytest.mark.parametrize("method", ["auto", "staq"])
def test_many_slices_begin_with_larger_cells_than_few(method) -> None:
    """The others tell what lies inside; the release says so."""
    few, many = (publish(by=by, method=method, calibrate=False) for by in (KINDS, MANY))

    assert parameters("first_level", few) == ({3}, 3)
    assert parameters("first_level", many) == ({2}, 3)
    said = [" ".join(str(hg.describe(slices)).split()) for slices in (few, many)]
    assert ["slices begin with larger ones: first_level 2" in text for text in said] == [False, True]
    assert ["slices have the usual ones" in text for text in said] == [True, False]


def test_totals_are_measured_in_smaller_cells_than_slices() -> None:
    """Unless somebody has chosen the parameters."""
    plain, chosen = (publish(by=MANY, method=method, calibrate=False) for method in ("auto", hg.Staq(c=2.0)))

    assert parameters("c", plain) == ({1.7}, 1.0)
    assert parameters("c", chosen) == ({2.0}, 2.0)
    assert parameters("first_level", chosen) == ({3}, 3)
    assert chosen.total.method.notes == ()


@pytest.mark.parametrize(("slices", "share"), [(2, "1/360"), (3, "1/160"), (12, "1/10"), (40, "1/10")])
def test_totals_of_more_slices_get_more(slices, share) -> None:
    """In proportion to the square of their number, up to a tenth; the slices get the rest."""
    by = hg.By("kind", values=[str(number) for number in range(slices)])
    released = publish(TABLE.slice(0, 0), by=by, method="staq", calibrate=False)

    assert sliced.share_of_total(slices) == Fraction(share)
    assert released.total.claim.epsilon == Fraction(share)
    assert {part.claim.epsilon for part in released.values()} == {1 - Fraction(share)}
    assert released.claim.epsilon == 1


def test_slices_sharpen_each_other() -> None:
    """Twenty that lie alike are better known than each by itself with all of epsilon."""
    kinds = hg.By("kind", values=list("abcdefghijklmnopqrst"))
    points, rng = clustered(40_000, seed=0), np.random.default_rng(5)
    drawn = rng.choice(kinds.names, len(points))
    low = rng.random((300, 2)) * 0.96
    rects = np.hstack([low, low + 0.04])
    inside = ((points[:, None] >= rects[:, :2]) & (points[:, None] <= rects[:, 2:])).all(axis=2)
    table, errors = pa.table({"lon": points[:, 0], "lat": points[:, 1], "kind": drawn}), np.zeros(2)
    options = {"domain": DOMAIN, "epsilon": "0.1", "method": "staq", "calibrate": False, "rng": hg.simulation_rng(1)}
    for _ in range(3):
        together = hg.publish(table, by=kinds, **options)
        for kind in kinds.names:
            alone, truth = hg.publish(points[drawn == kind], **options), inside[drawn == kind].sum(axis=0)
            errors += [np.abs(release.count(rects) - truth).mean() for release in (together[kind], alone)]

    assert errors[0] < 0.85 * errors[1]


def test_sums_of_empty_slices_say_that_there_may_be_nothing() -> None:
    """Counts that are never negative lean upward in each of them, and so does their sum: its interval knows."""
    kinds = hg.By("kind", values=list("abcdefg"))
    options = {"by": kinds, "method": "staq", "epsilon": 1}
    empty = TABLE.slice(0, 0)
    released = [hg.publish(empty, domain=DOMAIN, rng=hg.simulation_rng(seed), **options) for seed in range(5)]
    answers = [each.answer(DOMAIN.bounds, slices=kinds.names) for each in released]

    assert sum(answer.low == 0 for answer in answers) >= 4
    assert np.mean([answer.estimate for answer in answers]) > 40
    assert not any(answer.usable for answer in answers)


@pytest.mark.parametrize("method", hg.METHODS)
def test_every_method_releases_every_slice_within_the_budget(method) -> None:
    slices = publish(method=method, calibrate=False)
    assert slices.names == ("a", "b", "empty")
    assert slices.claim.epsilon == 1
    assert (slices.total is not None) == (method == "staq")
    own = 1 - sliced.share_of_total(len(KINDS.names)) if method == "staq" else Fraction(1)
    assert {part.claim.epsilon for part in slices.values()} == {own}
    assert all(part.domain == DOMAIN for part in slices.values())


def test_slices_are_near_the_truth_and_the_empty_one_is_released() -> None:
    slices = publish(epsilon=10, method="ug")
    sizes = Tally(TABLE["kind"].to_pylist())
    for name, part in slices.items():
        assert part.total == pytest.approx(sizes[name], abs=60)


class Spy(PointCounter):
    """Counts a coarse grid of whatever a method is given, without noise."""

    seen: ClassVar[list] = []

    def __init__(self, domain, source) -> None:
        super().__init__(domain, source)
        self.seen.append((self.count(Grid(domain=domain, rows=3, columns=3)), source.rows()))


@pytest.mark.parametrize("memory_bytes", [2000, 2**27])
@pytest.mark.parametrize("user", [None, "who"])
def test_true_counts_of_slices_sum_to_those_without_slices(memory_bytes, user, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(sliced, "PointCounter", Spy)
    monkeypatch.setattr(sliced, "MEMORY_BYTES", memory_bytes)
    monkeypatch.setattr(Spy, "seen", [])
    pq.write_table(TABLE, tmp_path / "points.parquet", row_group_size=500)
    options = {} if user is None else {"user": user, "max_per_user": 1000}
    publish(tmp_path / "points.parquet", method="staq", calibrate=False, **options)
    (all_counts, all_rows), *parts = Spy.seen
    points = np.stack([INSIDE["lon"], INSIDE["lat"]], axis=1)
    expected = PointCounter(DOMAIN, ArrayPoints(points)).count(Grid(domain=DOMAIN, rows=3, columns=3))
    assert np.array_equal(all_counts, expected)
    assert np.array_equal(sum(counts for counts, _ in parts), expected)
    assert all_rows == sum(rows for _, rows in parts) == INSIDE.num_rows


def test_rows_in_no_slice_change_nothing() -> None:
    first, second = publish(method="ag"), publish(INSIDE, method="ag")
    for name in first:
        assert np.array_equal(first[name].counts, second[name].counts)


def test_a_change_in_one_slice_changes_no_other_but_through_the_total() -> None:
    without = TABLE.filter(pa.compute.not_equal(TABLE["kind"], "b"))
    first, second = (publish(data, method=hg.UniformGrid(side=4), calibrate=False) for data in (TABLE, without))
    assert np.array_equal(first["a"].counts, second["a"].counts)
    assert not np.array_equal(first["b"].counts, second["b"].counts)


def test_the_total_sharpens_the_slices_of_staq() -> None:
    rng = np.random.default_rng(4)
    places = rng.random((40, 2))[rng.integers(0, 40, 20_000)] + rng.normal(0, 0.004, (20_000, 2))
    points = pa.table({"lon": places[:, 0], "lat": places[:, 1], "kind": rng.choice(["a", "b"], 20_000)})
    slices = publish(points, method="staq", calibrate=False)
    records = [part.prior for part in slices.values()]
    assert {record.kind for record in records if record is not None} == {"total"}
    assert {part.inference for part in slices.values() if part.prior is not None} == {"belief-slices"}
    assert any(record is not None and record.used for record in records)
    assert publish(calibrate=False)["a"].method.asked == "auto"


@pytest.mark.parametrize("users", [{}, {"user": "who", "max_per_user": 2}], ids=["records", "users"])
def test_a_sharpened_slice_is_saved_under_the_guarantee_of_all(tmp_path, users) -> None:
    """Its counts follow from all others, so that its own claim would say less than it costs; the total's is true."""
    path, slices = tmp_path / "one.dp.parquet", publish(method="staq", **users)
    with pytest.raises(ArgumentError, match=r"Save it under the guarantee of all: slices\.shown"):
        slices["a"].save(path, allow_simulation=True)
    assert not path.exists()
    slices.shown("a").save(path, allow_simulation=True)
    saved, checked = hg.read(path), hg.verify(path)

    assert saved.claim.epsilon == slices.claim.epsilon == 1
    assert saved.claim.alone == slices["a"].claim
    np.testing.assert_array_equal(saved.counts, slices["a"].counts)
    assert [check.name for check in checked.checks if not check.ok] == ["release"]  # a simulation, and nothing else
    assert "calibration" in {check.name for check in checked.checks}


def test_a_total_and_slices_that_nothing_sharpened_are_saved_as_they_are(tmp_path) -> None:
    """Their own claims are true."""
    path = tmp_path / "one.dp.parquet"
    publish(method="staq", calibrate=False).total.save(path, allow_simulation=True)
    assert hg.read(path).claim.epsilon == sliced.share_of_total(3)
    publish(method="ug")["a"].save(path, allow_simulation=True, overwrite=True)
    assert hg.read(path).claim.epsilon == 1


def test_users_are_bounded_over_all_slices() -> None:
    slices = publish(user="who", max_per_user=2, epsilon=50, method=hg.UniformGrid(side=1), calibrate=False)
    assert sum(part.total for part in slices.values()) == pytest.approx(600, abs=30)  # 300 users, two records each
    assert slices.claim.unit == "user"
    assert slices.claim.epsilon == 50
    assert {part.claim.max_per_unit for part in slices.values()} == {2}


def test_areas_are_published_slice_by_slice() -> None:
    slices = publish(method=hg.Areas(list(SHAPES.values()), names=list(SHAPES)), epsilon=5)
    assert slices.on_areas
    assert slices.total is None
    users = publish(method=hg.Areas(list(SHAPES.values()), names=list(SHAPES)), user="who", max_per_user=2)
    assert users.claim.unit == "user"


@pytest.mark.parametrize("options", [{}, {"user": "who", "max_per_user": 2}])
def test_a_lazy_frame_is_released_like_its_rows(options) -> None:
    frame = pl.from_arrow(TABLE)
    first, second = (publish(points, method="ag", calibrate=False, **options) for points in (frame, frame.lazy()))
    for name in first:
        assert np.array_equal(first[name].counts, second[name].counts)


def test_an_empty_table_is_released_like_any_other() -> None:
    slices = publish(TABLE.slice(0, 0), calibrate=False)
    assert slices.names == KINDS.names


def test_the_bar_is_told_the_same_whatever_the_points_are() -> None:
    told: list[list[float]] = []
    for points in (TABLE, TABLE.slice(0, 0)):
        told.append([])
        publish(points, calibrate=False, progress=told[-1].append)
    assert told[0] == told[1] == [percent / 100 for percent in range(101)]


@pytest.mark.parametrize("method", ["ug", "staq"])
def test_the_bar_moves_with_every_slice(method, monkeypatch) -> None:
    """However many there are: between any two that are begun, it is told something."""
    told: list[float] = []
    begun: list[int] = []

    class Watch(PointCounter):
        def __init__(self, domain, source) -> None:
            super().__init__(domain, source)
            begun.append(len(told))

    monkeypatch.setattr(sliced, "PointCounter", Watch)
    publish(method=method, calibrate=False, progress=told.append)
    assert len(begun) == len(KINDS.names) + (method == "staq")
    assert begun == sorted(set(begun))


def test_two_together_are_every_pair() -> None:
    times = pa.array(["2026-01-05T10:00", "2026-01-06T11:00"] * (TABLE.num_rows // 2))
    points = TABLE.append_column("at", times)
    by = [KINDS, hg.By.time("at", "weekday")]
    slices = publish(points, by=by, method=hg.UniformGrid(side=1), epsilon=20)
    assert len(slices.names) == 21
    counts = Tally(zip(TABLE["kind"].to_pylist(), ["Mon", "Tue"] * (TABLE.num_rows // 2), strict=True))
    for (kind, day), count in counts.items():
        if kind != "c":
            assert slices[f"{kind} / {day}"].total == pytest.approx(count, abs=10)
    assert slices["empty / Mon"].total == pytest.approx(0, abs=10)


REFUSED = [
    ({"distinct": True, "user": "who", "max_per_user": 2, "method": hg.UniformGrid(side=2)}, "distinct and by"),
    ({"estimate": "all-records", "user": "who", "max_per_user": 2}, "estimate and by"),
    ({"scale_to_total": 100, "user": "who", "max_per_user": 2}, "scale_to_total and by"),
    ({"max_for_total": 100, "user": "who", "max_per_user": 2}, "max_for_total and by"),
    ({"public_size": 100}, "public_size and by"),
    ({"method": hg.UniformGrid(side=8000)}, f"or there may be {CELL_LIMIT // 8000**2} slices"),
    ({"max_cells": CELL_LIMIT}, f"max_cells={CELL_LIMIT // 4}"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_slices_cannot_do_is_refused_before_anything_is_opened(options, words) -> None:
    with pytest.raises(ArgumentError) as refusal:
        publish("no such file.parquet", **options)
    assert words in str(refusal.value)


def test_slices_are_part_of_the_request() -> None:
    arguments = {"domain": DOMAIN, "epsilon": 1}
    plain, by_kind = ReleaseRequest.of(**arguments), ReleaseRequest.of(**arguments, by=KINDS)
    other = ReleaseRequest.of(**arguments, by=hg.By("kind", values=["a", "b"]))
    assert len({request.for_ledger("trips").key for request in (plain, by_kind, other)}) == 3
    assert json.loads(by_kind.for_ledger("trips").parameters["by"]) == KINDS.to_dict()
    assert "by" not in plain.for_ledger("trips").parameters


class Notebook:
    """A journal in memory that may break off."""

    def __init__(self, most: int) -> None:
        self.kept: dict[int, tuple[str, bytes]] = {}
        self.most = most

    def recall(self, number, fingerprint):
        """What was kept."""
        if number not in self.kept:
            return None
        mark, payload = self.kept[number]
        assert mark == fingerprint
        return payload

    def record(self, number, fingerprint, payload) -> None:
        """Keep it, if there is room."""
        if len(self.kept) == self.most:
            raise InterruptedError
        self.kept[number] = (fingerprint, payload)


@pytest.mark.parametrize("options", [{}, {"user": "who", "max_per_user": 3}])
def test_a_run_that_was_cut_off_goes_on_and_draws_nothing_twice(options) -> None:
    request = ReleaseRequest.of(domain=DOMAIN, epsilon=1, by=KINDS, calibrate=False, **options)
    journal = Notebook(most=6)
    with pytest.raises(InterruptedError):
        sliced.release_slices(request, request.open(TABLE), bits=hg.simulation_rng(1), journal=journal)
    begun = dict(journal.kept)
    journal.most = 10**6
    first = sliced.release_slices(request, request.open(TABLE), bits=hg.simulation_rng(2), journal=journal)
    assert begun.items() <= journal.kept.items()
    again = sliced.release_slices(request, request.open(TABLE), bits=hg.simulation_rng(3), journal=journal)
    for name in first:
        assert np.array_equal(first[name].counts, again[name].counts)


def test_slices_are_charged_once_and_come_back_from_the_ledger(tmp_path) -> None:
    ledger = tmp_path / "city.ledger"
    with open_ledger(ledger, create=True) as book:
        book.add_dataset("trips", budget=3, unit="record")
    arguments = {"domain": DOMAIN, "epsilon": 1, "by": KINDS, "ledger": ledger, "dataset": "trips", "calibrate": False}
    first = hg.publish(TABLE, **arguments)
    again = hg.publish(TABLE, **arguments)
    assert {part.ledger.entry for part in first.values()} == {1}
    for name in first:
        assert np.array_equal(first[name].counts, again[name].counts)
    with open_ledger(ledger) as book:
        assert book.book().account("trips").left == 2


def test_one_request_of_a_slice_has_its_share_and_no_slices() -> None:
    request = ReleaseRequest.of(domain=DOMAIN, epsilon=1, by=KINDS)
    assert request.releases == 4
    assert replace(request, by=None).releases == 1
    with Work(sliced.sliced_steps(request)) as work:
        work.begin("counting")
    assert request.budget(hg.simulation_rng(1), Draws()).epsilon == 1
