"""No object of hushgrid shows records or exact counts by its text, as tracebacks with locals and debuggers print it."""

import re
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.audit.examples import SMALL

HEAP = 4217  # records on one spot, and a number that nothing else looks like
SPOT = (0.3141592, 0.2718281)
NAME = "somebody"
TOLD = re.compile(rf"(?<![\d.]){HEAP}(?![\d.])|{SPOT[0]}|{SPOT[1]}|{NAME}")
SQUARE = hg.Domain(west=0, south=0, east=1, north=1)
USER = {"user": "person", "max_per_user": 2}
GRID = hg.UniformGrid(side=4)
ONCE = 40  # objects of a type that are looked at


@contextmanager
def looking_around():
    """Collect texts that tell something, of all objects of ours that any function of ours has in hand."""
    telling, seen = {}, {}

    def look(frame, event, _result):
        if event != "return" or not frame.f_globals.get("__name__", "").startswith("hushgrid."):
            return
        for value in list(frame.f_locals.values()):
            kind = type(value)
            if kind.__module__.startswith("hushgrid.") and seen.setdefault(kind, 0) < ONCE:
                seen[kind] += 1
                try:
                    text = repr(value)
                except AttributeError:  # half made
                    continue
                if TOLD.search(text):
                    telling.setdefault(kind.__qualname__, text[:200])

    sys.setprofile(look)
    threading.setprofile(look)
    try:
        yield telling, seen
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.fixture(scope="module")
def table():
    """A heap of records, half of them one user's, and a few others far away."""
    points = np.concatenate([np.tile(SPOT, (HEAP, 1)), 0.75 + np.random.default_rng(1).random((300, 2)) / 4])
    people = [NAME if number < HEAP / 2 else f"p{number}" for number in range(len(points))]
    kinds = ["a"] * len(points)
    times = pa.array(np.full(len(points), "2026-03-05", "datetime64[us]"))
    columns = {"lon": points[:, 0], "lat": points[:, 1], "person": people, "kind": kinds, "made_at": times}
    return pa.table(columns)


WAYS = {
    **{f"by {name}": {"method": method} for name, method in SMALL.items()},
    "users": {"method": GRID, **USER},
    "all records": {"method": GRID, **USER, "estimate": "all-records"},
    "distinct users": {"method": GRID, **USER, "distinct": True},
    "slices": {"method": "staq", "by": hg.By("kind", values=["a", "b"])},
    "slices of users": {"method": GRID, "by": hg.By("kind", values=["a", "b"]), **USER},
    "areas in slices": {"method": hg.Areas([shapely.box(0, 0, 0.5, 1)]), "by": hg.By("kind", values=["a", "b"])},
    "a period": {"method": GRID, "period": "2026-03", "time": "made_at"},
    "places": {"method": "staq", "aim": [shapely.box(0, 0, 0.5, 1)]},
}


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("how", ["table", "file"])
def test_nothing_of_ours_shows_a_record(table, tmp_path, how, options):
    """Coordinates, ids and exact counts are in no text of any object."""
    path = tmp_path / "points.parquet"
    pq.write_table(table, path, row_group_size=1000)
    points = table if how == "table" else path

    with looking_around() as (telling, seen):
        hg.publish(points, domain=SQUARE, epsilon="0.01", calibrate=False, rng=hg.simulation_rng(1), **options)

    assert len(seen) > 10
    assert telling == {}


def test_ids_that_are_given_beside_an_array():
    """They are an argument, and records all the same."""
    points, ids = np.tile(SPOT, (30, 1)), [NAME] * 30

    with looking_around() as (telling, seen):
        hg.publish(points, domain=SQUARE, epsilon=1, method=GRID, user=ids, max_per_user=2, rng=hg.simulation_rng(1))

    assert len(seen) > 10
    assert telling == {}
