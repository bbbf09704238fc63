"""What a limit on the number of cells costs: errors, seconds and memory of STAQ. Not private, and no release.

``python -m experiments.cell_limit`` publishes made-up points of a known law under one limit after the other, the
smallest first, so that the peak of memory is that of the limit at hand.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from experiments.datasets import LAWS
from experiments.metrics import relative_errors
from experiments.scale import counts_between, rectangles
from experiments.trial import QUERIES, by_query_size
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.methods import staq
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish

POWERS = (18, 19, 20, 21, 22)  # limits, as powers of two


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """What came of one limit: mean relative errors by query size and over all, and what it took."""

    power: int
    cells: int
    seconds: float
    gigabytes: float
    errors: NDArray[np.float64]


def measure(
    law: str, *, points: int, evidence: float, powers: tuple[int, ...], seed: int, c: float = staq.Staq.c
) -> Iterator[Measured]:
    """Releases of the same points with the same noise under each limit, the smallest first."""
    source = replace(LAWS[law], size=points)
    true_points = source.points()
    rects, lines = rectangles(source.domain, seed=seed)
    truth = counts_between(PointCounter(source.domain, ArrayPoints(true_points)), lines)
    for power in sorted(powers):
        start = time.process_time()
        synopsis = publish(
            true_points,
            domain=source.domain,
            epsilon=evidence / points,
            method=staq.Staq(c=c),
            max_cells=2**power,
            calibrate=False,
            rng=simulation_rng(seed),
        )
        seconds, memory = time.process_time() - start, peak_memory()
        errors = relative_errors(np.asarray(synopsis.count(rects)), truth, true_total=points)
        yield Measured(
            power=power,
            cells=synopsis.partition.cells,
            seconds=seconds,
            gigabytes=memory,
            errors=np.array([errors[chosen].mean() for _, chosen in by_query_size(len(truth))]),
        )


def peak_memory() -> float:
    """GB of memory this process had at most."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    return int(found[1]) * 1024 / 1e9 if found else float("nan")


def comparison(found: list[Measured]) -> Table:
    """Errors of each limit as a ratio to those of the largest one."""
    table = Table(box=None, pad_edge=False)
    for heading in ("limit", "cells", "CPU s", "peak GB", *QUERIES):
        table.add_column(heading, justify="right")
    for each in found:
        ratios = [f"{ratio:.3f}" for ratio in each.errors / found[-1].errors]
        table.add_row(f"2^{each.power}", f"{each.cells:,}", f"{each.seconds:.1f}", f"{each.gigabytes:.2f}", *ratios)
    return table


@click.command()
@click.option("--law", default="towns", show_default=True, type=click.Choice(list(LAWS)))
@click.option("--points", default=2 * 10**7, show_default=True, type=click.IntRange(min=1))
@click.option("--evidence", default=1e7, show_default=True, help="Points times epsilon.")
@click.option("--power", "powers", default=POWERS, show_default=True, multiple=True, help="Limits, as powers of two.")
@click.option("--c", default=staq.Staq.c, show_default=True, help="Of STAQ; the larger, the fewer cells.")
@click.option("--seed", default=0, show_default=True, help="Of the noise and of the rectangles.")
def main(law: str, points: int, evidence: float, powers: tuple[int, ...], c: float, seed: int) -> None:
    """Show what a limit on cells costs. NOT PRIVATE: errors are against the truth."""
    found = list(measure(law, points=points, evidence=evidence, powers=powers, seed=seed, c=c))
    click.echo(
        f"{law}, {points:,} points, evidence {evidence:g}, c = {c:g}; relative errors / those of the largest limit"
    )
    Console().print(comparison(found))


if __name__ == "__main__":
    main(prog_name="python -m experiments.cell_limit")
