"""Compile every kernel once, before two workers would each do so: `python -m tests.warm`."""

import numpy as np

import hushgrid as hg

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)


def main() -> None:
    """Publish and ask, by every method, on both precisions and both layouts."""
    points = np.random.default_rng(0).random((1000, 2))
    for method in hg.METHODS:
        for given in (points, points.astype(np.float32), (points[:, 0].copy(), points[:, 1].copy())):
            synopsis = hg.publish(given, domain=DOMAIN, epsilon=1, method=method, rng=hg.simulation_rng(0))
        synopsis.answer([[0.1, 0.1, 0.4, 0.7]])


if __name__ == "__main__":
    main()
