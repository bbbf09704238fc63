"""Synthetic points from UG, AG and STAQ, against numpy's own draws."""

import numpy as np
import shapely

import hushgrid as hg
from benchmarks.polygons import DOMAIN, clustered
from benchmarks.queries import adaptive_grid, uniform_grid
from benchmarks.row import Row, best

POINTS = 10_000_000
TARGET = 3  # seconds


def sample_by_numpy(rng, synopsis):
    """A leaf for every point, and a place in it, vectorised; leaves are flat, and numbers are not rounded but drawn."""
    masses = np.maximum(synopsis.counts, 0)
    numbers = rng.multinomial(POINTS, masses / masses.sum())
    bounds = np.repeat(synopsis.partition.bounds(), numbers, axis=0)
    return bounds[:, :2] + rng.random((POINTS, 2)) * (bounds[:, 2:] - bounds[:, :2])


def check(synopsis, points):
    """Counts of halves, quarters and so on of the domain are those of the synopsis, to chance inside cut leaves."""
    for parts in (2, 8, 32):
        found, *_ = np.histogram2d(*points.T[::-1], bins=parts, range=[(17, 57), (-126, -66)])
        edges = np.linspace(0, 1, parts + 1)
        west, south = DOMAIN.west + edges * DOMAIN.width, DOMAIN.south + edges * DOMAIN.height
        rects = [(west[x], south[y], west[x + 1], south[y + 1]) for y in range(parts) for x in range(parts)]
        expected = synopsis.count(np.array(rects)) * POINTS / synopsis.total
        assert np.all(np.abs(found.ravel() - expected) < 1 + 5 * np.sqrt(np.maximum(expected, 1)))


def rows():
    """Ten million points from each; and some on land only."""
    rng = np.random.default_rng(0)
    releases = {
        "UG": uniform_grid(rng),
        "AG": adaptive_grid(rng),
        "STAQ": hg.publish(clustered(rng), domain=DOMAIN, epsilon=1, method="staq", calibrate=False),
    }
    plain = best(lambda: sample_by_numpy(rng, releases["AG"]), times=2)
    land = shapely.unary_union(
        [shapely.Point(place).buffer(8) for place in rng.uniform((-120, 20), (-70, 50), (12, 2))]
    )
    made = []
    for name, release in releases.items():
        check(release, release.sample(POINTS, seed=1))
        taken = best(lambda release=release: release.sample(POINTS, seed=1), times=3)
        ashore = best(lambda release=release: release.sample(POINTS // 10, seed=1, within=land), times=1)
        made.append(
            Row(
                name=f"{name}, 1e7 synthetic points",
                measured=taken,
                target=TARGET,
                unit="s",
                better="lower",
                note=f"{POINTS / taken / 1e6:.1f} M a second; {ashore:.2f} s for 1e6 within twelve discs; "
                f"{release.partition.cells:,} leaves" + (f"; numpy {plain:.2f} s" if name == "AG" else ""),
            )
        )
    return made
