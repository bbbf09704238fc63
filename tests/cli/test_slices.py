"""Releases in slices on the command line: asked, drawn, sampled, written, compared."""

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.export.language import Language
from tests.cli.commands import Run, assert_refused
from tests.slices import SQUARE, some_slices
from tests.synopses import synopsis_on

HALF = "0,0,0.5,1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three slices on cells, with a total."""
    path = tmp_path / "kinds.dp.parquet"
    some_slices().save(path)
    return path


@pytest.fixture
def areas(tmp_path: Path) -> Path:
    """Three slices on areas in levels."""
    path = tmp_path / "areas.dp.parquet"
    some_slices("areas", total=False).save(path)
    return path


def test_slices_are_described(run: Run, file: Path) -> None:
    """What they are, the guarantee of all, and the total of each."""
    slices, text = hg.read(file), run("describe", file).stdout

    assert "By kind (car, bike and =bus; other values are not counted)." in " ".join(text.split())
    assert "exp(1) = 2.72" in text
    for name in slices.names:
        assert f"{round(slices[name].total):,}" in next(line for line in text.splitlines() if line.startswith(name))
    said = json.loads(run("describe", file, "--json").stdout)
    assert [each["slice"] for each in said["slices"]] == list(slices.names)
    assert said["claim"]["exact_epsilon"] == "1"
    assert all(each["claim"] == said["claim"] for each in said["slices"])
    assert said["released_total"]["claim"]["exact_epsilon"] == "1/10"
    assert hg.By.from_dict(said["by"]) == slices.by


def test_slices_are_verified(run: Run, file: Path) -> None:
    """Every one of them."""
    result = run("verify", file)

    assert result.exit_code == 0
    assert "follow from the measurements" in result.stdout


def test_every_slice_is_asked(run: Run, file: Path) -> None:
    """A row for each slice and rectangle, as a table, CSV and JSON."""
    slices = hg.read(file)
    asked = ("query", file, "--rect", HALF, "--rect", "0,0,1,1", "--each")
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--csv").stdout)))
    found = slices.answer([[0, 0, 0.5, 1], [0, 0, 1, 1]])

    assert [row["slice"] for row in rows] == ["car", "car", "bike", "bike", "'=bus", "'=bus"]
    assert [float(row["estimate"]) for row in rows] == found.estimate.ravel().tolist()
    told = json.loads(run(*asked, "--json").stdout)["answers"]
    assert [(each["slice"], each["west"], each["low"]) for each in told][2] == ("bike", 0.0, found.low[1, 0])
    assert run(*asked).stdout.splitlines()[0].split()[:2] == ["slice", "west"]


def test_slices_are_added_up(run: Run, file: Path) -> None:
    """Some of them, or all if none is named; the answer says which."""
    slices = hg.read(file)
    for options, names in ((["--slice", "car,=bus"], ["car", "=bus"]), ([], slices.names)):
        told = json.loads(run("query", file, "--rect", HALF, *options, "--json").stdout)
        expected = slices.answer([0, 0, 0.5, 1], slices=names)

        assert (told["answers"][0]["estimate"], told["answers"][0]["high"]) == (expected.estimate, expected.high)
        assert told["caveats"][0] == f"Counts are of {len(names)} slices together: {', '.join(names)}."
    alone = json.loads(run("query", file, "--rect", HALF, "--slice", "bike", "--json").stdout)
    assert alone["answers"][0]["estimate"] == slices["bike"].answer([0, 0, 0.5, 1]).estimate
    assert alone["caveats"] == []


