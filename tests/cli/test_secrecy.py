"""The true number of rows is in no output, file or file name."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tests.cli.commands import ROWS, Run

INSIDE = 30_211  # the others lie outside the domain, so that no estimate comes near ROWS
EPSILON = "0.0001"  # noise so wide that it shows the truth by chance less than once in a hundred thousand times
NUMBER = re.compile(rb"(?<![\d.])(41[,_ ]?387|30[,_ ]?211)(?![\d])")


@pytest.fixture(params=["parquet", "csv"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The points in a file, some of them outside the domain."""
    rng = np.random.default_rng(3)
    lon = np.concatenate([rng.uniform(-74, -73.9, INSIDE), rng.uniform(10, 11, ROWS - INSIDE)])
    table = pa.table({"lon": lon, "lat": rng.uniform(40.6, 40.8, ROWS)})
    path = tmp_path_factory.mktemp("points") / f"trips.{request.param}"
    write = pq.write_table if request.param == "parquet" else pyarrow.csv.write_csv
    write(table, path)
    return path


@pytest.mark.parametrize("size_from", ["rows", "domain"])
@pytest.mark.parametrize("method", ["ug", "ag"])
def test_the_true_number_is_nowhere(publish: Run, run: Run, file: Path, method: str, size_from: str, caplog) -> None:
    """Outputs of every command, the log, the file's name and all that a reader finds in it."""
    options = ["--epsilon", EPSILON, "--method", method, "--size-from", size_from]
    results = [
        publish(*options, points=file),
        publish(*options, points=file),  # refused: the output exists
        publish(*options, "--overwrite", "--lon", "east", "--lat", "north", points=file),  # refused: no such column
        run("describe", "out.dp.parquet"),
        run("describe", "out.dp.parquet", "--json"),
        run("verify", "out.dp.parquet"),
        run("manifest", "out.dp.parquet"),
        run("manifest", "out.dp.parquet", "--json"),
        run("query", "out.dp.parquet", "--rect", "-180,-90,180,90", "--json"),
    ]

    seen = [result.output.encode() for result in results]
    seen += [caplog.text.encode(), *(path.name.encode() for path in Path().iterdir()), *_contents("out.dp.parquet")]
    assert [result.exit_code for result in results] == [0, 2, 3, 0, 0, 0, 0, 0, 0]
    assert not [text for text in seen if NUMBER.search(text)]


@pytest.mark.parametrize("text", ["41387", "41,387 rows", "rows=41387.", '"value": 30211}'])
def test_the_scan_would_find_it(text: str) -> None:
    """Negative control: the number is found in the ways it could be written."""
    assert NUMBER.search(text.encode())


def _contents(path: str) -> list[bytes]:
    file = pq.ParquetFile(path)
    columns = file.read().drop(["geometry"])
    return [
        Path(path).read_bytes(),
        *file.metadata.metadata.values(),
        str(file.metadata.to_dict()).encode(),
        *(str(column.to_pylist()).encode() for column in columns.columns),
    ]
