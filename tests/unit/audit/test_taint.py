"""Routes examined with forced draws: sound ones pass, and methods that decide by true counts do not."""

from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest

from hushgrid.audit.check import Setting
from hushgrid.audit.handing import as_duckdb, as_folder, as_polars, as_table, beside_a_prior
from hushgrid.audit.neighbours import UNIT_SQUARE, record_family, user_family
from hushgrid.audit.routes import Route, every_route
from hushgrid.audit.taint import examine
from hushgrid.counting.bounding import Kept
from hushgrid.counting.by_user.ids import Ids
from hushgrid.geometry.grid import Grid
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.methods import METHODS
from hushgrid.methods.method import record
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.staq import Staq
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

SETTING = Setting(methods=(), epsilon=Fraction(1), runs=50, quick=True)
USERS = {"method": UniformGrid(side=2), "max_per_user": 3}


@dataclass(frozen=True, kw_only=True)
class Cheat:
    """A grid that may be sized, ordered, noted or noised by the truth."""

    name: ClassVar[str] = "cheat"
    flaw: str = ""

    def release(self, counter, budget):
        """Publish a grid."""
        rows = 2 + (counter.total() > 100) if self.flaw == "size" else 2
        grid = Grid(domain=counter.domain, rows=rows, columns=2)
        true_counts = counter.count(grid)
        share = Fraction(1, 2) if self.flaw == "shares" else Fraction(1)
        measured = budget.measure(true_counts, share)
        if self.flaw == "shares":
            again = budget.perturb(true_counts, Fraction(1))
            measured = NoisyValues.at_one_rate(np.where(again > 0, measured.values, -1), measured.rates[0])
        notes = (f"{true_counts.max()} at most",) if self.flaw == "notes" else ()
        return Synopsis.infer(
            grid,
            Measurements.of_leaves(measured),
            inference="direct",
            claim=budget.claim(),
            method=record(self, *notes),
        )


def examined(**route):
    """What is found on a route."""
    return examine(Route(title="tried", method="tried", **route), SETTING)


def test_a_sound_method_passes():
    """A sound method passes, and its neighbours differ by epsilon exactly."""
    found = examined(arguments={"method": Cheat()})

    assert (found.tainted, found.overspent) == (None, None)
    assert found.largest == pytest.approx(1)


@pytest.mark.parametrize(("flaw", "words"), [("size", "draw 1"), ("notes", "metadata hushgrid (method)")])
def test_a_method_that_looks_at_the_truth_is_found(flaw, words):
    """With what it did differently."""
    assert words in examined(arguments={"method": Cheat(flaw=flaw)}).tainted


def test_a_draw_that_was_not_paid_for_is_found():
    """Even though it shows by its sign alone."""
    found = examined(arguments={"method": Cheat(flaw="shares")})

    assert found.tainted is None
    assert "where at most 0.5 is claimed" in found.overspent


def test_signs_of_privtree_are_what_counts():
    """By values it would cost more than it claims."""
    found = examined(arguments={"method": PrivTree(depth=3)})

    assert (found.tainted, found.overspent) == (None, None)
    assert 0.8 < found.largest < 1


@pytest.mark.parametrize("hand_over", [as_folder, as_duckdb, as_polars])
def test_ways_in_count_alike(hand_over):
    """Points from files and engines are counted alike."""
    found = examined(arguments={"method": UniformGrid(side=2)}, hand_over=hand_over, sets="few")

    assert (found.tainted, found.overspent, round(found.largest, 9)) == (None, None, 1)


def test_users_cost_what_is_claimed():
    """However many records they have, with a private total too."""
    found = examined(arguments={**USERS, "scale_to_total": "private"}, of_users=True, hand_over=as_folder)

    assert (found.tainted, found.overspent, round(found.largest, 9)) == (None, None, 1)


def test_a_ledger_and_a_command_show_nothing_else():
    """Request, journal, messages and manifest."""
    for route in every_route(()):
        if route.title in ("ledger", "command") and route.method == "ag":
            found = examine(route, SETTING)
            assert (found.tainted, found.overspent) == (None, None)


