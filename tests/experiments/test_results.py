"""The file of results."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.results import Results, pack, unpack

VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.just({"side": 3}))


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(st.text(), st.tuples(VALUES, VALUES, VALUES)))
def test_packed_rows_come_back(columns):
    """Whatever plain values they hold, on one line."""
    columns |= {"queries": ("q1", "q2", "all")}
    rows = [{name: values[number] for name, values in columns.items()} for number in range(3)]

    assert unpack(pack(rows)) == rows
    assert "\n" not in pack(rows)


def test_a_line_of_a_single_row_is_a_row():
    """So that lines may be written by hand."""
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
