"""OpenDP's queries of Polars frames: a group-by whose keys are all cells of the grid."""

import numpy as np
import opendp.prelude as dp
import polars as pl
from worker import Task, work

dp.enable_features("contrib")


def release(task: Task) -> np.ndarray:
    """Counts and noise, both by OpenDP, of signed counts."""
    context = dp.Context.compositor(
        data=pl.scan_parquet(task.points).select("lon", "lat"),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=task.epsilon),
        split_evenly_over=1,
    )
    lon, lat = pl.col("lon"), pl.col("lat")
    inside = (lon >= task.west) & (lon <= task.east) & (lat >= task.south) & (lat <= task.north)
    cells = (
        context.query()
        .filter(inside)
        .with_columns(row=number(lat, task.south, task.north, task), column=number(lon, task.west, task.east, task))
        .group_by("row", "column")
        .agg(dp.len(signed=True))
        .with_keys(all_cells(task))
        .release()
        .collect()
    )
    return cells.sort("row", "column")["len"].to_numpy().reshape(task.side, task.side)


def number(coordinate: pl.Expr, low: float, high: float, task: Task) -> pl.Expr:
    """Row or column of a coordinate; the upper edge belongs to the last one."""
    return ((coordinate - low) * (task.side / (high - low))).cast(pl.Int64).clip(0, task.side - 1)


def all_cells(task: Task) -> pl.LazyFrame:
    """Row and column of every cell."""
    numbers = np.arange(task.side)
    return pl.LazyFrame({"row": numbers}).join(pl.LazyFrame({"column": numbers}), how="cross")


if __name__ == "__main__":
    work(release, version=dp.__version__)
