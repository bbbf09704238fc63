"""`hushgrid publish --by` and `--time`: what the options mean, and what is printed."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.cli.arguments import SlicesAsked, listed_values
from tests.cli.commands import Run, assert_refused

NOTHING = {
    **dict.fromkeys(
        ("by", "values", "time", "slices", "start", "end", "timezone", "time_format", "time_unit", "period")
    ),
    "other": False,
}
BOUNDS = ("--domain", "0,0,1,1", "--epsilon", "1")


@pytest.fixture
def points(tmp_path: Path) -> Path:
    """Points of three kinds at some times, and one of no kind."""
    rng = np.random.default_rng(1)
    kinds, days = rng.choice(["car", "bike", "bus"], 900), rng.integers(0, 28, 900)
    times = np.datetime64("2026-03-02T12:00") + days * np.timedelta64(1, "D")
    places = rng.random((900, 2))
    path = tmp_path / "points.csv"
    table = {"lon": places[:, 0], "lat": places[:, 1], "kind": kinds, "at": times.astype(str)}
    pyarrow.csv.write_csv(pa.table(table), path)
    return path


def test_options_are_what_python_takes() -> None:
    """Values, times, and both."""
    kinds = hg.By("kind", values=["car", "bike"], other=True)
    hours = hg.By.time("at", "hour", timezone="Europe/Berlin", unit="milliseconds")
    months = hg.By.time("at", "month", start="2026-01-01", end="2026-07-01", format="%d.%m.%Y")
    by_kind = {"by": "kind", "values": "car, bike", "other": True}
    by_hour = {"time": "at", "slices": "hour", "timezone": "Europe/Berlin", "time_unit": "ms"}
    by_month = {"time": "at", "slices": "month", "start": "2026-01-01", "end": "2026-07-01", "time_format": "%d.%m.%Y"}

    assert SlicesAsked(**NOTHING).chosen() is None
    assert SlicesAsked(**{**NOTHING, **by_kind}).chosen() == kinds
    assert SlicesAsked(**{**NOTHING, **by_hour}).chosen() == hours
    assert SlicesAsked(**{**NOTHING, **by_month}).chosen() == months
    assert SlicesAsked(**{**NOTHING, **by_kind, **by_hour}).chosen() == hg.By.product(kinds, hours)


def test_values_come_from_a_file(tmp_path: Path) -> None:
    """One a line; a mark at the start, and lines without anything, are passed over."""
    path = tmp_path / "kinds.txt"
    path.write_bytes(b"\xef\xbb\xbfcar\r\nBed, bath\n\n")

    assert listed_values(str(path)) == ["car", "Bed, bath"]
    for content in (b"\xff\xfe", b"", b" \n\n"):
        path.write_bytes(content)
        with pytest.raises(hg.ArgumentError, match="UTF-8 with one value on each line"):
            listed_values(str(path))


def test_points_are_no_list_of_slices(run: Run, points: Path, tmp_path: Path) -> None:
    """Slices would be called as records are written; nor may a message quote one."""
    link = tmp_path / "kinds.csv"
    link.hardlink_to(points)
    out = tmp_path / "x.dp.parquet"
    for values in (points, link):
        for given in ((points,), (str(tmp_path / "p*.csv"), "--engine", "duckdb")):
            result = run("publish", *given, *BOUNDS, "--by", "kind", "--values", values, "-o", out)

            assert_refused(result, 2, "is the file of the points themselves", "--values a,b,c")
            assert "2026-03" not in result.output
            assert not out.exists()


def test_slices_are_published(run: Run, points: Path, tmp_path: Path) -> None:
    """Every slice is in the file, and its total is printed."""
    out = tmp_path / "x.dp.parquet"
    result = run("publish", points, *BOUNDS, "--method", "ug", "--by", "kind", "--values", "car,bike,tram", "-o", out)
    slices = hg.read(out)

    assert result.exit_code == 0, result.output
    assert isinstance(slices, hg.Slices)
    assert slices.names == ("car", "bike", "tram")
    assert slices.claim.epsilon == 1
    for name in slices.names:
        assert f"\n{name} " in result.stderr
    assert "By kind (car, bike and tram; other values are not counted)." in " ".join(result.stderr.split())
    assert "--each" in result.stderr
    assert f"hushgrid map {out} -o" in result.stderr
    assert run("verify", out).exit_code == 0


def test_pairs_of_slices(run: Run, points: Path, tmp_path: Path) -> None:
    """By kind and by week, with a manifest."""
    out = tmp_path / "x.dp.parquet"
    weeks = ("--time", "at", "--slices", "week", "--from", "2026-03-02", "--to", "2026-03-30")
    asked = ("--method", "uniform", "--by", "kind", "--values", "car,bike", *weeks, "--manifest", "-o", out)
    result = run("publish", points, *BOUNDS, *asked)

    assert result.exit_code == 0, result.output
    assert len(hg.read(out)) == 8
    assert hg.read(out).names[0] == "car / 2026-W10"
    assert "exp(1)" in (tmp_path / "x.dp.manifest.md").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--by", "kind"), ("--by COLUMN and --values", "--values a,b,c")),
        (("--values", "a"), ("--by COLUMN and --values",)),
        (("--other",), ("--other makes one slice", "--by and --values")),
        (("--time", "at"), ("--time COLUMN and --slices", "--slices hour")),
        (("--from", "2026-01-01"), ("--from is about slices of time",)),
        (("--time", "at", "--slices", "month"), ("public range", "--from 2026-01-01 --to 2027-01-01")),
        (("--time", "at", "--slices", "hour", "--timezone", "Europe/Berln"), ("--timezone Europe/Berlin",)),
        (("--by", "kind", "--values", "a,b,a"), ("'a'",)),
        (("--by", "kind", "--values", "kinds.txt"), ("--values kinds.txt does not exist",)),
        (("--time", "at", "--slices", "hour", "--time-format", "%d.%m."), ("--time-format '%d.%m.%Y %H:%M'",)),
        (
            ("--time", "at", "--slices", "month", "--from", "2026-03-01", "--to", "2026-01-01"),
            ("--from 2026-01-01 --to 2026-03-01",),
        ),
    ],
    ids=lambda each: " ".join(each),
)
def test_options_that_do_not_fit(
    run: Run, points: Path, tmp_path: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """Each is refused before anything is read, with a better command where there is one."""
    assert_refused(run("publish", points, *BOUNDS, *options, "-o", tmp_path / "x.dp.parquet"), 2, *words)


def test_a_unit_is_named_as_in_python_or_by_its_letters(run: Run, tmp_path: Path) -> None:
    """What is tried is a command that works."""
    path, out = tmp_path / "points.parquet", tmp_path / "x.dp.parquet"
    pq.write_table(pa.table({"lon": [0.5], "lat": [0.5], "at": [0]}), path)
    asked = ("publish", path, *BOUNDS, "--method", "uniform", "--time", "at", "--slices", "hour", "-o", out)

    assert_refused(run(*asked), 3, "what it counts since 1970", "--time-unit seconds")
    for unit in ("s", "seconds", "ms", "milliseconds"):
        assert run(*asked, "--time-unit", unit, "--overwrite").exit_code == 0
        assert hg.read(out).by.axes[0].unit == ("seconds" if unit in ("s", "seconds") else "milliseconds")


def test_a_dry_run_tells_of_one_slice(run: Run, points: Path, tmp_path: Path) -> None:
    """What the slices are, and the cells and errors of one of them."""
    asked = ("publish", points, *BOUNDS, "--check", "--points-about", "90000", "-o", tmp_path / "x.dp.parquet")
    plain = run(*asked).stdout
    sliced = run(*asked, "--by", "kind", "--values", "car,bike,bus").stdout

    assert "3. By kind (car, bike and bus; other values are not counted)." in " ".join(sliced.split())
    assert "Of one slice" in sliced
    assert "in each slice" in sliced
    assert "slice" not in plain


def test_a_plan_for_slices_is_one_of_a_slice(run: Run) -> None:
    """Its points, and the budget that a total of three leaves it: all but a hundred and sixtieth."""
    public = ("plan", "--domain", "0,0,1,1", "--json")
    sliced = run(*public, "--points-about", "90000", "--epsilon", "1", "--by", "3")
    alone = run(*public, "--points-about", "30000", "--epsilon", "0.99375")

    assert sliced.stdout == alone.stdout
    assert "one of 3 slices" in sliced.stderr
    assert "STAQ spends the rest of it on their total" in sliced.stderr
    assert_refused(run(*public, "--points-about", "9000", "--accuracy", "5%", "--by", "3"), 2, "Give --epsilon")


def test_slices_that_hold_nothing_are_warned_of(points: Path, run: Run) -> None:
    """Values that the data does not have cost the same; the last line on stderr says so."""
    asked = ("publish", points, *BOUNDS, "--by", "kind", "-o", "kinds.dp.parquet", "--overwrite", "--values")
    missed, met = run(*asked, "Car,Bike"), run(*asked, "car,bike")

    assert missed.stderr.splitlines()[-1].startswith("hushgrid: warning: the release says little")
    assert "warning" not in met.stderr
