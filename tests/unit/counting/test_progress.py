"""Passes over the points fill their step of the work, and bounding the step of reading, whatever the points are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting import cell_loops as curve
from hushgrid.counting import counter as counters
from hushgrid.counting import memory
from hushgrid.counting import parquet as parquet_batches
from hushgrid.counting import quadtree as quadrant_counts
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import kind_of, open_counter
from hushgrid.counting.opening import open_points
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.quadrants import all_cells
from hushgrid.work import Step, Work
from tests.unit.counting.tables import DOMAIN, FORMS, some_points

GRID = Grid(domain=DOMAIN, rows=5, columns=9)
PART = 16  # rows, so that few points have many parts
ALL = [step / 100 for step in range(101)]


@pytest.fixture
def small_parts(monkeypatch):
    """Sources are read a few rows at a time."""
    monkeypatch.setattr(memory, "PART_ROWS", PART)
    monkeypatch.setattr(parquet_batches, "BATCH_ROWS", PART)


def told(points, ask, questions=1, **names):
    """What is told before all work is done, and in all."""
    shares = []
    with Work([Step("counting", 1.0)] * questions, shares.append):
        with open_counter(DOMAIN, open_points(points, crs=DOMAIN.crs, **names)) as counter:
            ask(counter)
        before = shares[-1]
    assert shares == ALL
    return before


@pytest.mark.parametrize("rows", [1, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 1, 300])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.usefixtures("small_parts")
def test_every_number_of_rows_fills_the_bar(form, rows, tmp_path):
    """One, or one more than a block holds; in every pass, of every kind of source."""
    points = FORMS[form](np.random.default_rng(rows).uniform([0, 0], [9, 9], (rows, 2)), tmp_path)

    assert (
        told(points, lambda counter: [counter.count(GRID) for _ in range(2)], questions=2) >= 0.85
    )  # a header is no row


@pytest.mark.parametrize("form", FORMS)
def test_no_rows_are_told_alike(form, tmp_path):
    """There is nothing to add, and still the calls are the same."""
    told(FORMS[form](np.empty((0, 2)), tmp_path), lambda counter: counter.count(GRID))


@pytest.mark.parametrize("levels", [(1, 2, 3), (3,), (2, 6, 6)])
def test_neighbours_are_told_alike_where_one_is_too_large_to_sort(levels, monkeypatch):
    """Quadtree cells are counted from sorted points up to so many rows, and in passes beyond: that is not told."""
    points = np.random.default_rng(2).uniform([0, 0], [9, 9], (201, 2))
    monkeypatch.setattr(counters, "MOST_POINTS", 200)
    monkeypatch.setattr(quadrant_counts, "DENSE_LEVEL", 4)

    def ask(counter):
        for level in levels:
            counter.count(all_cells(DOMAIN, level))

    for neighbour in (points[:-1], points):
        told(neighbour, ask, questions=len(levels))
    assert curve.MOST_POINTS == 2**23  # where the two ways part in earnest


@pytest.mark.parametrize("rows", [0, 1, PART, PART + 1, 1500])
@pytest.mark.parametrize("memory_bytes", [2**30, 15_000])
@pytest.mark.usefixtures("small_parts")
def test_bounding_begins_when_all_is_read(rows, memory_bytes):
    """One pass chooses the records of each user; whether they fitted in memory is not told either."""
    points = np.random.default_rng(1).uniform([0, 0], [9, 9], (rows, 2))
    rule = KeyedRule(key=bytes(32), domain=DOMAIN, most=3, most_for_total=9)
    source = open_points(points, crs=DOMAIN.crs, user=np.arange(rows) % 7)
    shares, stages = [], {}
    plan = [Step("reading", 1.0), Step("bounding", 1.0), Step("counting", 2.0)]
    with Work(plan, shares.append, tell_stage=lambda stage: stages.update({stage: shares[-1]})) as work:
        work.begin("reading")
        with bounded_points(source, rule, memory_bytes=memory_bytes):
            assert shares[-1] <= 0.5
            assert stages == {"reading": 0.0, "bounding": 0.25}

    assert shares == ALL


def test_row_groups_are_not_told(tmp_path):
    """A record that begins another row group of a Parquet file changes nothing."""
    for rows in (20, 21):
        places = some_points(40)[:rows]
        pq.write_table(pa.table({"lon": places[:, 0], "lat": places[:, 1]}), tmp_path / f"{rows}.parquet", 10)
        assert told(tmp_path / f"{rows}.parquet", lambda counter: counter.count(GRID)) >= 0.98


def test_shares_of_rows_are_told_by_a_plain_callback():
    """Negative control: a callback that is handed what blocks hold tells neighbours apart."""
    lists = []
    for rows in (PART, PART + 1):
        table = pa.table({"lon": np.zeros(rows), "lat": np.zeros(rows)})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(memory, "PART_ROWS", PART)
            lists.append([block.share for part in open_points(table, crs=DOMAIN.crs).parts() for block in part])

    assert lists[0] != lists[1]


@pytest.mark.parametrize("form", FORMS)
def test_the_kind_of_a_source_is_that_of_its_form(form, tmp_path):
    """It is what is known of how long reading takes."""
    points = open_points(FORMS[form](some_points(9), tmp_path), crs=DOMAIN.crs)

    assert kind_of(points) == ("csv" if "csv" in type(points).__name__.lower() else "table")
