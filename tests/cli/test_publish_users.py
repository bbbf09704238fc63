"""`hushgrid publish --user-column`: the whole path from a file to answers."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from tests.cli.commands import Run, assert_refused

ROWS, INSIDE, USERS, MOST = 41_387, 30_211, 7_919, 3  # numbers that nothing else in an output looks like
RECT = "-74,40.6,-73.9,40.8"

KEPT = re.compile(r"About \d+ % of the records were kept \(\d+ to \d+ % with 95 % confidence\)")


def table() -> pa.Table:
    """Records of some users, a few of them outside the domain."""
    rng = np.random.default_rng(3)
    lon = np.concatenate([rng.uniform(-74, -73.9, INSIDE), rng.uniform(10, 11, ROWS - INSIDE)])
    who = [f"user {number}" for number in rng.integers(0, USERS, ROWS)]
    return pa.table({"lon": lon, "lat": rng.uniform(40.6, 40.8, ROWS), "who": who})


@pytest.fixture(scope="module", params=["parquet", "csv"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records in a file."""
    path = tmp_path_factory.mktemp("users") / f"trips.{request.param}"
    write = pq.write_table if request.param == "parquet" else pyarrow.csv.write_csv
    write(table(), path)
    return path


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records as Parquet."""
    path = tmp_path_factory.mktemp("users") / "trips.parquet"
    pq.write_table(table(), path)
    return path


def test_numbers_are_called_what_they_are(publish: Run, run: Run, file: Path) -> None:
    """Kept records, the unit and the bound stand wherever a number of the release is shown."""
    published = publish("--user-column", "who", "--max-per-user", MOST, points=file)
    said = run("describe", "out.dp.parquet").stdout
    values = json.loads(run("describe", "out.dp.parquet", "--json").stdout)
    asked = run("query", "out.dp.parquet", "--rect", RECT)
    as_json = json.loads(run("query", "out.dp.parquet", "--rect", RECT, "--json").stdout)
    as_csv = run("query", "out.dp.parquet", "--rect", RECT, "--csv")

    assert published.exit_code == 0
    assert "kept records, not of all: at most 3 records of each user" in " ".join(published.stderr.split())
    assert KEPT.search(" ".join(published.stderr.split()))
    assert KEPT.search(" ".join(said.split()))
    assert 0.1 <= values["kept_share"]["low"] <= values["kept_share"]["estimate"] <= values["kept_share"]["high"] <= 1
    assert re.search(r"total +about [\d,]+ kept records", said)
    assert "any one user, with all their records," in " ".join(said.split())
    assert (values["counted"], values["claim"]["unit"], values["claim"]["max_per_unit"]) == ("kept records", "user", 3)
    assert "noise that protects every user" in asked.stdout
    assert "The true count of kept records lies between" in asked.stdout
    assert "kept records" in as_json["caveats"][0]
    assert "kept records" in as_csv.stderr
    assert run("verify", "out.dp.parquet").exit_code == 0


def test_the_shares_of_the_budget_are_those_of_a_user(publish: Run, run: Run, parquet: Path) -> None:
    """They sum to epsilon, as the reader expects."""
    publish("--user-column", "who", "--max-per-user", MOST, "--scale-to-total", "private", points=parquet)
    said = " ".join(run("describe", "out.dp.parquet").stdout.split())

    assert "epsilon 1: total 0.05, size 0.01, counts 0.94" in said


@pytest.mark.parametrize("total", ["50000", "private"])
def test_counts_may_be_scaled_to_a_total(publish: Run, run: Run, parquet: Path, total: str) -> None:
    """The output says what is covered by intervals, and what is not."""
    publish("--user-column", "who", "--max-per-user", MOST, "--scale-to-total", total, points=parquet)
    synopsis = hg.read("out.dp.parquet")
    asked = " ".join(run("query", "out.dp.parquet", "--rect", RECT).stdout.split())

    assert synopsis.scale is not None
    assert synopsis.total == pytest.approx(synopsis.scale.total)
    assert "a range by noise alone: it covers neither what was lost" in asked
    assert "confidence" not in asked.partition("by noise alone")[2]
    assert "by noise alone" in run("describe", "out.dp.parquet").stdout
    assert json.loads(run("describe", "out.dp.parquet", "--json").stdout)["scale"]["total"] == synopsis.scale.total
    assert run("verify", "out.dp.parquet").exit_code == 0


def test_distinct_users(publish: Run, run: Run, parquet: Path) -> None:
    """Users are counted on a grid of the side given, and sums are of user-area pairs."""
    publish("--user-column", "who", "--max-per-user", MOST, "--distinct-users", "16", points=parquet)

    assert hg.read("out.dp.parquet").partition.cells == 256
    assert "user-area pairs" in run("query", "out.dp.parquet", "--rect", RECT).stdout


REFUSED = {
    "no bound": (["--user-column", "who"], 2, "max_per_user"),
    "no users": (["--max-per-user", "3"], 2, "without user"),
    "no such column": (["--user-column", "whom", "--max-per-user", "3"], 3, "'whom'"),
    "coordinates": (["--user-column", "lon", "--max-per-user", "3"], 2, "column of coordinates"),
    "a total that is no number": (
        ["--user-column", "who", "--max-per-user", "3", "--scale-to-total", "many"],
        2,
        "--scale-to-total",
    ),
    "distinct users by another method": (
        ["--user-column", "who", "--max-per-user", "3", "--distinct-users", "8", "--method", "ag"],
        2,
        "--distinct-users",
    ),
}


@pytest.mark.parametrize(("options", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_arguments_that_make_no_sense_are_refused(
    publish: Run, file: Path, options: list[str], code: int, words: str
) -> None:
    """One line says why, and nothing is written."""
    assert_refused(publish(*options, points=file), code, words)
    assert not Path("out.dp.parquet").exists()


def test_no_true_number_is_anywhere(publish: Run, run: Run, file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Numbers of rows, users and kept records are in no output, log or file."""
    sizes = np.unique(table()["who"].to_numpy(zero_copy_only=False)[:INSIDE], return_counts=True)[1]
    secrets = {ROWS, INSIDE, len(sizes), int(np.minimum(sizes, MOST).sum()), int(np.minimum(sizes, 10 * MOST).sum())}
    written = b"|".join(f"{number}|{number:,}".encode() for number in secrets)
    scan = re.compile(rb"(?<![\d.])(" + written + rb")(?![\d])")
    options = ["--epsilon", "0.0001", "--user-column", "who", "--max-per-user", MOST, "--scale-to-total", "private"]
    results = [
        publish(*options, points=file),
        publish(*options, points=file),  # refused: the output exists
        run("describe", "out.dp.parquet"),
        run("describe", "out.dp.parquet", "--json"),
        run("query", "out.dp.parquet", "--rect", "-180,-90,180,90", "--json"),
    ]

    metadata = pq.ParquetFile("out.dp.parquet").metadata.metadata
    seen = [result.output.encode() for result in results] + [caplog.text.encode(), *metadata.values()]
    assert [result.exit_code for result in results] == [0, 2, 0, 0, 0]
    assert scan.search(b"rows=30,211.")
    assert not [text for text in seen if scan.search(text)]
