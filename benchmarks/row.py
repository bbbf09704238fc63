"""One line of the benchmark table, and how times are taken."""

import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Row:
    """A measured figure beside its target.

    Parameters
    ----------
    name : str
        What was measured, in words.
    measured, target : float
        In the same unit.
    unit : str
        Such as "x numpy.bincount", "GB", "s".
    better : "higher" or "lower"
        Which way is good.
    note : str
        Absolute figures, sizes, versions.
    """

    name: str
    measured: float
    target: float
    unit: str
    better: Literal["higher", "lower"] = "higher"
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the target is reached."""
        return self.measured >= self.target if self.better == "higher" else self.measured <= self.target


def best(work: Callable[[], object], *, times: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of several calls, by the clock given."""
    taken = []
    for _ in range(times):
        start = clock()
        work()
        taken.append(clock() - start)
    return min(taken)


def as_table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | measured | target | reached | note |", "|---|---|---|---|---|"]
    for row in rows:
        sign = "≥" if row.better == "higher" else "≤"
        reached = "yes" if row.ok else "**no**"
        lines.append(f"| {row.name} | {row.measured:.3g} {row.unit} | {sign} {row.target:g} | {reached} | {row.note} |")
    return "\n".join(lines)


def this_machine() -> str:
    """What the figures were taken on."""
    return f"{os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}"
