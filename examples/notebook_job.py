# Databricks notebook source
"""Publish a table of points from a notebook, whose own session counts.

Only cells and their counts come to the driver, where the noise is added. On a cluster, the setting
``spark.hushgrid.scratch`` names a folder that all executors can reach and that may hold private data, such as a volume:
one copy of the coordinates lies there while the release is made.
"""

# COMMAND ----------

from pathlib import Path

from pyspark.sql import SparkSession

import hushgrid as hg

spark = SparkSession.builder.getOrCreate()

# COMMAND ----------

# Public settings: nothing here is taken from the data.
TABLE = spark.conf.get("spark.hushgrid.example.table", "main.city.trips")
RELEASE = Path(spark.conf.get("spark.hushgrid.example.release", "trips.dp.parquet"))
DOMAIN = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)

# COMMAND ----------

# A user is protected with all their records, of which at most ten are kept, chosen in the engine.
synopsis = hg.publish(
    spark.table(TABLE), domain=DOMAIN, epsilon=1, method="ag", user="rider", max_per_user=10, public_size=20_000
)
synopsis.save(RELEASE)

# COMMAND ----------

# From here on nothing is private.
synopsis.answer((-74.02, 40.70, -73.93, 40.80))
