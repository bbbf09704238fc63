"""Compile every kernel once, before two workers would each do so: `python -m tests.warm`."""

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

import hushgrid as hg
from hushgrid.privacy.bits import SystemBits
from hushgrid.privacy.mixture import add_noise_each

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
POINTS = np.random.default_rng(0).random((1000, 2))


def publish(points, method="ug", **arguments):
    """A simulated release."""
    return hg.publish(points, domain=DOMAIN, epsilon=1, method=method, rng=hg.simulation_rng(0), **arguments)


def main() -> None:
    """Publish and ask, by every method; read by every reader."""
    for method in hg.METHODS:
        publish(POINTS, method).answer([[0.1, 0.1, 0.4, 0.7]])
    publish(POINTS, user=np.arange(1000) // 10, max_per_user=3)
    publish(POINTS, hg.Areas([shapely.box(0, 0, 1, 1)]), user=np.arange(1000) // 10, max_per_user=3, distinct=True)
    for points in (POINTS.astype(np.float32), (POINTS[:, 0].copy(), POINTS[:, 1].copy())):
        for method in ("ug", "ag"):
            publish(points, method)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "points.csv").write_text("lon,lat,user\n0.5,0.5,a\n")
        publish(Path(folder, "points.csv"))
        publish(Path(folder, "points.csv"), user="user", max_per_user=1)
        wkb = [np.array([1, 1, 0, 0, 0, *point.view(np.uint8)], np.uint8).tobytes() for point in POINTS[:3]]
        pq.write_table(pa.table({"geometry": wkb}), Path(folder, "points.parquet"))
        hg.publish(Path(folder, "points.parquet"), domain=DOMAIN, epsilon=1, geometry="geometry")
    add_noise_each([1, 2], rates=[Fraction(1), Fraction(1, 50)], rate_index=[0, 1], bits=SystemBits())


if __name__ == "__main__":
    main()
