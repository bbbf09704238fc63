"""What is told of progress is the same list whatever the points are: it says nothing of how many there are."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushgrid as hg
from hushgrid.counting import cell_loops as curve
from hushgrid.counting import counter as counters
from hushgrid.counting import csv as csv_points
from hushgrid.counting import memory
from hushgrid.counting import parquet as parquet_batches
from hushgrid.counting import quadtree as quadrant_counts
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import open_counter
from hushgrid.counting.opening import open_points
from hushgrid.counting.source import ShareDone
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.quadrants import all_cells
from hushgrid.methods import METHODS
from tests.unit.counting.tables import DOMAIN, FORMS, some_points

GRID = Grid(domain=DOMAIN, rows=5, columns=9)
ONE_QUESTION = [step / 100 for step in range(101)]
PART = 16  # rows, so that few points have many parts


@pytest.fixture
def small_parts(monkeypatch):
    """Sources are read a few rows at a time."""
    monkeypatch.setattr(memory, "PART_ROWS", PART)
    monkeypatch.setattr(parquet_batches, "BATCH_ROWS", PART)


def told(points, ask, **names):
    """Every call of a progress function while a question is asked."""
    shares = []
    with open_counter(DOMAIN, open_points(points, crs=DOMAIN.crs, **names), progress=shares.append) as counter:
        ask(counter)
    return shares


@pytest.mark.parametrize("rows", [0, 1, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 1, 300])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.usefixtures("small_parts")
def test_every_number_of_rows_is_told_alike(form, rows, tmp_path):
    """No rows, or one more than a block holds; in every pass, of every kind of source."""
    points = FORMS[form](np.random.default_rng(rows).uniform([0, 0], [9, 9], (rows, 2)), tmp_path)

    assert told(points, lambda counter: [counter.count(GRID) for _ in range(2)]) == 2 * ONE_QUESTION


@settings(max_examples=60, deadline=None)
@given(rows=st.integers(0, 3000), part=st.integers(1, 400), threads=st.sampled_from(["1", "3"]))
def test_neighbours_are_told_alike(rows, part, threads):
    """Tables of n and of n + 1 records, however they are cut into blocks and read by however many threads."""
    points = np.random.default_rng(rows).random((rows + 1, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "PART_ROWS", part)
        patch.setenv("HUSHGRID_THREADS", threads)
        for neighbour in (points[:-1], points, pa.table({"lon": points[:, 0], "lat": points[:, 1]})):
            assert told(neighbour, lambda counter: counter.count(GRID)) == ONE_QUESTION


@pytest.mark.parametrize("levels", [(1, 2, 3), (3,), (2, 6, 6)])
def test_neighbours_are_told_alike_where_one_is_too_large_to_sort(levels, monkeypatch):
    """Quadtree cells are counted from sorted points up to so many rows, and in passes beyond: that is not told."""
    points = np.random.default_rng(2).uniform([0, 0], [9, 9], (201, 2))
    monkeypatch.setattr(counters, "MOST_POINTS", 200)
    monkeypatch.setattr(quadrant_counts, "DENSE_LEVEL", 4)

    def ask(counter):
        for level in levels:
            counter.count(all_cells(DOMAIN, level))

    assert told(points[:-1], ask) == told(points, ask) == len(levels) * ONE_QUESTION
    assert curve.MOST_POINTS == 2**23  # where the two ways part in earnest


@pytest.mark.parametrize("rows", [0, 1, PART, PART + 1, 1500])
@pytest.mark.usefixtures("small_parts")
def test_bounding_is_told_alike(rows):
    """One pass chooses the records of each user; whether they fitted in memory is not told either."""
    points = np.random.default_rng(1).uniform([0, 0], [9, 9], (rows, 2))
    rule = KeyedRule(key=bytes(32), domain=DOMAIN, most=3, most_for_total=9)
    for memory_bytes in (2**30, 15_000):
        shares = []
        source = open_points(points, crs=DOMAIN.crs, user=np.arange(rows) % 7)
        with bounded_points(source, rule, memory_bytes=memory_bytes, progress=shares.append):
            assert shares == ONE_QUESTION


@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_an_engine_is_told_alike(rows):
    """It says when a query begins and when it is over."""
    points = np.random.default_rng(1).random((rows, 2))
    frame = pl.LazyFrame({"lon": points[:, 0], "lat": points[:, 1]})

    assert told(frame, lambda counter: (counter.rows(), counter.count(GRID))) == 2 * ONE_QUESTION


@pytest.mark.parametrize("method", METHODS)
def test_a_release_is_told_in_whole_questions(method, tmp_path):
    """Every method tells whole questions, of a CSV file that is read in small blocks."""
    points = np.random.default_rng(7).beta(2, 5, (2000, 2))
    path = tmp_path / "trips.csv"
    np.savetxt(path, points, delimiter=",", header="lon,lat", comments="")
    made = METHODS[method](side=16) if method == "identity" else method
    shares = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_points, "BLOCK_BYTES", 999)
        domain = hg.Domain(west=0, south=0, east=1, north=1)
        hg.publish(path, domain=domain, epsilon=1, method=made, calibrate=False, progress=shares.append)

    assert len(shares) >= 101
    assert shares == len(shares) // 101 * ONE_QUESTION


def test_the_last_step_waits_for_the_end():
    """Shares that sum to more than one by rounding, or an error on the way, do not tell of an end that is not there."""
    shares = []
    with pytest.raises(InterruptedError):
        read_torn(ShareDone(shares.append))

    assert shares == ONE_QUESTION[:-1]


def read_torn(progress):
    """Blocks that are a little more than all of the source, and then an error."""
    with progress as done:
        for _ in range(7):
            done.add(1 / 6)
        raise InterruptedError


def test_shares_of_rows_are_told_by_a_plain_callback():
    """Negative control: a callback that is handed what blocks hold tells neighbours apart."""
    lists = []
    for rows in (PART, PART + 1):
        table = pa.table({"lon": np.zeros(rows), "lat": np.zeros(rows)})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(memory, "PART_ROWS", PART)
            lists.append([block.share for part in open_points(table, crs=DOMAIN.crs).parts() for block in part])

    assert lists[0] != lists[1]


def test_row_groups_are_not_told(tmp_path):
    """A record that begins another row group of a Parquet file changes nothing."""
    for rows in (20, 21):
        places = some_points(40)[:rows]
        pq.write_table(pa.table({"lon": places[:, 0], "lat": places[:, 1]}), tmp_path / f"{rows}.parquet", 10)
        assert told(tmp_path / f"{rows}.parquet", lambda counter: counter.count(GRID)) == ONE_QUESTION
