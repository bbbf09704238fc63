"""An engine that breaks at any call of its frames: the error is ours, and quotes none of its words."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import duckdb
import narwhals as nw
import pytest

from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.engine.points import EnginePoints
from hushgrid.errors import EngineError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.quadrants import Quadrants

DOMAIN = Domain(west=0, south=0, east=1, north=1)
CALLS = ("collect", "collect_schema", "filter", "group_by", "join", "select", "with_columns")
TABLE = "SELECT random() AS lon, random() AS lat, i % 7 AS who FROM range(100) AS _(i)"


@contextmanager
def breaking_at(number: int) -> Iterator[list[str]]:
    """Let one call of a frame fail as a lost connection does; the list is of the calls so far."""
    made: list[str] = []

    def breaking(name: str) -> Any:
        original = getattr(nw.LazyFrame, name)

        def call(frame: Any, *given: Any, **named: Any) -> Any:
            made.append(name)
            if len(made) == number:
                msg = "row (0.123, 0.456)"
                raise ConnectionResetError(msg)
            return original(frame, *given, **named)

        return patch.object(nw.LazyFrame, name, call)

    with ExitStack() as stack:
        for one in [breaking(name) for name in CALLS]:
            stack.enter_context(one)
        yield made


def count_records() -> None:
    """Rows, and points on a grid and on squares."""
    with EnginePoints.of(duckdb.sql(TABLE)).counter(DOMAIN) as counter:
        counter.count(Quadrants(domain=DOMAIN, levels=[1, 1], codes=[0, 3]))
        counter.rows()
        counter.count(Grid(domain=DOMAIN, rows=3, columns=5))


def count_rows() -> None:
    """Rows alone, by a query of their own."""
    with EnginePoints.of(duckdb.sql(TABLE)).counter(DOMAIN) as counter:
        counter.rows()


def count_kept_records() -> None:
    """What is kept of each user, and of rows without one."""
    rule = KeyedRule(key=bytes(32), domain=DOMAIN, most=3, most_for_total=9)
    with EnginePoints.of(duckdb.sql(TABLE), user="who").bounded_counter(rule, missing="own") as bounded:
        bounded.counter.count(Grid(domain=DOMAIN, rows=3, columns=5))


@pytest.mark.parametrize("work", [count_records, count_rows, count_kept_records])
def test_every_call_that_breaks_is_an_engine_that_failed(work: Any) -> None:
    with breaking_at(0) as made:
        work()

    for number in range(1, len(made) + 1):
        with breaking_at(number), pytest.raises(EngineError, match="DuckDB failed while counting") as caught:
            work()
        assert "0.123" not in str(caught.value)
        assert caught.value.__suppress_context__
    assert len(made) > 3
