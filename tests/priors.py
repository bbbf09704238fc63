"""Made-up points that lie in clusters, and public priors of them, for tests."""

from dataclasses import dataclass

import numpy as np

import hushgrid as hg
from hushgrid.geometry.quadrants import DEEPEST, finest_runs, scatter_bits
from hushgrid.inference.pooled import FOREIGN, Trust
from tests.plain import UNIT_SQUARE


def clustered(size, seed, *, clusters=60):
    """Points about centres that are the same for every seed, some centres far larger than others."""
    centres = np.random.default_rng(77).random((clusters, 2))
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, clusters + 1)
    chosen = rng.choice(clusters, size, p=chances / chances.sum())
    return np.clip(centres[chosen] + rng.normal(0, 0.012, (size, 2)), 0, 1)


@dataclass
class PointsPrior:
    """Public points of the unit square; each is two units of evidence."""

    needs_proof = True

    points: np.ndarray
    name: str = "made up"
    kind: str = "points"
    sha256: str = "0" * 64
    licence: str | None = None
    trust: Trust = FOREIGN

    def evidence(self, levels, codes):
        """Twice the number of points in each cell."""
        column, row = np.minimum((self.points * 2**DEEPEST).astype(np.int64), 2**DEEPEST - 1).T
        places = np.sort(scatter_bits(column) | scatter_bits(row) << 1)
        first, stop = (np.searchsorted(places, edge) for edge in finest_runs(levels, codes))
        return 2.0 * (stop - first)


def good_prior():
    """Other points of the same clusters."""
    return PointsPrior(clustered(20_000, seed=1))


def useless_prior():
    """Points of clusters that lie elsewhere."""
    return PointsPrior(1 - clustered(20_000, seed=2)[:, ::-1] ** 2)


def staq(points, *, epsilon=0.1, seed=1, **options):
    """A simulated release of STAQ, not yet calibrated."""
    rng = hg.simulation_rng(seed)
    return hg.publish(points, domain=UNIT_SQUARE, epsilon=epsilon, method="staq", calibrate=False, rng=rng, **options)