def test_a_public_prior_shows_nothing_of_the_records():
    """It is believed on the set that draws are recorded on, so that all of it is examined."""
    (route,) = (route for route in every_route(()) if route.title == "public prior")
    with ExitStack() as stack, TemporaryDirectory() as folder:
        points, more = route.handed(record_family().sets["crowd"], Path(folder), stack)
        release = publish(points, domain=UNIT_SQUARE, epsilon=1, rng=simulation_rng(0), **route.arguments, **more)
        assert release.prior.used
    found = examine(route, SETTING)

    assert (found.tainted, found.overspent, round(found.largest, 9)) == (None, None, 1)


def test_a_prior_made_from_the_records_is_found():
    """Whatever it is called, and though nothing else of the release is wrong."""

    def from_records(records, folder, stack):
        points, more = beside_a_prior(records, folder, stack)
        pq.write_table(as_table(records), more["prior"])
        return points, more

    found = examined(arguments={"method": Staq(first_level=1, deepest=6)}, hand_over=from_records, sets="few")

    assert "of the file differs" in found.tainted


@pytest.mark.parametrize("name", ["period", "period, users"])
def test_a_period_costs_and_shows_its_own_records_alone(name):
    """Though all records are there in the next month, too."""
    (route,) = (route for route in every_route(()) if route.title == name)
    found = examine(route, SETTING)

    assert (found.tainted, found.overspent, round(found.largest, 9)) == (None, None, 1)


class Unfiltered:
    """A source that keeps the rows of all months."""

    def __init__(self, source):
        self._source = source
        self.rows, self.check_unchanged, self.state = source.rows, source.check_unchanged, source.state

    def parts(self):
        """All blocks, which slice they are in forgotten."""
        return [[block._replace(slices=None) for block in part] for part in self._source.parts()]


def test_a_period_that_reads_other_months_is_found(monkeypatch):
    """Each record would count twice, and cost as much."""
    monkeypatch.setattr("hushgrid.release.request.within_slices", Unfiltered)
    (route,) = (route for route in every_route(()) if route.title == "period")
    found = examine(route, SETTING)

    assert found.overspent is not None
    assert found.largest > 1.9


@pytest.mark.parametrize("name", ["slices and their total", "slices, users"])
def test_slices_cost_one_budget_and_show_nothing_else(name):
    """A record is in one slice and in the total; a user may be in every slice."""
    for route in every_route(()):
        if route.title == name and route.method == "staq":
            found = examine(route, SETTING)
            assert (found.tainted, found.overspent, round(found.largest, 9)) == (None, None, 1)


def test_users_bounded_in_each_slice_by_itself_are_found(monkeypatch):
    """Somebody in every slice would cost as many budgets."""

    def keep(rows, rule):
        kept = [np.flatnonzero(rows.slices == number) for number in range(4)]
        kept = [own[rule.keep(*_rows_of(rows, own)).rows] for own in kept]
        return Kept(rows=np.sort(np.concatenate(kept)), true_capped_total=0)

    def _rows_of(rows, own):
        return Ids(rows.ids.numbers[own], rows.ids.content, rows.ids.edges), rows.longitudes[own], rows.latitudes[own]

    monkeypatch.setattr("hushgrid.counting.bounded._keep", keep)
    (route,) = (route for route in every_route(()) if route.title == "slices, users" and route.method == "ug")
    found = examine(route, SETTING)

    assert "at most 1 is claimed" in found.overspent


def test_every_method_and_way_in_has_a_route():
    """Every method, auto and areas have a route, and no route comes twice."""
    planned = [(route.method, route.title) for route in every_route(tuple(METHODS))]

    assert len(planned) == len(set(planned))
    assert {method for method, _ in planned} == {*METHODS, "auto", "areas"}


@pytest.mark.parametrize("family", [record_family(), user_family()])
def test_neighbours_differ_by_one(family):
    """By one record, or by all records of one user; or by nothing but their order."""
    for pair in family.pairs:
        first, second = (_rows(family.sets[name]) for name in pair[:2])
        if pair.same:
            assert sorted(first) == sorted(second)
        else:
            assert second[: len(first)] == first
            added = second[len(first) :]
            assert len(added) == 1 if family is record_family() else len({user for _, user in added}) == 1


def _rows(records):
    users = records.users or [None] * len(records.points)
    return [(repr(point), str(user)) for point, user in zip(records.points.tolist(), users, strict=True)]
