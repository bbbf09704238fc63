"""`diffprivlib.tools.histogram2d`, its range given as it should be."""

import diffprivlib
import numpy as np
import pyarrow.parquet as pq
from diffprivlib.tools import histogram2d
from worker import Task, work


def release(task: Task) -> np.ndarray:
    """Counts as diffprivlib releases them: never below zero."""
    table = pq.read_table(task.points, columns=["lon", "lat"])
    cells, _, _ = histogram2d(
        table["lat"].to_numpy(),
        table["lon"].to_numpy(),
        epsilon=task.epsilon,
        bins=task.side,
        range=[[task.south, task.north], [task.west, task.east]],
    )
    return cells


if __name__ == "__main__":
    work(release, version=diffprivlib.__version__)
