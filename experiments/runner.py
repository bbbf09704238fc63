"""Runs trials, on one process or several, and keeps what is finished."""

import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments.results import Results
from experiments.trial import Row

SPEED_WINDOW = 120  # seconds that the estimate of what is left looks back


class Runnable(Protocol):
    """Something that is run once and remembered: a `Trial` or a `DimensionTrial`."""

    @property
    def key(self) -> str:
        """A name of its own."""

    @property
    def dataset(self) -> str:
        """What it runs on; trials of one data set come one after the other."""

    @property
    def seconds(self) -> float:
        """About how long it takes."""

    def run(self) -> list[Row]:
        """Its rows, the last one for all queries."""


def run_trials(trials: Iterable[Runnable], results: Results, *, workers: int = 2) -> int:
    """Run the trials that are not among the results yet, and return how many were run.

    Every trial is written as it finishes. An interrupted run loses what was under way, and goes on where it stopped
    when it is started again. A trial that is given twice is run once.
    """
    pending = missing_trials(trials, results)
    console = Console(stderr=True)
    columns = (
        *(TextColumn("{task.fields[done]:,} of {task.fields[trials]:,} trials"), BarColumn(), TaskProgressColumn()),
        *(TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()),
    )
    with Progress(
        *columns, console=console, disable=not console.is_terminal, speed_estimate_period=SPEED_WINDOW
    ) as progress:
        # The bar measures seconds, because trials differ by a factor of a thousand.
        seconds = sum(trial.seconds for trial in pending)
        bar = progress.add_task("", total=seconds, done=0, trials=len(pending))
        for done, (trial, rows) in enumerate(_outcomes(pending, workers), start=1):
            results.append(rows)
            progress.update(bar, advance=trial.seconds, done=done)
    return len(pending)


def missing_trials(trials: Iterable[Runnable], results: Results) -> list[Runnable]:
    """The trials that are not among the results yet, each once, by data set."""
    finished = results.finished()
    missing = {key: trial for trial in trials if (key := trial.key) not in finished}
    return sorted(missing.values(), key=lambda trial: trial.dataset)


def run(trial: Runnable) -> list[Row]:
    """Rows of a trial, in whatever process."""
    return trial.run()


def _outcomes(trials: list[Runnable], workers: int) -> Iterator[tuple[Runnable, list[Row]]]:
    """Each trial with its rows, in the order they finish."""
    if workers == 1 or len(trials) < 2:
        yield from ((trial, run(trial)) for trial in trials)
        return
    # Started afresh, because threads and compiled kernels do not survive a fork.
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        with _interrupts_ignored():
            futures = {executor.submit(run, trial): trial for trial in trials}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started meanwhile leave an interrupt from the terminal to their parent, for good."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
