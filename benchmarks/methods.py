"""How long each method takes to publish a million points at epsilon 1, on one core."""

import os

import numpy as np

import hushgrid as hg
from benchmarks.row import Row, best

DOMAIN = hg.Domain(west=-126, south=17, east=-66, north=57)
POINTS = 1_000_000
FAST = {"quadtree", "hierarchy", "privlet", "privtree"}  # below 2 s; the others below 10 s


def clustered(rng):
    """Points around a thousand centres of very different size."""
    centres = rng.uniform((DOMAIN.west, DOMAIN.south), (DOMAIN.east, DOMAIN.north), (1000, 2))
    sizes = rng.pareto(1.2, 1000)
    chosen = rng.choice(1000, POINTS, p=sizes / sizes.sum())
    return centres[chosen] + rng.normal(0, 0.3, (POINTS, 2))


def rows():
    """Every method, after compilation; the total of each release is near the truth."""
    before = os.environ.get("HUSHGRID_THREADS")
    os.environ["HUSHGRID_THREADS"] = "1"
    try:
        return [row(name, clustered(np.random.default_rng(0))) for name in hg.METHODS]
    finally:
        if before is None:
            del os.environ["HUSHGRID_THREADS"]
        else:
            os.environ["HUSHGRID_THREADS"] = before


def row(name, points):
    """Seconds of one method."""

    def publish():
        return hg.publish(points, domain=DOMAIN, epsilon=1, method=name, calibrate=False)

    synopsis = publish()
    west, south = points.T
    inside = (west >= DOMAIN.west) & (west <= DOMAIN.east) & (south >= DOMAIN.south) & (south <= DOMAIN.north)
    assert abs(synopsis.total - inside.sum()) < 0.05 * POINTS
    return Row(
        name=f"publish 1e6 points by {name}, one core",
        measured=best(publish, times=2),
        target=2 if name in FAST else 10,
        unit="s",
        better="lower",
        note=f"{synopsis.partition.cells:,} cells",
    )
