"""`hushgrid.check`: a dry run in Python, as objects that print and as plain values."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.planning.check import LISTED, LOOKED, NOT_OPENED, NOTHING_READ, DryRun

SQUARE = hg.Domain(west=0, south=0, east=1, north=1)
TABLE = pa.table({"lon": [0.5, 7.0], "lat": [0.25, 0.25], "who": ["Erika", "Max"]})


def check(points=TABLE, **options) -> DryRun:
    """A dry run of some points."""
    return hg.check(points, **{"domain": SQUARE, "epsilon": 1, **options})


@pytest.mark.parametrize(
    ("points", "form"),
    [
        (TABLE, "a table in memory"),
        (TABLE.to_pandas(), "a table in memory"),
        (np.zeros((3, 2)), "arrays in memory"),
        ([[0.5, 0.5]], LISTED),
    ],
    ids=["arrow", "pandas", "array", "list"],
)
def test_what_the_points_are_is_told(points, form: str) -> None:
    """Columns have their declared types; arrays and lists have none."""
    found = check(points)

    assert found.ok
    assert found.to_dict()["form"] == form
    assert form in " ".join(str(found).split())
    assert [column["name"] for column in found.to_dict()["columns"]] == (["lon", "lat"] if "table" in form else [])


@pytest.mark.parametrize("user", [None, "who"])
@pytest.mark.parametrize("kind", ["trips.csv", "trips.parquet", "table", "polars"])
def test_columns_of_slices_are_told(tmp_path: Path, kind: str, user: str | None) -> None:
    """As much as the others: a time taken from the wrong column would be paid for."""
    table = pa.table({"at": ["2026-03-01"], "who": ["a"], "lat": [0.5], "kind": ["bus"], "lon": [0.5]})
    path = tmp_path / kind
    if path.suffix:
        (pyarrow.csv.write_csv if path.suffix == ".csv" else pq.write_table)(table, path)
    by = hg.By.product(hg.By("kind", values=["bus"]), hg.By.time("at", "hour"))
    points = path if path.suffix else (table if kind == "table" else pl.from_arrow(table))
    found = check(points, by=by, user=user, max_per_user=None if user is None else 3)

    users = [] if user is None else [("user", "who")]
    told = [("longitude", "lon"), ("latitude", "lat"), *users, ("slice", "kind"), ("slice", "at")]
    assert [(column.meaning, column.name) for column in found.schema.columns] == told


def test_a_list_is_not_gone_through() -> None:
    """To open it is to read its rows."""

    class Unread(list):
        def __iter__(self):
            raise AssertionError

    assert check(Unread([[0.5, 0.5]])).ok


def test_a_lazy_frame_is_not_asked_for_its_schema() -> None:
    """It may be found in rows."""
    found = check(pl.LazyFrame({"lon": [0.5], "lat": [0.5]}))

    assert found.ok
    assert found.schema is None
    assert NOT_OPENED in " ".join(str(found).split())


def test_plain_values_are_json_and_have_all_that_is_printed() -> None:
    """Of the request, the columns, the output and what to expect."""
    found = check(user="who", max_per_user=3, points_about=5000, output="new.parquet", method="uniform")
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))

    assert values["ok"]
    assert [column["meaning"] for column in values["columns"]] == ["longitude", "latitude", "user"]
    assert values["request"]["unit"] == "user"
    assert values["request"]["max_per_unit"] == 3
    assert values["request"]["guarantee"] in " ".join(str(found).split())
    assert values["expected"]["cells"] == 1
    assert values["output"] == "new.parquet"
    assert values["ending"] == NOTHING_READ
    assert repr(found) == str(found)  # what a notebook shows


@pytest.mark.parametrize(
    ("options", "code"),
    [({"epsilon": -1}, 2), ({"lon": "x", "lat": "y"}, 3), ({"output": "nowhere/new.parquet"}, 2)],
)
def test_what_is_wrong_is_listed_and_not_raised(options: dict, code: int) -> None:
    """With the exit code that the command line would end with."""
    found = check(**options)

    assert not found.ok
    assert [problem["exit_code"] for problem in found.to_dict()["problems"]] == [code]
    assert found.problems[0].complaint[:30] in str(found)


def test_an_unknown_argument_is_raised() -> None:
    """It is a mistake in the program, as for any function."""
    with pytest.raises(TypeError, match="Did you mean 'max_per_user'"):
        check(max_per_usr=3)


def test_a_size_is_asked_for_where_none_is_public() -> None:
    """How to give one is said; with one, cells and errors are told."""
    unknown, declared = check(), check(public_size=100_000)

    assert "--points-about N" in " ".join(str(unknown).split())
    assert unknown.expected.cells is None
    assert declared.missing == ()
    assert declared.expected.cells > 1000
    assert "Counts over 1 % of the domain" in " ".join(str(declared).split())


def test_errors_on_areas_follow_from_the_budget() -> None:
    """One Laplace noise of rate one is off by more than ln 20 = 3.0 one time in twenty."""
    areas = hg.Areas([shapely.box(0, 0, 0.5, 1), shapely.box(0.5, 0, 1, 1)], names=["west", "east"])
    found = check(method=areas)

    assert found.expected.cells == 2
    assert "by up to 3." in found.expected.errors[0]


def test_a_look_stays_in_its_own_attribute() -> None:
    """It is in no text, no dictionary and no representation."""
    found, blind = check(user="who", max_per_user=1, look=True), check(user="who", max_per_user=1)

    assert blind.true_look is None
    assert found.true_look.true_rows == ((0.5, 0.25, "Erika"), (7.0, 0.25, "Max"))
    assert found.true_look.true_share_inside == 0.5
    assert "Erika" in found.true_look.in_words()
    for shown in (str(found), repr(found), repr(found.true_look), json.dumps(found.to_dict())):
        assert "Erika" not in shown
        assert "0.25" not in shown
    assert found.ending == LOOKED


def test_a_look_at_an_engine_tells_the_share_alone() -> None:
    """Rows stay where they are."""
    found = check(pl.LazyFrame({"lon": [0.5, 7.0, 0.1, 0.2], "lat": [0.5] * 4}), look=True)

    assert found.true_look.true_rows == ()
    assert found.true_look.true_share_inside == 0.75


def test_points_in_another_system_are_told_with_it(tmp_path: Path) -> None:
    """Both systems are named, and the columns are those of the file."""
    path = tmp_path / "metres.csv"
    path.write_text("x,y\n588000,4511000\n")
    found = hg.check(path, domain=hg.Domain(west=-75, south=40, east=-73, north=41), epsilon=1, crs="EPSG:32618")

    assert "taken to be in EPSG:32618, the domain is in OGC:CRS84" in " ".join(str(found).split())
    assert [column.name for column in found.schema.columns] == ["x", "y"]
