"""Runs trials, on one process or several, and keeps what is finished."""

import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from experiments.results import Results
from experiments.trial import Row, Trial, run


def run_trials(trials: Iterable[Trial], results: Results, *, workers: int = 2) -> int:
    """Run the trials that are not among the results yet, and return how many were run.

    Every trial is written as it finishes. An interrupted run loses what was under way, and goes on where it stopped
    when it is started again.
    """
    finished = results.finished()
    pending = [trial for trial in trials if trial.key not in finished]
    pending.sort(key=lambda trial: (trial.dataset, trial.workload_seed))
    console = Console(stderr=True)
    columns = (TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        for rows in progress.track(_outcomes(pending, workers), total=len(pending)):
            results.append(rows)
    return len(pending)


def _outcomes(trials: list[Trial], workers: int) -> Iterator[list[Row]]:
    """Rows of each trial, in the order they finish."""
    if workers == 1 or len(trials) < 2:
        yield from map(run, trials)
        return
    # Started afresh, because threads and compiled kernels do not survive a fork.
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        with _interrupts_ignored():
            futures = [executor.submit(run, trial) for trial in trials]
        for future in as_completed(futures):
            yield future.result()
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
