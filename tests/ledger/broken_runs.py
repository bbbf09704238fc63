"""Runs that are broken off from outside while an engine counts, and what the ledger has kept of them.

As a program, it does so to a session of Spark, twice: its jobs are cancelled, then its process is killed.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

import numpy as np
from click.testing import CliRunner
from numpy.typing import NDArray

from hushgrid.cli import main
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import LedgerJournal

LEDGER, OUTPUT = "hushgrid.ledger", "out.dp.parquet"
SIZE, FIRST_LEVEL = 1, 2  # numbers in the journal of a release by ag, whose second pass comes after them
DOMAIN = "0,0,1,1"
SPARK = ("spark.master=local[1]", "spark.driver.memory=768m", "spark.driver.bindAddress=127.0.0.1")
SPARK += ("spark.driver.host=127.0.0.1", "spark.sql.shuffle.partitions=1")


def arguments(points: str, *more: str) -> list[str]:
    """Of ``hushgrid``: publish points by ag, on the account of the data set trips."""
    given = ["--domain", DOMAIN, "--epsilon", "1", "--method", "ag", "--no-calibrate", "--dataset", "trips"]
    return ["publish", points, *given, "--ledger", LEDGER, "-o", OUTPUT, *more]


def on_spark(points: str, *more: str) -> list[str]:
    """Publish by a small session of Spark."""
    return arguments(points, "--engine", "spark", *(f"--spark-conf={setting}" for setting in SPARK), *more)


def kept_draws() -> dict[int, NDArray[np.int64]]:
    """What the journal of the first entry holds, but for the state of the points."""
    with open_ledger(LEDGER) as ledger:
        journal = LedgerJournal(1, ledger._store)
        numbers = ledger.book().journals[1]
        kept = {number: journal.recall(number, mark.fingerprint) for number, mark in numbers.items() if number}
    return {number: np.frombuffer(payload or b"", "<i8") for number, payload in kept.items()}


@contextmanager
def broken_off(attempt: Callable[[], bool], *, begun: Callable[[], bool]) -> Iterator[Event]:
    """Try to break something off, from another thread and again and again, once it has begun; the event says it was."""
    done, over = Event(), Event()

    def watch() -> None:
        while not over.is_set() and not done.is_set():
            if begun() and attempt():
                done.set()
            time.sleep(0.001)

    thread = Thread(target=watch)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


@contextmanager
def first_pass_over() -> Iterator[Callable[[], bool]]:
    """Whether the first level of cells is measured, or was by an earlier run."""
    seen = Event()
    record, recall = LedgerJournal.record, LedgerJournal.recall

    def recording(journal: LedgerJournal, number: int, *rest: Any) -> None:
        record(journal, number, *rest)
        if number == FIRST_LEVEL:
            seen.set()

    def recalling(journal: LedgerJournal, number: int, *rest: Any) -> bytes | None:
        kept = recall(journal, number, *rest)
        if number == FIRST_LEVEL and kept is not None:
            seen.set()
        return kept

    with patch.object(LedgerJournal, "record", recording), patch.object(LedgerJournal, "recall", recalling):
        yield seen.is_set


def _cancel_jobs() -> bool:
    from pyspark import SparkContext

    context = SparkContext.getOrCreate()
    active = bool(context.statusTracker().getActiveJobsIds())
    if active:
        context.cancelAllJobs()
    return active


def _kill_process() -> bool:
    from pyspark import SparkContext

    context = SparkContext.getOrCreate()
    active = bool(context.statusTracker().getActiveJobsIds())
    if active:
        os.kill(context._gateway.proc.pid, signal.SIGKILL)
    return active


def break_spark(points: str) -> list[dict[str, object]]:
    """How two runs end that are broken off in their second pass over the points: one anew, one that goes on."""
    ends = []
    for attempt, more in ((_cancel_jobs, ()), (_kill_process, ("--resume", "1"))):
        with first_pass_over() as begun, broken_off(attempt, begun=begun) as done:
            result = CliRunner().invoke(main, on_spark(points, *more))
        left = sorted(path.name for path in Path().iterdir())
        ends.append({"broken": done.is_set(), "code": result.exit_code, "stderr": result.stderr, "left": left})
    return ends


if __name__ == "__main__":
    sys.stdout.write(json.dumps(break_spark(sys.argv[1])))