def test_polygons_of_slices(run: Run, file: Path, tmp_path: Path) -> None:
    """As rectangles are; a map of polygons takes one number for each."""
    ring = [[0, 0], [0.5, 0], [0.5, 1], [0, 1], [0, 0]]
    feature = {
        "type": "Feature",
        "properties": {"name": "west"},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }
    polygons = tmp_path / "west.geojson"
    polygons.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    rows = list(csv.DictReader(io.StringIO(run("query", file, "--polygons", polygons, "--each", "--csv").stdout)))

    assert [(row["slice"], row["name"]) for row in rows] == [("car", "west"), ("bike", "west"), ("'=bus", "west")]
    found = json.loads(run("query", file, "--polygons", polygons, "--slice", "car,bike", "--geojson").stdout)
    assert found["features"][0]["properties"]["estimate"] == pytest.approx(
        sum(hg.read(file)[name].count([0, 0, 0.5, 1]) for name in ("car", "bike"))
    )
    assert_refused(run("query", file, "--polygons", polygons, "--each", "--geojson"), 2, "one number for each polygon")
    assert_refused(run("query", file, "--polygons", polygons, "--whole"), 2, "whole numbers of one slice")


def test_areas_of_slices(run: Run, areas: Path) -> None:
    """Of each slice, of a sum, and in whole numbers of one."""
    each = json.loads(run("query", areas, "--each", "--level", "state", "--json").stdout)["answers"]
    both = json.loads(run("query", areas, "--slice", "car,bike", "--level", "state", "--json").stdout)["answers"]

    assert [(row["slice"], row["name"]) for row in each[:3]] == [("car", "S"), ("car", "T"), ("bike", "S")]
    assert both[0]["estimate"] == pytest.approx(each[0]["estimate"] + each[2]["estimate"])
    whole = json.loads(run("query", areas, "--slice", "car", "--whole", "--json").stdout)["answers"]
    assert all(float(row["estimate"]).is_integer() for row in whole)


def test_slices_that_are_not_there(run: Run, file: Path) -> None:
    """The message lists what there is, and the nearest name is tried."""
    assert_refused(
        run("query", file, "--rect", HALF, "--slice", "bikes"), 2, "no slice 'bikes'", "car, bike, =bus", "--slice bike"
    )
    assert_refused(run("query", file, "--rect", HALF, "--slice", "car", "--each"), 2, "one of --slice NAME and --each")


def test_a_better_command_asks_the_same_question(run: Run, file: Path, areas: Path) -> None:
    """All slices of a sum are in it, and it is none that is refused again."""
    asked = run("query", file, "--rect", HALF, "--slice", "=bus,Car,bikes")
    assert asked.stderr.splitlines()[-1].endswith("--slice =bus,car,bike")
    for words in ("car,x", "x,car"):
        assert_refused(run("query", file, "--rect", HALF, "--slice", words), 2, "no slice 'x'")
        assert "Try:" not in run("query", file, "--rect", HALF, "--slice", words).stderr
    assert "Try:" in run("query", areas, "--whole").stderr
    assert "Try:" not in run("query", areas, "--whole", "--each").stderr


def test_names_with_commas_are_added_up(run: Run, tmp_path: Path) -> None:
    """The longest name that fits is taken; the slices of a comparison are told apart likewise."""
    names, path = ["Bed, bath", "Bed", "Food"], tmp_path / "shops.dp.parquet"
    made = some_slices()
    shops = hg.Slices(by=hg.By("shop", values=names), parts=dict(zip(names, made.values(), strict=True)))
    shops.save(path)
    for text, meant in (("Food,Bed, bath", ["Food", "Bed, bath"]), ("Bed, bath,Bed", ["Bed, bath", "Bed"])):
        told = json.loads(run("query", path, "--rect", HALF, "--slice", text, "--json").stdout)["answers"]
        assert told[0]["estimate"] == shops.answer([0, 0, 0.5, 1], slices=meant).estimate
    compared = run("compare", path, path, "--slice", "Bed, bath,Food", "--grid", "2", "--json")
    assert json.loads(compared.stdout)["slices"] == ["Bed, bath", "Food"]


def test_a_slice_is_drawn(run: Run, file: Path, tmp_path: Path) -> None:
    """By itself where it is named, and with all others where none is."""
    page, all_of_them = tmp_path / "bike.html", tmp_path / "all.html"
    assert run("map", file, "--slice", "bike", "-o", page).exit_code == 0
    assert run("map", file, "-o", all_of_them).exit_code == 0
    assert "kinds, bike" in page.read_text()
    assert "=bus" not in page.read_text()
    assert "=bus" in all_of_them.read_text()


