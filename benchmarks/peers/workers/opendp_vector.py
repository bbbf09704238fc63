"""OpenDP's integer Laplace noise on the counts of `numpy.histogram2d`."""

import numpy as np
import opendp.prelude as dp
import pyarrow.parquet as pq
from worker import Task, work

dp.enable_features("contrib")


def release(task: Task) -> np.ndarray:
    """Counts by numpy, of sensitivity 1 by the caller's word; noise by OpenDP."""
    table = pq.read_table(task.points, columns=["lon", "lat"])
    edges = [task.latitudes, task.longitudes]
    true_counts, _, _ = np.histogram2d(table["lat"].to_numpy(), table["lon"].to_numpy(), bins=edges)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    laplace = dp.m.make_laplace(*space, scale=1 / task.epsilon)
    return np.array(laplace(true_counts.astype(np.int64).ravel())).reshape(true_counts.shape)


if __name__ == "__main__":
    work(release, version=dp.__version__)
