"""Where Spark keeps its copy of the coordinates, without a session of Spark."""

from types import SimpleNamespace
from typing import Any

import pytest

from hushgrid.counting.engine.spark_engine import SCRATCH, SparkEngine
from hushgrid.errors import ArgumentError


def session(**settings: str) -> Any:
    """What an engine needs of a session to be made; like Spark Connect, it has no Java of its own."""
    return SimpleNamespace(conf=SimpleNamespace(get={"spark.master": "yarn", **settings}.get))


def test_a_cluster_needs_a_place_before_anything_is_read() -> None:
    """So that a ledger gives the budget back."""
    with pytest.raises(ArgumentError, match=rf"--spark-conf {SCRATCH}=s3a://bucket/private"):
        SparkEngine(session())


def test_one_machine_needs_no_place() -> None:
    """It has a temporary folder."""
    SparkEngine(session(**{"spark.master": "local[4]"}))


def test_a_copy_that_cannot_be_removed_is_named() -> None:
    """In a warning, which leaves an error that is on its way as it is."""
    engine = SparkEngine(session(**{SCRATCH: "s3a://city/private/"}))

    with (
        pytest.raises(InterruptedError),
        pytest.warns(UserWarning, match=r"s3a://city/private/hushgrid-\w+ could not be removed"),
        engine._scratch(),
    ):
        raise InterruptedError
