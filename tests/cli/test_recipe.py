"""`hushgrid publish --config`: options in a file, month after month."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.cli.commands.publish import publish_command
from hushgrid.cli.recipe import read_recipe
from tests.cli.commands import Run, assert_refused

RECIPE = """\
points = "{period}.parquet"
domain = [-74.26, 40.48, -73.70, 40.92]
epsilon = 0.1
method = "staq"
calibrate = false
dataset = "trips"
time = "started_at"
timezone = "America/New_York"
series = true
output = "{period}.dp.parquet"
overwrite = true
"""


@pytest.fixture
def recipe(run: Run) -> Path:
    """A recipe, two months of trips, and a ledger with a budget for each month."""
    rng = np.random.default_rng(6)
    for month in (1, 2):
        first = datetime(2026, month, 2)  # noqa: DTZ001 (a local time)
        times = [first + timedelta(hours=int(hours)) for hours in rng.integers(0, 24 * 25, 3000)]
        columns = {"lon": rng.normal(-73.95, 0.05, 3000), "lat": rng.normal(40.75, 0.05, 3000), "started_at": times}
        pq.write_table(pa.table(columns), f"2026-{month:02}.parquet")
    Path("release.toml").write_text(RECIPE)
    assert (
        run("ledger", "init", "--dataset", "trips", "--budget", "1", "--per", "month", "--unit", "record").exit_code
        == 0
    )
    return Path("release.toml")


def test_a_recipe_publishes_month_after_month(run: Run, recipe: Path) -> None:
    """Twice the same month gives the same bytes; the next is sharpened by it."""
    first = run("publish", "--config", recipe, "--period", "2026-01")
    content = Path("2026-01.dp.parquet").read_bytes()
    again = run("publish", "--period", "2026-01", "--config", recipe)
    second = run("publish", "--config", recipe, "--period", "2026-02")

    assert [first.exit_code, again.exit_code, second.exit_code] == [0, 0, 0]
    assert "is spent, 0.9 of 1 is left. Someone with a record in the one month" in " ".join(first.stderr.split())
    assert "nothing was spent" in again.stderr
    assert Path("2026-01.dp.parquet").read_bytes() == content
    assert "sharpened by entry 1" in second.stderr
    february = hg.read("2026-02.dp.parquet")
    assert february.period is not None
    assert (february.period.name, february.claim.epsilon.denominator) == ("2026-02", 10)
    assert february.prior is not None


def test_what_is_typed_wins(run: Run, recipe: Path) -> None:
    """Over every key of the file, that of the points too."""
    result = run(
        "publish", "2026-01.parquet", "--config", recipe, "--period", "2026-01", "--epsilon", "0.25", "--calibrate",
        "-o", "other.dp.parquet",
    )  # fmt: skip

    assert result.exit_code == 0
    assert hg.read("other.dp.parquet").claim.epsilon.denominator == 4
    assert not Path("2026-01.dp.parquet").exists()


WRONG = {
    "epsilonn = 1\n": "'epsilonn', which is not an option of this command. Did you mean 'epsilon'?",
    "max_per_user = 1\n": "Did you mean 'max-per-user'?",
    'config = "other.toml"\n': "'config', which is not an option",
    "calibrate = 1\n": "'calibrate' must be true or false",
    "epsilon = true\n": "'epsilon' must have a value",
    "epsilon = { value = 1 }\n": "'epsilon' must be a text, a number",
    'domain-crs = "EPSG:4326"\ngrid-crs = "EPSG:4326"\n': "twice, by two of its names",
    'method = "ag\n': "is not TOML: ",
    "period = 2026-03\n": 'texts and periods stand in quotation marks, as in period = "2026-03".',
    'output = "{period}.dp.parquet"\n': "has {period} in it, and no period was given",
    "epsilon = -1\n": "epsilon must be",
    "max-per-user = 1.5\n": "is not a valid integer",
    'by = "kind"\nvalues = ["car, private", "bus"]\n': "'values' has a comma in one of its texts",
}


@pytest.mark.parametrize(("text", "said"), WRONG.items(), ids=WRONG.values())
def test_what_is_wrong_with_a_recipe_is_said(run: Run, text: str, said: str) -> None:
    """With exit code 2, or 3 for a file that cannot be read."""
    Path("release.toml").write_text(text)
    result = run(
        "publish",
        "p.parquet",
        "--config",
        "release.toml",
        "--domain",
        "0,0,1,1",
        *(() if "epsilon" in text else ("--epsilon", "1")),
        *(() if "output" in text else ("-o", "o.dp.parquet")),
    )

    assert said in " ".join(result.stderr.split())
    assert result.exit_code == (3 if "TOML" in said or "quotation" in said else 2)


@pytest.mark.parametrize(("encoding", "code"), [("utf-8-sig", 0), ("utf-16", 3)])
def test_a_recipe_may_begin_with_the_mark_that_some_editors_write(
    run: Run, recipe: Path, encoding: str, code: int
) -> None:
    """Text in another encoding is refused, and its bytes are not quoted."""
    recipe.write_text(RECIPE, encoding=encoding)
    result = run("publish", "--config", recipe, "--period", "2026-01")

    assert result.exit_code == code
    assert ("is not text in UTF-8. Save it" in result.stderr) == (code != 0)


def test_a_period_that_is_missing_is_asked_for(run: Run, recipe: Path) -> None:
    """With the command that would work."""
    result = run("publish", "--config", recipe)

    assert_refused(result, 2)
    assert "Try: hushgrid publish --config release.toml --period 2026-03" in result.stderr
    Path("release.toml").write_text(recipe.read_text().replace("{period}", "one"))
    assert_refused(run("publish", "--config", "release.toml"), 2, "give --time COLUMN and --period 2026-03.")


def test_a_recipe_that_is_not_there_is_exit_code_3(run: Run, recipe: Path) -> None:
    """The refusal names a file that is there and was likely meant."""
    result = run("publish", "--config", "relaese.toml", "--period", "2026-01")

    assert_refused(result, 3)
    assert "Try: hushgrid publish --config release.toml" in result.stderr


def test_what_is_missing_is_asked_for_alone(run: Run) -> None:
    """The way out adds what is missing, and not what the recipe has."""
    Path("release.toml").write_text('points = "p.parquet"\ndomain = [0, 0, 1, 1]\noutput = "o.dp.parquet"\n')
    result = run("publish", "--config", "release.toml")

    assert_refused(result, 2)
    assert "Try: hushgrid publish --config release.toml --epsilon E\n" in result.stderr


@pytest.mark.parametrize("written", ["2026", "2026-03-31", '"2026-Q1"'])
def test_the_period_of_a_recipe_is_in_its_texts(tmp_path: Path, written: str) -> None:
    """Whether TOML takes it for a number, a date or a text."""
    path = tmp_path / "release.toml"
    path.write_text(f'period = {written}\noutput = "{{period}}.dp.parquet"\n')
    name = written.strip('"')

    assert read_recipe(path, publish_command, None) == {"period": name, "output": f"{name}.dp.parquet"}


def test_a_time_zone_without_a_name_is_refused(run: Run, recipe: Path) -> None:
    """An empty one, such as a variable that was not set, would be UTC, and hold for good."""
    result = run("publish", "--config", recipe, "--period", "2026-01", "--timezone", "")

    assert_refused(result, 2, "there is no time zone ''")


def test_values_are_as_typed(tmp_path: Path) -> None:
    """Lists with commas, decimals to the digit, dates, flags without their value, and options that may be repeated."""
    text = """\
    domain = [0, 0.10, "1", 1e3]
    epsilon = 0.10
    distinct-users = true
    spark-conf = ["a=1", "b={period}"]
    period = 2026-03-31
    kept-share = false
    user-column = "{other}"
    """
    path = tmp_path / "release.toml"
    path.write_text(text)

    assert read_recipe(path, publish_command, "2026-04-01") == {
        "bounds": "0,0.10,1,1e3",
        "epsilon": "0.10",
        "distinct_users": "0",
        "spark_conf": ["a=1", "b=2026-04-01"],
        "period": "2026-03-31",
        "kept_share": False,
        "user": "{other}",
    }


SLICED = {"--slices": "hour", "--from": "2026-01-01", "--to": "2026-02-01", "--time-format": "%Y", "--time-unit": "s"}


@pytest.mark.parametrize(("option", "value"), SLICED.items(), ids=SLICED)
def test_a_period_is_one_slice_of_time(run: Run, recipe: Path, option: str, value: str) -> None:
    """What divides times further is refused beside it."""
    result = run("publish", "--config", recipe, "--period", "2026-01", option, value)

    assert_refused(result, 2)
    assert f"{option} is about slices, and --period is one period." in result.stderr
