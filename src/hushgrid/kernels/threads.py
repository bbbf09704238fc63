"""Work split over threads. The kernels release the global lock, so that plain threads run them side by side."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hushgrid.errors import ArgumentError

SLICES_PER_THREAD = 4


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
    """Call ``work(first, stop)`` on slices that make up ``range(size)``, none below `smallest` items.

    There are a few slices a thread, because some take longer than others.
    """
    threads = max(1, min(thread_count(), size // smallest))
    if threads == 1:
        work(0, size)
        return
    slices = min(SLICES_PER_THREAD * threads, size // smallest)
    edges = [size * part // slices for part in range(slices + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, edges[:-1], edges[1:]))