def test_slices_are_written_in_other_formats(run: Run, file: Path, tmp_path: Path) -> None:
    """CSV has all with a column; other formats take one."""
    text = run("export", file, "--to", "csv", "-o", "-").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    slices = hg.read(file)

    assert len(rows) == sum(each.partition.cells for each in slices.values())
    assert rows[-1]["slice"] == "'=bus"
    assert float(rows[-1]["count"]) == slices["=bus"].counts[-1]
    found = json.loads(run("export", file, "--slice", "bike", "--to", "geojson", "-o", "-").stdout)
    assert [each["properties"]["count"] for each in found["features"]] == slices["bike"].counts.tolist()
    assert found["hushgrid"]["epsilon"] == "1"
    assert_refused(run("export", file, "-o", tmp_path / "x.geojson"), 2, "holds 3 slices")


def test_synthetic_points_of_slices(run: Run, file: Path, tmp_path: Path) -> None:
    """With a column of slices in every format, or of one slice."""
    for ending in ("parquet", "geojson", "csv"):
        assert run("sample", file, "-n", "50", "--seed", "1", "-o", tmp_path / f"x.{ending}").exit_code == 0
    table = pq.read_table(tmp_path / "x.parquet")
    features = json.loads((tmp_path / "x.geojson").read_text())["features"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "x.csv").read_text())))

    names = table["slice"].to_pylist()
    assert len(names) == 50
    assert names == [each["properties"]["slice"] for each in features]
    assert ["'=bus" if name == "=bus" else name for name in names] == [row["synthetic_slice"] for row in rows]
    alone = run("sample", file, "-n", "5", "--slice", "bike", "-o", "-").stdout
    assert alone.splitlines()[0] == "synthetic_longitude,synthetic_latitude"
    every = run("sample", file, "-o", "-").stdout
    assert len(every.splitlines()) - 1 == round(sum(each.total for each in hg.read(file).values()))


def test_slices_are_compared(run: Run, file: Path) -> None:
    """Two of one file, or the same of two."""
    told = json.loads(run("compare", file, file, "--slice", "car,bike", "--grid", "2", "--json").stdout)
    one, other = (hg.read(file)[name] for name in ("car", "bike"))
    expected = hg.compare(one, other).answer([0, 0, 0.5, 0.5])

    assert told["changes"]
    assert any(change["difference"] == pytest.approx(expected.difference) for change in told["changes"])
    assert_refused(run("compare", file, file, "--slice", "car"), 2, "one and the same file")
    assert_refused(run("compare", file, file, "--slice", "a,b,c"), 2, "two slices can be compared")


def test_a_change_is_called_by_its_slices(run: Run, file: Path, tmp_path: Path) -> None:
    """The name of the file, which both have, would tell nobody what was compared."""
    page, other = tmp_path / "change.html", tmp_path / "later.dp.parquet"
    assert run("compare", file, file, "--slice", "car,bike", "-o", page).exit_code == 0
    assert "<title>From car to bike</title>" in page.read_text()
    told = json.loads(run("compare", file, file, "--slice", "car,bike", "--grid", "2", "--json").stdout)
    assert told["slices"] == ["car", "bike"]

    hg.publish([[0.3, 0.3]] * 500, domain=SQUARE, epsilon=1, method="ug").save(other)
    assert run("compare", file, other, "--slice", "car", "-o", page, "--overwrite").exit_code == 0
    assert "<title>From kinds, car to later</title>" in page.read_text()


