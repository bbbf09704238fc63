"""One bar over all work of a release: the same calls whatever the points are, and the truth about what is to come."""

import numpy as np
import polars as pl
import pytest

import hushgrid as hg
from hushgrid.counting import csv as csv_points
from hushgrid.ledger.ledger import open_ledger
from hushgrid.methods import METHODS
from hushgrid.release.delivery import Charge, Delivery
from hushgrid.release.publish import deliver
from hushgrid.release.request import ReleaseRequest

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
ALL = [step / 100 for step in range(101)]
USERS = {"user": "who", "max_per_user": 3}


def table(rows, seed):
    """Points and users that differ in number and place."""
    rng = np.random.default_rng(seed)
    points = rng.beta(2, 5, (rows, 2))
    return {"lon": points[:, 0], "lat": points[:, 1], "who": rng.integers(0, rows // 4 + 1, rows)}


def duckdb_relation(columns):
    """A lazy table of an engine that can bound users."""
    duckdb = pytest.importorskip("duckdb")
    frame = pl.DataFrame(columns)  # noqa: F841  # DuckDB finds it by its name
    return duckdb.connect().sql("SELECT * FROM frame")


def made(name):
    return METHODS[name](side=16) if name == "identity" else name


class Watch:
    """What was told, and what was there when it was."""

    def __init__(self, output=None):
        self.shares, self.stages, self.there = [], {}, []
        self.output = output

    def progress(self, share):
        """Note a per cent."""
        self.shares.append(share)
        self.there.append(self.output is not None and self.output.exists())

    def tell_stage(self, stage):
        """Note a stage."""
        self.stages[stage] = self.shares[-1]

    def deliver(self, points, *, charge=None, epsilon=3, **options):
        """Publish under watch."""
        request = ReleaseRequest.of(domain=DOMAIN, epsilon=epsilon, **options)
        delivery = Delivery(output=self.output, progress=self.progress, tell_stage=self.tell_stage)
        deliver(request, points, charge=charge, delivery=delivery)
        return self


ROUTES = {
    "record": ({}, pl.DataFrame),
    "user": (USERS, pl.DataFrame),
    "engine": ({}, pl.LazyFrame),
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("method", METHODS)
def test_every_release_is_told_alike(method, route):
    """Of two data sets, one of them with a single record: each whole per cent once, in order."""
    options, form = ROUTES[route]
    for rows in (1, 700):
        watch = Watch().deliver(form(table(rows, rows)), method=made(method), calibrate=rows > 1, **options)

        assert watch.shares == ALL
        words = [stage for stage in watch.stages if stage != "intervals"]
        bounding = ["bounding"] if route == "user" else []
        assert words == ["reading", *bounding, "counting", "inference", "writing"]


def test_an_engine_that_bounds_users_is_told_alike():
    """It copies, bounds and counts by queries."""
    for rows in (1, 300):
        watch = Watch().deliver(duckdb_relation(table(rows, rows)), method="ag", **USERS)

        assert watch.shares == ALL
        assert list(watch.stages) == ["reading", "bounding", "counting", "inference", "intervals", "writing"]


def test_a_csv_file_is_told_alike(tmp_path, monkeypatch):
    """It is read once for its size, in small blocks, and once for each question."""
    monkeypatch.setattr(csv_points, "BLOCK_BYTES", 999)
    for rows in (1, 2000):
        path = tmp_path / f"{rows}.csv"
        pl.DataFrame(table(rows, rows)).write_csv(path)
        watch = Watch().deliver(path, method="ag")

        assert watch.shares == ALL
        assert watch.stages["counting"] > 0


@pytest.mark.parametrize("options", [{}, USERS], ids=["record", "user"])
def test_at_the_end_the_release_is_there(options, tmp_path):
    """The last per cent is told when the file is written, and no other one is."""
    watch = Watch(tmp_path / "trips.dp.parquet").deliver(pl.DataFrame(table(700, 1)), **options)

    assert watch.there[-1]
    assert not any(watch.there[:-2])


@pytest.mark.parametrize("method", METHODS)
def test_bounding_begins_where_the_plan_has_it(method):
    """Reading is a small part of the work at user level, and most of it is still to come."""
    request = ReleaseRequest.of(domain=DOMAIN, epsilon=3, method=made(method), **USERS)
    steps = request.cost.steps
    share = steps[0].seconds / sum(step.seconds for step in steps)
    watch = Watch().deliver(pl.DataFrame(table(700, 1)), method=made(method), **USERS)

    assert watch.stages["bounding"] <= share + 0.01
    assert share < 0.1
    assert watch.stages["bounding"] < watch.stages["counting"] < 1


def test_stages_begin_in_order_and_leave_room(tmp_path):
    """STAQ's inference and intervals have a part of the bar each."""
    watch = Watch().deliver(pl.DataFrame(table(5000, 1)), epsilon=1)
    at = list(watch.stages.values())

    assert at == sorted(at)
    assert watch.stages["inference"] + 0.1 < watch.stages["intervals"] + 0.1 < watch.stages["writing"]


def test_a_release_on_a_ledger_is_told_alike(tmp_path):
    """Whether it is made, or given back at no cost."""
    place = tmp_path / "city.ledger"
    with open_ledger(place, create=True) as ledger:
        ledger.add_dataset("trips", budget=3, unit="record")
    charge = Charge.of(ledger=place, dataset="trips")
    for _ in range(2):
        assert Watch().deliver(pl.DataFrame(table(50, 1)), charge=charge, epsilon=1).shares == ALL
