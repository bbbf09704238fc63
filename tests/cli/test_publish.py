"""`hushgrid publish`: what it writes, says and refuses."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.geometry.tree import Tree
from hushgrid.release.advice import domain_warning
from tests.cli.commands import DOMAIN, ROWS, Run, assert_refused

OUTPUT = Path("out.dp.parquet")


def test_the_release_is_written_and_its_path_is_the_result(publish: Run) -> None:
    """Nothing but the path is on stdout."""
    result = publish()

    assert result.exit_code == 0
    assert result.stdout == f"{OUTPUT}\n"
    assert hg.read(OUTPUT).domain == DOMAIN


def test_the_summary_is_on_stderr(publish: Run) -> None:
    """It names the method and why, the cells, the guarantee and what to do next."""
    said = " ".join(publish().stderr.split())

    synopsis = hg.read(OUTPUT)
    assert "asked for: auto" in said
    assert synopsis.method.notes[0] in said
    assert f"{synopsis.partition.cells:,} leaf cells" in said
    assert synopsis.claim.sentence in said
    assert f"hushgrid query {OUTPUT} --rect" in said
    assert "warning" not in said


def test_a_long_run_is_told_beforehand(publish: Run) -> None:
    """On stderr, from public figures: how long, how much memory, how many cells, and what sets fewer."""
    large, small = publish("--public-size", "2000000000"), publish("--overwrite", "--public-size", "40000")

    told = large.stderr.splitlines()[0]
    assert re.fullmatch(
        r"This will take about \d+ minutes and [\d.]+ GB, for about 1,000,000 cells\. --max-cells sets fewer\.", told
    )
    assert large.stdout == f"{OUTPUT}\n"
    assert "This will take" not in small.stderr


def test_a_limit_on_cells_is_kept_and_told(publish: Run, run: Run) -> None:
    """In the summary, and whenever the release is described; the limit is in JSON too."""
    said = " ".join(publish("--epsilon", "20", "--max-cells", "500").stderr.split())
    described = " ".join(run("describe", str(OUTPUT)).stdout.split())
    structure = json.loads(run("describe", str(OUTPUT), "--json").stdout)["structure"]

    assert 0 < structure["cells"] <= structure["max_cells"] == 500
    assert "cells were divided no further to fit 500 of them" in said
    assert "cells were divided no further to fit 500 of them" in described
    assert "at most 500 cells" in described


def test_the_commands_it_suggests_run(publish: Run, run: Run) -> None:
    """Every line after "Next:" is a command that works as it stands."""
    lines = publish().stderr.split("Next:\n")[1].splitlines()

    commands = [line.split() for line in lines]
    assert [command[1] for command in commands] == ["map", "query", "manifest", "verify"]
    assert all(run(*command[1:]).exit_code == 0 for command in commands)


@pytest.mark.parametrize(("method", "partition"), [("ug", Grid), ("ag", NestedGrid), ("auto", Tree)])
def test_the_method_is_the_one_asked_for(publish: Run, method: str, partition: type) -> None:
    """A name chooses the method, and the file says what was asked."""
    publish("--method", method)

    synopsis = hg.read(OUTPUT)
    assert isinstance(synopsis.partition, partition)
    assert synopsis.method.asked == method


def test_help_names_every_method(run: Run) -> None:
    """The list in the help text is the list of methods."""
    words = " ".join(run("publish", "--help").stdout.split())

    assert f"How to publish: {', '.join(['auto', *hg.METHODS])}." in words


@pytest.mark.parametrize("spelling", [["--domain", "-10,-20,-5,-15"], ["--domain=-10,-20,-5,-15"]], ids=str)
def test_a_domain_may_be_negative(publish: Run, spelling: list[str]) -> None:
    """A value that begins with a minus is not taken for an option."""
    assert publish(*spelling).exit_code == 0
    assert hg.read(OUTPUT).domain.bounds == (-10, -20, -5, -15)


@pytest.mark.parametrize(
    ("options", "source"),
    [([], "rows"), (["--size-from", "domain"], "domain"), (["--public-size", "40000"], "public")],
    ids=["rows", "domain", "public"],
)
def test_the_size_comes_from_where_it_was_asked(publish: Run, options: list[str], source: str) -> None:
    """The file records what sized the grid."""
    publish(*options)

    assert hg.read(OUTPUT).claim.size.source == source


def test_epsilon_is_exact(publish: Run) -> None:
    """Text reaches the budget as it was typed, without passing through a float."""
    publish("--epsilon", "0.1")

    assert str(hg.read(OUTPUT).claim.epsilon) == "1/10"


def test_columns_can_be_named_in_csv(points: pa.Table, publish: Run, tmp_path: Path) -> None:
    """Columns with names of their own are found when they are named."""
    file = tmp_path / "trips.csv"
    pyarrow.csv.write_csv(points.rename_columns(["pickup east", "pickup north"]), file)

    assert publish("--lon", "pickup east", "--lat", "pickup north", points=file).exit_code == 0


def test_no_rows_at_all_are_published_as_noise(publish: Run, tmp_path: Path) -> None:
    """A table without rows is a table like any other."""
    file = tmp_path / "none.parquet"
    pq.write_table(pa.table({"lon": pa.array([], pa.float64()), "lat": pa.array([], pa.float64())}), file)

    assert publish(points=file).exit_code == 0


def test_rows_that_are_no_points_are_dropped_without_a_word(publish: Run, tmp_path: Path) -> None:
    """Null, NaN, infinite and far-away rows cause no error and no message."""
    file = tmp_path / "odd.parquet"
    odd = [None, float("nan"), float("inf"), 1e300, -73.9]
    pq.write_table(pa.table({"lon": odd, "lat": odd}), file)

    result = publish(points=file)
    assert result.exit_code == 0
    assert "warning" not in result.stderr


BAD_ARGUMENTS = {
    "epsilon zero": (["--epsilon", "0"], ["epsilon", "'0'", "> 0"]),
    "epsilon negative": (["--epsilon", "-1"], ["epsilon", "'-1'", "> 0"]),
    "epsilon NaN": (["--epsilon", "nan"], ["epsilon", "'nan'", "finite"]),
    "epsilon infinite": (["--epsilon", "inf"], ["epsilon", "'inf'", "finite"]),
    "epsilon with a comma": (["--epsilon", "0,5"], ["epsilon", "'0,5'", "decimal point"]),
    "epsilon in words": (["--epsilon", "one"], ["epsilon", "'one'"]),
    "domain of three": (["--domain", "1,2,3"], ["domain", "four numbers W,S,E,N", "'1,2,3'"]),
    "domain in words": (["--domain", "a,b,c,d"], ["domain west", "'a'"]),
    "domain inverted": (["--domain", "-73,40,-74,41"], ["west must be below east", "W,S,E,N"]),
    "domain empty": (["--domain", "-74,40,-73,40"], ["south must be below north", "W,S,E,N"]),
    "domain infinite": (["--domain", "-74,40,inf,41"], ["domain east", "finite", "'inf'"]),
    "domain NaN": (["--domain", "-74,nan,-73,41"], ["domain south", "finite", "'nan'"]),
    "domain swapped": (["--domain", "40,-120,41,-74"], ["latitudes", "-90 and 90", "swapped"]),
    "domain across the antimeridian": (["--domain", "170,0,190,5"], ["longitudes", "180", "two"]),
    "method unknown": (["--method", "hexagons"], ["method", "'hexagons'", "auto, ug, ag"]),
    "public size negative": (["--public-size", "-5"], ["public_size", "-5", "at least 0"]),
    "public size in words": (["--public-size", "many"], ["--public-size", "'many'", "--help"]),
    "size from nowhere": (["--size-from", "air"], ["--size-from", "'air'", "'rows', 'domain'"]),
    "longitude alone": (["--lon", "lon"], ["lon", "lat", "together"]),
    "both kinds of columns": (["--lon", "a", "--lat", "b", "--geometry", "g"], ["geometry", "not both"]),
    "unknown option": (["--seed", "1"], ["--seed", "--help"]),
    "output is a folder": (["-o", "."], ["folder"]),
    "output in no folder": (["-o", "missing/out.parquet"], ["missing", "does not exist"]),
}


@pytest.mark.parametrize(("options", "words"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS.keys())
def test_a_bad_argument_is_refused_before_any_data_is_opened(
    publish: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str], words: list[str]
) -> None:
    """The exit code is 2; no file is touched, and none is written."""
    opened: list[object] = []
    monkeypatch.setattr("hushgrid.counting.opening._open_file", lambda *_: opened.append(1))

    assert_refused(publish(*options), 2, *words)
    assert opened == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["--domain", "--epsilon", "-o"])
def test_a_missing_option_is_named(run: Run, missing: str) -> None:
    """Domain, budget and output have no default."""
    given = {"--domain": "0,0,1,1", "--epsilon": "1", "-o": "out.parquet"}
    options = [part for option, value in given.items() if option != missing for part in (option, value)]

    assert_refused(run("publish", "trips.parquet", *options), 2, "Missing option", missing, "--help")


def _text_column(path: Path) -> None:
    pq.write_table(pa.table({"lon": ["-73.9"], "lat": ["40.7"]}), path)


def _other_columns(path: Path) -> None:
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), path)


def _ambiguous_columns(path: Path) -> None:
    pq.write_table(pa.table({name: [1.0] for name in ("lon", "lat", "x", "y")}), path)


def _damaged(path: Path) -> None:
    pq.write_table(pa.table({"lon": [1.0], "lat": [1.0]}), path)
    path.write_bytes(path.read_bytes()[:100])


BAD_FILES = {
    "missing": ("no.parquet", lambda path: None, ["does not exist"]),
    "missing CSV": ("no.csv", lambda path: None, ["does not exist"]),
    "folder": ("folder.parquet", Path.mkdir, ["folder"]),
    "empty": ("empty.parquet", Path.touch, ["damaged"]),
    "empty CSV": ("empty.csv", Path.touch, ["header"]),
    "damaged": ("damaged.parquet", _damaged, ["damaged"]),
    "text where numbers should be": ("text.parquet", _text_column, ["'lon'", "string"]),
    "no known columns": ("other.parquet", _other_columns, ["'a', 'b'", "lon"]),
    "two pairs of columns": ("two.parquet", _ambiguous_columns, ["'lon'", "'x'"]),
    "unknown extension": ("trips.xlsx", Path.touch, [".parquet", ".csv"]),
}


@pytest.mark.parametrize(("name", "make", "words"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_refused(publish: Run, tmp_path_factory: pytest.TempPathFactory, name, make, words) -> None:
    """The exit code is 3, one line names the file, and nothing is written."""
    file = tmp_path_factory.mktemp("bad") / name
    make(file)

    assert_refused(publish(points=file), 3, name, *words)
    assert not OUTPUT.exists()


def test_a_missing_column_is_named_with_those_there_are(publish: Run) -> None:
    """The exit code is 3, and the message lists the names to choose from."""
    assert_refused(publish("--lon", "east", "--lat", "north"), 3, "'east'", "'lon', 'lat'")
    assert not OUTPUT.exists()


def test_an_output_that_exists_is_kept(publish: Run) -> None:
    """Without --overwrite the file stays as it was; with it, it is replaced."""
    OUTPUT.write_text("mine")

    assert_refused(publish(), 2, str(OUTPUT), "--overwrite")
    assert OUTPUT.read_text() == "mine"
    assert publish("--overwrite").exit_code == 0
    assert hg.read(OUTPUT).domain == DOMAIN


def test_the_points_are_never_overwritten(publish: Run, points: pa.Table, tmp_path: Path) -> None:
    """The points stay even with --overwrite, and under another name of the same file."""
    file = tmp_path / "trips.parquet"
    pq.write_table(points, file)
    before = file.read_bytes()
    link = tmp_path / "link.parquet"
    link.symlink_to(file)

    for output in (file, link):
        assert_refused(publish("--overwrite", "-o", output, points=file), 2, "points themselves")
    assert file.read_bytes() == before


def test_swapped_columns_are_warned_of(publish: Run) -> None:
    """A release with next to nothing in its domain says so, and is written all the same."""
    result = publish("--lon", "lat", "--lat", "lon")

    assert result.exit_code == 0
    warning = result.stderr.splitlines()[-1]
    assert warning.startswith("hushgrid: warning: ")
    assert "swapped" in warning
    assert "--size-from domain" in warning


@pytest.mark.parametrize(
    ("share", "rows", "size_from", "expected"),
    [
        pytest.param(0.3, ROWS, "rows", True, id="a part of the data"),
        pytest.param(0.7, ROWS, "rows", False, id="most of the data"),
        pytest.param(0.3, ROWS, "domain", False, id="sized by the domain"),
        pytest.param(0.0, 300, "rows", False, id="few rows, much noise"),
        pytest.param(0.0, 0, "rows", False, id="no rows"),
    ],
)
def test_a_domain_that_misses_most_rows_is_noticed(share: float, rows: int, size_from: str, expected: bool) -> None:
    """Released values tell that less than half of the rows are inside, where the gap is clear of the noise."""
    inside = int(share * rows)
    points = np.repeat([[0.5, 0.5], [7.0, 7.0]], [inside, rows - inside], axis=0)
    domain = hg.Domain(west=0, south=0, east=1, north=1)

    for seed in range(20):
        rng = hg.simulation_rng(seed)
        synopsis = hg.publish(points, domain=domain, epsilon=1, size_from=size_from, rng=rng)
        assert (domain_warning(synopsis) is not None) is expected


def test_a_release_does_not_go_among_its_points(run: Run, points_file: Path) -> None:
    """The next release would take it for points."""
    folder = Path("points")
    folder.mkdir()
    (folder / "a.parquet").write_bytes(points_file.read_bytes())
    asked = ("publish", folder, "--domain", ",".join(map(str, DOMAIN.bounds)), "--epsilon", "1", "-o")

    assert_refused(run(*asked, folder / "out.parquet"), 2, "lies in the folder of the points")
    assert run(*asked, OUTPUT).exit_code == 0


def test_a_release_is_aimed_at_a_scale(publish: Run) -> None:
    """The file and the summary say what for."""
    result = publish("--aim", "500m")

    assert result.exit_code == 0
    assert hg.read(OUTPUT).method.name == "aimed"
    assert "made for counts over squares of" in " ".join(result.stderr.split())


def test_a_release_is_aimed_at_places(publish: Run, run: Run, tmp_path: Path) -> None:
    """They are counted by name, the file is consistent, and what they cost is said."""
    ring = [[-74.0, 40.7], [-73.9, 40.7], [-73.9, 40.8], [-74.0, 40.8], [-74.0, 40.7]]
    place = {"type": "Polygon", "coordinates": [ring]}
    stations = tmp_path / "stations.geojson"
    feature = {"type": "Feature", "properties": {"name": "Bridge"}, "geometry": place}
    stations.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    result = publish("--aim", str(stations))

    assert result.exit_code == 0, result.output
    assert "1 place was counted by itself" in " ".join(result.stderr.split())
    listed = run("query", str(OUTPUT), "--json")
    assert [answer["name"] for answer in json.loads(listed.stdout)["answers"]] == ["Bridge"]
    assert run("verify", str(OUTPUT)).exit_code == 0
    assert_refused(publish("--aim", "none.geojson", "--overwrite"), 3, "none.geojson cannot be read")


def test_a_wrong_aim_is_refused_with_a_better_one(publish: Run) -> None:
    """Before anything is read."""
    for given, better in {"500": "500m", "near": "0.5%", "0.1": "0.5%"}.items():
        assert_refused(publish("--aim", given), 2, "aim must be a length", f"--aim {better}")
    assert not OUTPUT.exists()
