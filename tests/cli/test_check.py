"""`hushgrid publish --check`: what would be published and at what cost, from the schema and public figures alone."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hushgrid.cli import main
from hushgrid.counting.csv import CsvPart, CsvPoints
from hushgrid.counting.parquet import ParquetPoints, RowGroup
from hushgrid.ledger.ledger import open_ledger
from hushgrid.planning.check import NOTHING_READ
from tests.cli.commands import Run

GIVEN = ["--domain", "-74.26,40.48,-73.70,40.92", "--epsilon", "1", "-o", "out.dp.parquet", "--method", "uniform"]
USERS = ["--user-column", "who", "--max-per-user", "3"]
NOISY = ["--epsilon", "0.001", "--public-size", "2000"]  # a total of 2,000 that may be off by 2,800


def trips(rows: int, seed: int) -> pa.Table:
    """Records that nothing public decides."""
    rng = np.random.default_rng(seed)
    who = [f"rider{number}" for number in rng.integers(0, 50, rows)]
    return pa.table({"lon": rng.uniform(-74.2, -73.8, rows), "lat": rng.uniform(40.5, 40.9, rows), "who": who})


def write(table: pa.Table, path: Path) -> None:
    """A file of the kind that its name says."""
    (pq.write_table if path.suffix == ".parquet" else pyarrow.csv.write_csv)(table, path)


@pytest.fixture(params=["trips.parquet", "trips.csv"])
def file(request: pytest.FixtureRequest, run: Run) -> Path:
    """A file of records in the folder where commands run."""
    write(trips(2000, 1), Path(request.param))
    return Path(request.param)


@pytest.fixture
def ledger(run: Run) -> Path:
    """A ledger with a budget of 2 for each record of the data set trips."""
    path = Path("my.ledger")
    with open_ledger(path, create=True) as made:
        made.add_dataset("trips", budget=2, unit="record")
    return path


def contents() -> dict[str, bytes]:
    """Every file of the folder."""
    return {path.name: path.read_bytes() for path in Path().iterdir()}


def test_it_says_what_would_be_published(run: Run, file: Path, ledger: Path) -> None:
    """Columns and their meaning, the guarantee, what is left; no file is made or changed, the ledger's included."""
    before = contents()
    result = run("publish", file, *GIVEN, "--dataset", "trips", "--ledger", ledger, "--points-about", "2000", "--check")

    said = " ".join(result.stdout.split())
    assert result.exit_code == 0, result.output
    assert "longitude 'lon'" in said
    assert "latitude 'lat'" in said
    assert "changes the probability of every possible release by a factor of at most exp(1) = 2.72" in said
    assert "2 is left before it, and 1 after it" in said
    assert "about a second" in said
    assert result.stdout.endswith(f"{NOTHING_READ}\n")
    assert contents() == before


@pytest.mark.parametrize("options", [[], USERS, ["--points-about", "5000"]], ids=["records", "users", "a size"])
@pytest.mark.parametrize("name", ["trips.parquet", "trips.csv", "folder"])
def test_it_says_the_same_whatever_the_rows_are(run: Run, name: str, options: list[str]) -> None:
    """Other rows, and more of them, under the same schema: every byte is the same."""
    said = []
    for rows, seed in ((17, 1), (4_000, 2)):
        if name == "folder":
            Path(name).mkdir(exist_ok=True)
            write(trips(rows, seed), Path(name, "part.parquet"))
        else:
            write(trips(rows, seed), Path(name))
        said.append(run("publish", name, *GIVEN, *options, "--check").output)

    assert said[0] == said[1]
    assert NOTHING_READ in said[0]


