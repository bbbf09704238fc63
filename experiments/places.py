"""What an aim at places gains there, and what it costs elsewhere: ``python -m experiments.places [RUNS [PLACES]]``.

Places are squares of 0.5 % of the sides about points of the set, none over another, and fixed before any noise. Beside
STAQ at the same budget and at half of it; the last column is the coverage of 95 % intervals.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import NDArray

from experiments.datasets import DATASETS
from experiments.datasets.dataset import Dataset
from experiments.metrics import relative_errors
from experiments.suites.workloads import SETS
from experiments.workload import true_counts, workload
from hushgrid.answering.polygons import boxes_of
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

Floats = NDArray[np.float64]

EPSILON = 0.05
PLACES, SIDE = 200, 0.005
RUNS = 8
HEADER = ("data set", "asked", "aimed at the places", "STAQ", "STAQ at half of ε", "aimed / STAQ", "coverage")


@dataclass(frozen=True, kw_only=True)
class Found:
    """Errors of one run: mean relative ones of three releases, and how often an interval of the first holds."""

    aimed: float
    staq: float
    at_half: float
    covered: float


def squares_about(true_points: Floats, dataset: Dataset, rng: np.random.Generator, *, places: int) -> Floats:
    """Squares about points, none over another; shape (n, 4)."""
    west, south, east, north = dataset.domain.bounds
    size = SIDE * np.array([east - west, north - south])
    low = np.empty((0, 2))
    for centre in true_points[rng.permutation(len(true_points))]:
        corner = np.clip(centre - size / 2, (west, south), (east, north) - size)
        if not (np.abs(low - corner) < size).all(axis=1).any():
            low = np.vstack([low, corner])
        if len(low) == places:
            break
    return np.hstack([low, low + size])


def run(name: str, seed: int, *, places: int) -> Iterator[tuple[str, Found]]:
    """One release of each kind, asked about places and about uniform rectangles."""
    dataset = DATASETS[name]
    true_points = np.asarray(dataset.points())
    rng = np.random.default_rng(seed)
    squares = squares_about(true_points, dataset, rng, places=places)
    rects = workload(dataset.domain, dataset.largest_query, seed=seed).reshape(-1, 4)

    def released(epsilon: float, number: int, **aim: object) -> Synopsis:
        rng = simulation_rng(3 * seed + number)
        made: Synopsis = publish(true_points, domain=dataset.domain, epsilon=epsilon, rng=rng, **aim)  # type: ignore[call-overload]
        return made

    aimed = released(EPSILON, 0, aim=boxes_of(squares, dataset.domain))
    staq, at_half = released(EPSILON, 1, calibrate=False), released(EPSILON / 2, 2, calibrate=False)
    for asked, regions in (("places", squares), ("uniform rectangles", rects)):
        held, answer = true_counts(true_points, regions), aimed.answer(regions)
        errors = [
            float(relative_errors(np.asarray(made.count(regions)), held, true_total=len(true_points)).mean())
            for made in (aimed, staq, at_half)
        ]
        covered = float(np.mean((answer.low <= held) & (held <= answer.high)))
        yield asked, Found(aimed=errors[0], staq=errors[1], at_half=errors[2], covered=covered)


def main(runs: int = RUNS, places: int = PLACES) -> None:
    """Print the table as Markdown, with standard errors over runs."""
    click.echo(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}")
    for name in SETS:
        found: dict[str, list[Found]] = {}
        for seed in range(runs):
            for asked, each in run(name, seed, places=places):
                found.setdefault(asked, []).append(each)
        for asked, each_run in found.items():
            columns = np.array([[each.aimed, each.staq, each.at_half, each.covered] for each in each_run])
            means, errors = columns.mean(axis=0), columns.std(axis=0, ddof=1) / np.sqrt(runs)
            cells = [f"{mean:.4f} ± {error:.4f}" for mean, error in zip(means[:3], errors[:3], strict=True)]
            last = (f"{means[0] / means[1]:.2f}", f"{100 * means[3]:.1f} ± {100 * errors[3]:.1f} %")
            click.echo(f"| {' | '.join((name, asked, *cells, *last))} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
