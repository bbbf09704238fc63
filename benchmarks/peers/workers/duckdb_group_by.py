"""A group-by of DuckDB joined to all cells, and Laplace noise, in one statement of SQL."""

import duckdb
import numpy as np
from worker import Task, work

# The inverse of the distribution function, at a number between -1/2 and 1/2. Every cell is released, empty ones too.
STATEMENT = """
WITH true_counts AS (
    SELECT least(floor((lat - $south) / ($north - $south) * $side), $side - 1)::INTEGER AS "row",
           least(floor((lon - $west) / ($east - $west) * $side), $side - 1)::INTEGER AS "column",
           count(*) AS true_count
    FROM read_parquet($points)
    WHERE lon BETWEEN $west AND $east AND lat BETWEEN $south AND $north
    GROUP BY ALL
), cells AS (
    SELECT rows.range AS "row", columns.range AS "column", random() - 0.5 AS place
    FROM range($side) AS rows, range($side) AS columns
)
SELECT coalesce(true_count, 0) - sign(place) * ln(1 - 2 * abs(place)) / $epsilon AS noisy_count
FROM cells LEFT JOIN true_counts USING ("row", "column")
ORDER BY "row", "column"
"""


def release(task: Task) -> np.ndarray:
    """Counts and noise, both by DuckDB."""
    parameters = {name: value for name, value in vars(task).items() if name not in ("released", "asked")}
    cells = duckdb.execute(STATEMENT, parameters).fetchnumpy()["noisy_count"]
    return cells.reshape(task.side, task.side)


if __name__ == "__main__":
    work(release, version=duckdb.__version__)