def test_it_reads_no_record(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever reads rows, or counts them, would raise; and does, if rows are asked for."""

    class ReadError(Exception):
        pass

    def read(*_: object) -> None:
        raise ReadError

    for kind, name in ((CsvPoints, "rows"), (CsvPart, "texts"), (ParquetPoints, "rows"), (RowGroup, "__iter__")):
        monkeypatch.setattr(kind, name, read)

    assert run("publish", file, *GIVEN, *USERS, "--check").exit_code == 0
    assert run("publish", file, *GIVEN, *USERS, "--check", "--look").exit_code == 1


WRONG = {
    "nothing": [],
    "no such column": ["--lon", "east", "--lat", "north"],
    "half a pair": ["--lon", "lon"],
    "users without K": ["--user-column", "who"],
    "no such user column": ["--user-column", "nobody", "--max-per-user", "3"],
    "epsilon": ["--epsilon", "0"],
    "method": ["--method", "quad-tree"],
    "budget": ["--epsilon", "3", "--dataset", "trips", "--ledger", "my.ledger"],
    "data set": ["--dataset", "nix", "--ledger", "my.ledger"],
    "unit": [*USERS, "--dataset", "trips", "--ledger", "my.ledger"],
    "no ledger": ["--dataset", "trips", "--ledger", "no.ledger"],
    "entry": ["--dataset", "trips", "--ledger", "my.ledger", "--resume", "7"],
    "folder": ["-o", "nowhere/out.parquet"],
    "output": ["-o", "out.gpkg"],
    "no points": ["--points-about", "0"],
    "noise": NOISY,
    "noise, wanted": [*NOISY, "--yes"],
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG)
def test_it_ends_as_publishing_would(run: Run, ledger: Path, options: list[str]) -> None:
    """With the same exit code and the same words about what is wrong; and the ledger stays as it is."""
    write(trips(2000, 1), Path("trips.parquet"))
    before = contents()
    checked = run("publish", "trips.parquet", *GIVEN, *options, "--check")
    assert contents() == before
    published = run("publish", "trips.parquet", *GIVEN, *options)

    assert checked.exit_code == published.exit_code
    if published.exit_code:
        assert published.stderr.splitlines()[0] in checked.stderr


def test_it_lists_all_that_is_wrong(run: Run) -> None:
    """Five mistakes in one command are listed, each with its own message."""
    write(trips(10, 1), Path("trips.parquet"))
    wrong = ["--epsilon", "0", "--user-column", "nobody", "-o", "nowhere/out.parquet", "--dataset", "trips"]
    said = " ".join(run("publish", "trips.parquet", *GIVEN, *wrong, "--ledger", "no.ledger", "--check").stdout.split())

    for words in (
        "1. the folder nowhere does not exist",
        "2. epsilon must be a finite number > 0",
        "3. user needs max_per_user",
        "4. the ledger no.ledger does not exist",
        "5. trips.parquet has no column 'nobody' of user ids",
    ):
        assert words in said


def test_a_release_that_the_ledger_has_costs_nothing(run: Run, ledger: Path) -> None:
    """The entry is named; a new release is charged for."""
    write(trips(2000, 1), Path("trips.parquet"))
    asked = ["publish", "trips.parquet", *GIVEN, "--dataset", "trips", "--ledger", str(ledger)]
    assert run(*asked).exit_code == 0
    again = run(*asked, "--check", "-o", "other.parquet")
    anew = run(*asked, "--check", "-o", "other.parquet", "--new-release")

    assert "nothing: entry 1 of the ledger my.ledger has paid for this release" in again.stdout
    assert "1 is left before it, and 0 after it" in " ".join(anew.stdout.split())


def test_a_first_line_that_is_a_record_is_not_quoted(run: Run) -> None:
    """A CSV file without a header: no word of its first line is repeated."""
    Path("headless.csv").write_text("Erika;Mustermann;-73.9;40.7\n" * 9)
    result = run("publish", "headless.csv", *GIVEN, "--check")

    assert result.exit_code == 3
    assert not re.search(r"Erika|Mustermann|73\.9;|40\.7;", result.output)


def test_only_names_that_are_asked_for_or_usual_are_quoted(run: Run) -> None:
    """Other fields of a header may be anything; the sign between them is told."""
    Path("trips.csv").write_text("Erika;lon;lat;who\nx;-73.9;40.7;a\n")
    result = run("publish", "trips.csv", *GIVEN, *USERS, "--check")

    assert "a CSV file with semicolons between columns" in result.stdout
    assert "user 'who' (text)" in " ".join(result.stdout.split())
    assert "Erika" not in result.output


def test_an_engine_that_would_look_at_rows_is_not_asked(run: Run) -> None:
    """DuckDB finds the columns of a query by running it; a path of Parquet files declares them."""
    write(trips(10, 1), Path("trips.parquet"))
    query = run("publish", "SELECT lon, lat FROM 'trips.parquet'", *GIVEN, "--engine", "duckdb", "--check")
    path = run("publish", "trips.parquet", *GIVEN, "--engine", "duckdb", "--check")

    assert (query.exit_code, path.exit_code) == (0, 0)
    assert "would have to look at rows to know its columns, which was not done" in " ".join(query.stdout.split())
    assert "longitude 'lon' (Float64)" in path.stdout


def test_standard_input_is_not_used_up(run: Run) -> None:
    """It could not be published afterwards."""
    result = run("publish", "-", *GIVEN, "--check", stdin="lon,lat\n-73.9,40.7\n")

    assert result.exit_code == 2
    assert "--check would use up standard input" in result.stderr


def test_a_look_is_not_private_and_says_so(run: Run, file: Path) -> None:
    """The first rows and the share inside go to stderr in red; stdout has nothing of them, and says what happened."""
    table = pa.table({"lon": [-73.5, *[-73.9] * 3], "lat": [40.7] * 4, "who": ["Erika", *"abc"]})
    write(table, file)
    asked = ["publish", str(file), *GIVEN, *USERS, "--check"]
    plain, looked = run(*asked), run(*asked, "--look")
    coloured = CliRunner().invoke(main, [*asked, "--look"], color=True)

    assert "Erika" not in plain.output
    assert "NOT PRIVATE" in looked.stderr
    assert "longitude -73.5, latitude 40.7, user Erika" in looked.stderr
    assert "75.0 %" in looked.stderr
    assert not re.search(r"Erika|73\.5|75\.0", looked.stdout)
    assert NOTHING_READ not in looked.stdout
    assert "not covered by the guarantee" in " ".join(looked.stdout.split())
    assert "\x1b[31mNOT PRIVATE" in coloured.stderr


def test_a_look_belongs_to_a_check(run: Run, file: Path) -> None:
    """A release never shows rows."""
    result = run("publish", file, *GIVEN, "--look")

    assert result.exit_code == 2
    assert "Give --check as well" in result.stderr
    assert not Path("out.dp.parquet").exists()


def test_a_release_of_noise_is_refused_before_anything_is_read(run: Run, ledger: Path) -> None:
    """From public figures alone, with the numbers and the way on; nothing is charged. The points need not exist."""
    before = contents()
    charged = ["--dataset", "trips", "--ledger", ledger]
    result = run("publish", "nowhere.parquet", *GIVEN, *NOISY, *charged)

    assert result.exit_code == 2
    assert "of about 2,000 points, the total may be off by 2,800 at epsilon 0.001" in result.stderr
    assert "--yes publishes all the same" in result.stderr
    assert contents() == before


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2)])
def test_at_a_terminal_it_asks(run: Run, monkeypatch: pytest.MonkeyPatch, typed: str, code: int) -> None:
    """Yes goes on, no is no release."""
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("hushgrid.cli.commands.check.sys", SimpleNamespace(stdin=terminal, stderr=terminal))
    write(trips(2000, 1), Path("trips.parquet"))
    result = run("publish", "trips.parquet", *GIVEN, *NOISY, stdin=typed)

    assert result.exit_code == code
    assert "Publish all the same?" in result.stderr
    assert Path("out.dp.parquet").exists() is (code == 0)


def test_swapped_columns_of_users_are_warned_of(run: Run) -> None:
    """At user level there is no number of rows to compare with: the total's interval tells, or a public size."""
    write(trips(5000, 1), Path("trips.parquet"))
    swapped = ["--lon", "lat", "--lat", "lon", "--method", "ug", "--no-calibrate", "--overwrite"]
    right = run("publish", "trips.parquet", *GIVEN, *USERS, "--method", "ug", "--no-calibrate")
    wrong = run("publish", "trips.parquet", *GIVEN, *USERS, *swapped)
    sized = run("publish", "trips.parquet", *GIVEN, *USERS, *swapped, "--public-size", "5000")

    assert (right.exit_code, wrong.exit_code, sized.exit_code) == (0, 0, 0)
    assert "warning" not in right.stderr
    assert "hushgrid: warning: the release says little" in wrong.stderr
    assert "far fewer kept records seem to lie in the domain than the public size of 5,000 says" in sized.stderr
    for said in (wrong.stderr, sized.stderr):
        assert "Are longitude and latitude swapped?" in said
        assert "--check --look" in said


def test_a_release_is_summed_up_in_words(run: Run) -> None:
    """The total with its interval, what the method does, and what to do next."""
    write(trips(5000, 1), Path("trips.parquet"))
    said = run("publish", "trips.parquet", *GIVEN, "--method", "ug", "--no-calibrate").stderr

    assert re.search(
        r"^total +about [45],\d{3} points, an estimate; [45],\d{3} to [45],\d{3} with 95 % confidence$", said, re.M
    )
    assert "ug: equal cells, as many as the noise allows" in said
    assert "hushgrid map out.dp.parquet -o out.dp.html" in said
