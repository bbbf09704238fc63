"""Tumult Analytics on a local Spark: a group-by whose keys are all cells of the grid."""

import os
import sys

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session
from tmlt.analytics._version import __version__
from worker import Task, work

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "4",  # the 200 of a cluster would take longer here
}


def release(task: Task) -> np.ndarray:
    """Rows to cells by Spark, each by itself; counts and noise by Tumult."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of this environment, for the processes that draw the noise
    builder = SparkSession.builder.master("local[*]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(task.epsilon),
        source_id="cells",
        dataframe=cells_of_points(builder.getOrCreate(), task),
        protected_change=AddOneRow(),
    )
    numbers = list(range(task.side))
    keys = KeySet.from_dict({"row": numbers, "column": numbers})
    counted = session.evaluate(QueryBuilder("cells").groupby(keys).count(), PureDPBudget(task.epsilon))
    frame = counted.toPandas().sort_values(["row", "column"])
    return frame["count"].to_numpy().reshape(task.side, task.side)


def cells_of_points(spark: SparkSession, task: Task) -> DataFrame:
    """Row and column of each point in the domain."""
    lon, lat = sql.col("lon"), sql.col("lat")
    inside = lon.between(task.west, task.east) & lat.between(task.south, task.north)
    row, column = number(lat, task.south, task.north, task), number(lon, task.west, task.east, task)
    return spark.read.parquet(task.points).where(inside).select(row.alias("row"), column.alias("column"))


def number(coordinate: Column, low: float, high: float, task: Task) -> Column:
    """Row or column of a coordinate; the upper edge belongs to the last one."""
    return sql.least(sql.floor((coordinate - low) * (task.side / (high - low))), sql.lit(task.side - 1))


if __name__ == "__main__":
    work(release, version=__version__)
