"""The file of results."""

import json
from collections import defaultdict

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.datasets import REPOSITORY
from experiments.exchangeability import UNIFORM
from experiments.results import Results, from_table, pack, to_table, unpack
from experiments.trial import ALL_SIZES, QUERIES, significant
from experiments.workload import WORKLOADS

VALUES = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.just({"side": 3}))


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(st.text(), st.tuples(*[st.none() | VALUES] * 3)))
def test_packed_rows_come_back(columns):
    """Whatever plain values they hold or lack, on one line."""
    columns |= {"queries": ("q1", "q2", "all")}
    rows = [
        {name: values[number] for name, values in columns.items() if values[number] is not None} for number in range(3)
    ]

    assert unpack(pack(rows)) == rows
    assert "\n" not in pack(rows)


FIGURES = st.floats(allow_nan=False, allow_infinity=False).map(significant)
COLUMNS = {
    "queries": st.sampled_from(["q1", "all"]),
    "parameters": st.dictionaries(st.text(), st.one_of(st.none(), st.integers(), st.text())),
    "cells": st.integers(-(2**63), 2**63 - 1),
    "calibrate": st.booleans(),
    "error": FIGURES,
    "exact": st.floats(allow_nan=False),
}


@settings(deadline=None, max_examples=200)
@given(st.lists(st.fixed_dictionaries({"key": st.text(min_size=1)}, optional=COLUMNS), min_size=1))
def test_rows_come_back_from_a_table(rows):
    """Bit for bit, whatever they hold or lack, and with fields in any order."""
    assert from_table(to_table(rows)) == rows


@settings(deadline=None, max_examples=100)
@given(st.lists(FIGURES.filter(lambda value: 1e-30 < abs(value) < 1e30), min_size=1))
def test_figures_of_few_digits_take_half_the_room(values):
    """Figures of few digits are kept as float32, and give the same digits back."""
    table = to_table([{"error": value} for value in values])

    assert table["error"].type == pa.float32()
    assert [row["error"] for row in from_table(table)] == values


def some_rows(key, error, **more):
    """Rows of a trial."""
    return [{"key": key, "queries": queries, "error": error, "parameters": {}, **more} for queries in ("q1", "all")]


def test_lines_move_into_a_parquet_file(tmp_path):
    """They count before and after, also when moving them was cut off at its end."""
    results = Results(tmp_path / "rows.parquet")
    results.append(some_rows("a", 1.0))
    results.settle()
    results.append(some_rows("b", 2.0))
    lines = results.lines.read_bytes()
    before = results.rows()

    results.settle()
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
    assert results.rows() == before == some_rows("a", 1.0) + some_rows("b", 2.0)

    results.lines.write_bytes(lines)
    assert results.rows() == before
    results.settle()
    assert results.rows() == before


def test_rows_of_seeds_made_in_another_way_are_not_mixed(tmp_path):
    """Those without a mark count until there is one with it, and are run again then."""
    results = Results(tmp_path / "rows.parquet")
    results.append(some_rows("a", 1.0) + some_rows("b", 1.0))
    results.settle()
    assert results.finished() == {"a", "b"}

    results.append(some_rows("c", 2.0, name="a", noise=2))
    assert [row["error"] for row in results.rows()] == [2.0, 2.0]
    results.settle()
    assert results.finished() == {"c"}


def test_the_committed_rows_are_light_and_whole():
    """Every trial has a row for each query size, for each workload, or one for an exchange or for months."""
    path = REPOSITORY / "experiments" / "results" / "rows.parquet"
    rows = Results(path).rows()
    asked = defaultdict(list)
    for row in rows:
        asked[row["key"]].append(row["queries"])

    assert path.stat().st_size < 4_000_000
    assert (path.parent / "report.html").stat().st_size < 4_000_000
    assert {tuple(sorted(queries)) for queries in asked.values()} == {
        *(tuple(sorted(QUERIES)), tuple(sorted(WORKLOADS)), (UNIFORM,), (ALL_SIZES,)),
    }


def test_a_line_of_a_single_row_is_a_row():
    """A line may be one plain row, so that lines can be written by hand."""
    row = {"key": "a", "queries": "all", "parameters": {"side": 3}}

    assert unpack(json.dumps(row)) == [row]


def test_rows_from_before_a_method_was_changed_do_not_count(tmp_path):
    """Its trial has the same name and another key."""
    results = Results(tmp_path / "rows.jsonl")
    for key, error in (("old", 1.0), ("new", 2.0)):
        results.append([{"key": key, "name": "ug", "queries": "all", "error": error}])

    assert [row["error"] for row in results.rows()] == [2.0]
    assert results.finished() == {"new"}


def test_of_a_trial_that_is_there_twice_the_later_rows_count(tmp_path):
    """One row a query size."""
    results = Results(tmp_path / "rows.jsonl")
    for error in (1.0, 2.0):
        results.append([{"key": "a", "queries": queries, "error": error} for queries in ("q1", "all")])

    assert [row["error"] for row in results.rows()] == [2.0, 2.0]
    assert results.finished() == {"a"}
