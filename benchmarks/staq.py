"""STAQ on 1.7 million points at epsilon 1: each inference on one core, belief propagation on two, and queries."""

import os
from contextlib import contextmanager
from fractions import Fraction

import numpy as np

import hushgrid as hg
from benchmarks.row import Row, best
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget

DOMAIN = hg.Domain(west=-8, south=49.5, east=2, north=61)
POINTS, TOWNS, QUERIES, SIDE = 1_700_000, 3_000, 1_000_000, 0.05
MOST_SECONDS = {"least-squares": 2, "bayes": 2, "belief-2": 10}


def rows():
    """Inference apart from counting and noise; its masses add up to about what there is."""
    synopsis = release()
    leaves = f"{synopsis.partition.cells:,} leaves"
    with threads(1):
        seconds = {name: best(lambda name=name: infer(synopsis, name), times=2) for name in MOST_SECONDS}
    with threads(2):
        on_two = best(lambda: infer(synopsis, "belief-2"), times=2)
        rate = QUERIES / best(lambda: synopsis.count(rectangles()), times=2) / 1e6
    for name in MOST_SECONDS:
        assert abs(infer(synopsis, name).counts.sum() - POINTS) < 0.02 * POINTS
    return [
        *(
            Row(
                name=f"STAQ, {name}, 1.7e6 points, one core",
                measured=seconds[name],
                target=most,
                unit="s",
                better="lower",
                note=leaves,
            )
            for name, most in MOST_SECONDS.items()
        ),
        Row(
            name="STAQ, belief propagation, two cores",
            measured=seconds["belief-2"] / on_two,
            target=1.6,
            unit="x one core",
            note=leaves,
        ),
        Row(
            name="STAQ queries, 1e6 rectangles of 5 % side",
            measured=rate,
            target=0.3,
            unit="M a second",
            note="sloped leaves, two cores",
        ),
    ]


def release():
    """Points in towns of very different size, published."""
    rng = np.random.default_rng(0)
    centres = rng.uniform((DOMAIN.west, DOMAIN.south), (DOMAIN.east, DOMAIN.north), (TOWNS, 2))
    weights = rng.pareto(1.1, TOWNS)
    town = rng.choice(TOWNS, POINTS, p=weights / weights.sum())
    spread = rng.lognormal(-3.5, 0.7, TOWNS)
    points = np.clip(
        centres[town] + spread[town, None] * rng.normal(size=(POINTS, 2)),
        (DOMAIN.west, DOMAIN.south),
        (DOMAIN.east, DOMAIN.north),
    )
    counter = PointCounter(DOMAIN, ArrayPoints(points))
    return hg.Staq().release(counter, Budget(Fraction(1), bits=simulation_rng(0)))


def infer(synopsis, name):
    """Counts by one of the inferences."""
    return INFERENCES[name].counts(Evidence(synopsis.partition, synopsis.measurements))


def rectangles():
    """Rectangles of a twentieth of the domain's sides, all over it."""
    extent = np.array([DOMAIN.width, DOMAIN.height])
    low = (DOMAIN.west, DOMAIN.south) + np.random.default_rng(1).random((QUERIES, 2)) * (1 - SIDE) * extent
    return np.hstack([low, low + SIDE * extent])


@contextmanager
def threads(number):
    """So many threads for what runs inside."""
    before = os.environ.get("HUSHGRID_THREADS")
    os.environ["HUSHGRID_THREADS"] = str(number)
    try:
        yield
    finally:
        if before is None:
            del os.environ["HUSHGRID_THREADS"]
        else:
            os.environ["HUSHGRID_THREADS"] = before
