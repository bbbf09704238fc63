"""What every worker shares: the task it is given, what it took, and the line it prints.

A worker is a plain script for the environment of one peer, which has numpy but nothing of this project.
"""

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Task:
    """What to release, by public figures: the domain, the cells per side and the budget; and when it was asked for."""

    points: str
    west: float
    south: float
    east: float
    north: float
    side: int
    epsilon: float
    released: str
    asked: float

    @property
    def longitudes(self) -> np.ndarray:
        """Edges of the columns, from west to east."""
        return np.linspace(self.west, self.east, self.side + 1)

    @property
    def latitudes(self) -> np.ndarray:
        """Edges of the rows, from south to north."""
        return np.linspace(self.south, self.north, self.side + 1)


def work(release: Callable[[Task], Any], *, version: str, save: Callable[[str, Any], None] = np.save) -> None:
    """Do the task on the command line twice, print what each time took, and save what was released the second time.

    The first time counts from the start of the process. By default what is released are the cells, row 0 the
    southernmost.
    """
    task = Task(**json.loads(sys.argv[1]))
    release(task)
    fresh = {"seconds": time.time() - task.asked, "processor_seconds": processor_seconds(), "peak_bytes": peak_memory()}
    start = time.perf_counter()
    released = release(task)
    again = {
        "again_seconds": time.perf_counter() - start,
        "again_processor_seconds": processor_seconds() - fresh["processor_seconds"],
    }
    print(json.dumps({**fresh, **again, "version": version}))
    save(task.released, released)


def processor_seconds() -> float:
    """Time on processors of this process and of those it started, summed."""
    ticks = 0
    for pid in family():
        # The name of the program, in brackets, may hold anything. After it: user and system time, and of children.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_memory() -> int:
    """Bytes that this process and those it started had at most, summed."""
    # `ru_maxrss` would include the process that started this one.
    peaks = (re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text()) for pid in family())
    return sum(1024 * int(peak[1]) for peak in peaks if peak)


def family() -> list[int]:
    """Ids of this process and of all that it started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may have ended
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    members = [os.getpid()]
    for member in members:
        members += [pid for pid, parent in parents.items() if parent == member]
    return members
