"""Work split over threads. The kernels release the global lock, so that plain threads run them side by side."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hushgrid.errors import ArgumentError


def thread_count() -> int:
    """Threads to use: ``HUSHGRID_THREADS``, or as many as this process has processors."""
    asked = os.environ.get("HUSHGRID_THREADS")
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        msg = f"HUSHGRID_THREADS must be a whole number of at least 1, got {asked!r}."
        raise ArgumentError(msg)
    return int(asked)


def run_in_slices(work: Callable[[int, int], object], size: int, *, smallest: int) -> None:
    """Call ``work(first, stop)`` on slices that make up ``range(size)``, one a thread, none below `smallest` items."""
    threads = max(1, min(thread_count(), size // smallest))
    edges = [size * part // threads for part in range(threads + 1)]
    if threads == 1:
        work(0, size)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, edges[:-1], edges[1:]))
