"""Publish a folder of Parquet, or a table, from a Spark cluster.

Spark counts; only cells and their counts come to the driver, where the noise is added. Run it with

    spark-submit --conf spark.hushgrid.scratch=s3a://bucket/private examples/spark_job.py \
        s3a://bucket/trips release.dp.parquet --domain -74.26,40.48,-73.70,40.92 --epsilon 1 --public-size 100000000

The scratch folder takes one copy of the coordinates, so that all passes read the same rows; it is removed at the end. A
session on one machine needs none. With --ledger and --dataset the release is on account; should the job die, the error
says what was spent, and `hushgrid publish --engine spark --resume ENTRY` goes on with it.
"""

import argparse

from pyspark.sql import SparkSession

import hushgrid as hg


def main() -> None:
    """Publish what the command line names."""
    parser = argparse.ArgumentParser(description="Publish points under differential privacy, counted by Spark.")
    parser.add_argument("points", help="folder or address of Parquet")
    parser.add_argument("output", help="file of the release, on the driver")
    parser.add_argument("--domain", required=True, metavar="W,S,E,N")
    parser.add_argument("--epsilon", required=True, help="the privacy budget")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--user-column", help="protects users, each with all their records")
    parser.add_argument("--max-per-user", type=int)
    parser.add_argument("--public-size", type=int, help="about how many points, if that is public knowledge")
    parser.add_argument("--ledger", help="path or URL of the ledger that keeps the account")
    parser.add_argument("--dataset", help="name of the data set in it")
    arguments = parser.parse_args()

    spark = SparkSession.builder.appName("hushgrid").getOrCreate()
    try:
        synopsis = hg.publish(
            spark.read.parquet(arguments.points),
            domain=hg.Domain.parse(arguments.domain),
            epsilon=arguments.epsilon,
            method=arguments.method,
            user=arguments.user_column,
            max_per_user=arguments.max_per_user,
            public_size=arguments.public_size,
            ledger=arguments.ledger,
            dataset=arguments.dataset,
        )
        synopsis.save(arguments.output)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