def test_a_slice_is_compared_with_a_release_that_has_none(run: Run, file: Path, tmp_path: Path) -> None:
    """On either side; the way out that a message names is one."""
    single = tmp_path / "single.dp.parquet"
    hg.publish([[0.3, 0.3]] * 500, domain=SQUARE, epsilon=1, method="ug").save(single)
    expected = hg.compare(single, hg.read(file)["bike"]).answer([0, 0, 0.5, 0.5])
    told = json.loads(run("compare", single, file, "--slice", "bike", "--grid", "2", "--json").stdout)

    assert any(change["difference"] == pytest.approx(expected.difference) for change in told["changes"])
    assert run("compare", file, single, "--slice", "bike", "--grid", "2").exit_code == 0
    assert_refused(run("compare", single, file, "--grid", "2"), 2, "holds 3 slices", "--slice car")
    assert_refused(
        run("compare", file, single, "--slice", "car,bike"), 2, "one slice is compared with the other release"
    )
    assert_refused(run("compare", single, tmp_path / "single.dp.parquet", "--slice", "car"), 2, "one and the same file")


def test_a_statement_says_how_records_are_divided(run: Run, file: Path) -> None:
    """In its contents; the guarantee is that of all slices."""
    text = run("manifest", file).stdout
    assert "3 slices by `kind` (`car, bike, =bus`)" in text
    assert "exp(1) = 2.72" in text
    for language in ("de", "fr", "es"):
        assert "`car, bike, =bus`" in run("manifest", file, "--language", language).stdout
    assert json.loads(run("manifest", file, "--json").stdout)["slices"] == ["car", "bike", "=bus"]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_a_statement_of_slices_on_areas(run: Run, areas: Path, file: Path, tmp_path: Path, language: str) -> None:
    """The areas are the same in every slice; what is drawn is the first of them, where no total was released."""
    say, page = Language.of(language).say, tmp_path / "statement.html"
    held = {"west": 0, "south": 0, "east": 1, "north": 1, "crs": SQUARE.crs}
    text = run("manifest", areas, "--language", language).stdout
    assert say("contents_areas", cells=3, **held) in text
    assert say("slices_areas", number=3, columns="kind", names="car, bike, =bus") in text
    for release, drawn in ((areas, say("picture_slice", name="car")), (file, say("picture"))):
        run("manifest", release, "--language", language, "-o", page, "--overwrite")
        assert f'aria-label="{drawn.replace("`", "")}"' in page.read_text(encoding="utf-8")


def test_commands_without_slices_say_so(run: Run, file: Path, tmp_path: Path) -> None:
    """In one line, and never by a traceback."""
    assert_refused(run("compare", file, file, "--grid", "2"), 2, "one and the same file", "--slice BEFORE,AFTER")
    other = tmp_path / "other.dp.parquet"
    some_slices("grid").save(other)
    assert_refused(run("compare", file, other, "--grid", "2"), 2, "holds 3 slices", "--slice car")
    assert_refused(run("query", tmp_path, "--rect", HALF), 3, "holds several slices")
    points = tmp_path / "points.csv"
    points.write_text("lon,lat\n0.5,0.5\n")
    publish = ("publish", points, "--domain", "0,0,1,1", "--epsilon", "1", "-o", tmp_path / "y.dp.parquet")
    assert_refused(run(*publish, "--prior", file, "--method", "staq"), 3, "several slices")


@pytest.mark.parametrize(
    "command",
    [
        ("query", "--rect", HALF, "--slice", "car"),
        ("query", "--rect", HALF, "--each"),
        ("map", "-o", "-", "--slice", "car"),
        ("sample", "-o", "-", "--slice", "car"),
        ("export", "-o", "-", "--to", "csv", "--slice", "car"),
    ],
    ids=" ".join,
)
def test_a_release_without_slices(run: Run, command: tuple[str, ...], tmp_path: Path) -> None:
    """Options about slices are refused."""
    from hushgrid.geometry.grid import Grid

    path = tmp_path / "x.dp.parquet"
    synopsis_on(Grid(domain=SQUARE, rows=2, columns=2)).save(path)
    name, *options = command
    given = "--each" if "--each" in options else "--slice"
    assert_refused(run(name, path, *options), 2, f"is one release and has no slices. Leave out {given}.")
