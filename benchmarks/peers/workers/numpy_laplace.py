"""`numpy.histogram2d` and float Laplace noise: what is written in five minutes, and does not keep its promise."""

import numpy as np
import pyarrow.parquet as pq
from worker import Task, work


def release(task: Task) -> np.ndarray:
    """Counts and noise, both floats."""
    table = pq.read_table(task.points, columns=["lon", "lat"])
    edges = [task.latitudes, task.longitudes]
    true_counts, _, _ = np.histogram2d(table["lat"].to_numpy(), table["lon"].to_numpy(), bins=edges)
    return true_counts + np.random.default_rng().laplace(scale=1 / task.epsilon, size=true_counts.shape)


if __name__ == "__main__":
    work(release, version=np.__version__)
