"""`hushgrid query --polygons`: features in, estimates out."""

import csv
import io
import json
import sys
from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import hushgrid as hg
from hushgrid.cli import main
from hushgrid.cli.polygons import read_polygons
from hushgrid.errors import HushgridError
from hushgrid.geometry.grid import Grid
from tests.cli.commands import DOMAIN, Run, assert_refused
from tests.synopses import synopsis_on

AREAS = [
    shapely.Polygon([(-74.0, 40.7), (-73.9, 40.7), (-73.95, 40.85)]),
    shapely.MultiPolygon([shapely.box(-73.95, 40.6, -73.9, 40.7), shapely.Point(-73.85, 40.75).buffer(0.02)]),
]
NAMES = ["Kings", "Queens"]
TOWN = synopsis_on(Grid(domain=DOMAIN, rows=4, columns=4))


def feature(area, **properties):
    """A GeoJSON feature."""
    return {"type": "Feature", "properties": properties, "geometry": json.loads(shapely.to_geojson(area))}


def collection(*features, **members):
    """The text of a GeoJSON file."""
    return json.dumps({"type": "FeatureCollection", "features": list(features), **members})


DISTRICTS = collection(*(feature(area, NAME=name, code=7) for area, name in zip(AREAS, NAMES, strict=True)))


def expected(release: Path, confidence: float = 0.95) -> np.ndarray:
    """Number, estimate, low and high of both areas, from the library."""
    answer = hg.read(release).answer_polygons(AREAS, confidence=confidence)
    return np.column_stack([[0, 1], answer.estimate, answer.low, answer.high])


def answers(text: str) -> np.ndarray:
    """The numbers of a CSV answer."""
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ["feature", "name", "estimate", "low", "high"]
    return np.array([[number, *values] for number, _, *values in rows], float).reshape(-1, 4)


@pytest.mark.parametrize("source", ["areas.geojson", "areas.json", "-"])
def test_csv_holds_the_library_s_answers_bit_for_bit(run: Run, release: Path, source: str) -> None:
    """Answers are those of the library, from a file and from standard input."""
    Path("areas.geojson").write_text(DISTRICTS)
    Path("areas.json").write_text("\ufeff" + DISTRICTS)

    result = run("query", release, "--polygons", source, "--csv", stdin=DISTRICTS)
    assert result.stderr == ""
    assert np.array_equal(answers(result.stdout), expected(release))


def test_the_table_names_the_features(run: Run, release: Path) -> None:
    """Features go by their names where they have any, else they say which feature they are."""
    text = collection(feature(AREAS[0], name="Kings\x1b[31m\n"), feature(AREAS[1]), feature(AREAS[1], name="x" * 99))
    lines = run("query", release, "--polygons", "-", stdin=text).stdout.splitlines()

    assert lines[0].split()[:4] == ["area", "estimate", "low", "high"]
    assert [line.split("  ")[0] for line in lines[1:4]] == ["Kings?[31m", "feature 1", "x" * 39 + "…"]
    assert f"{round(hg.read(release).count_polygons(AREAS[0])):,}" in lines[1]


def test_csv_has_names_that_no_spreadsheet_takes_for_a_formula(run: Run, release: Path) -> None:
    """Names come from a file of anyone's, by the property that was asked for."""
    text = collection(feature(AREAS[0], district="=1+1"), feature(AREAS[1], district='Queens, "east"'))
    result = run("query", release, "--polygons", "-", "--csv", "--area-name", "district", stdin=text)
    names = [row["name"] for row in csv.DictReader(io.StringIO(result.stdout))]

    assert names == ["'=1+1", 'Queens, "east"']
    wrong = run("query", release, "--polygons", "-", "--csv", "--area-name", "town", stdin=text)
    assert wrong.exit_code == 3
    assert "'town'; there are: district" in " ".join(wrong.stderr.split())


def test_json_holds_one_record_a_feature(run: Run, release: Path) -> None:
    """A record has the name and both parts of the uncertainty."""
    result = run("query", release, "--polygons", "-", "--confidence", "0.5", "--json", stdin=DISTRICTS)

    answer = hg.read(release).answer_polygons(AREAS[1], confidence=0.5)
    assert json.loads(result.stdout)["answers"][1] == {"name": "Queens", "feature": 1, **vars(answer)}


@pytest.mark.parametrize("to", ["stdout", "file"])
def test_geojson_is_the_same_features_with_three_properties_more(run: Run, release: Path, to: str) -> None:
    """Nothing else is changed, nothing is lost."""
    where = ["-o", "out.geojson"] if to == "file" else ["--geojson"]
    result = run("query", release, "--polygons", "-", *where, stdin=DISTRICTS)
    text = Path("out.geojson").read_text() if to == "file" else result.stdout
    found = json.loads(text)

    assert result.exit_code == 0
    assert result.stdout == (text if to == "stdout" else "out.geojson\n")
    for before, after, row in zip(json.loads(DISTRICTS)["features"], found["features"], expected(release), strict=True):
        estimate, low, high = row[1:]
        before["properties"] |= {"estimate": estimate, "low": low, "high": high}
        assert after == before


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:32618", "EPSG:3857"])
@pytest.mark.parametrize("suffix", [".gpkg", ".shp"])
def test_files_of_gdal_are_read_in_their_reference_system(run: Run, release: Path, crs: str, suffix: str) -> None:
    """The answers are those of the polygons transformed by GeoPandas, and the GeoJSON written is in degrees."""
    frame = geopandas.GeoDataFrame({"name": NAMES, "share": [0.5, np.nan]}, geometry=AREAS, crs="EPSG:4326").to_crs(crs)
    frame.to_file("areas" + suffix)
    straight = hg.read(release).count_polygons(frame)

    result = run("query", release, "--polygons", "areas" + suffix, "--csv")
    assert answers(result.stdout)[:, 1] == pytest.approx(straight)
    assert straight == pytest.approx(hg.read(release).count_polygons(AREAS), rel=1e-3)
    again = json.loads(run("query", release, "--polygons", "areas" + suffix, "--geojson").stdout)["features"]
    assert [place["properties"]["name"] for place in again] == NAMES
    assert again[1]["properties"]["share"] is None
    assert again[0]["properties"]["estimate"] == pytest.approx(straight[0])
    for place, area in zip(again, AREAS, strict=True):
        written = shapely.geometry.shape(place["geometry"])
        assert shapely.symmetric_difference(written, area).area < 1e-7
        assert all(shapely.is_ccw(part.exterior) for part in shapely.get_parts(written))


def test_geojson_of_old_may_name_a_reference_system(run: Run, release: Path) -> None:
    """GDAL still writes the system, and it is read."""
    frame = geopandas.GeoDataFrame(geometry=AREAS, crs="EPSG:4326").to_crs("EPSG:3857")
    frame.to_file("areas.geojson", driver="GeoJSON")
    result = run("query", release, "--polygons", "areas.geojson", "--csv")

    assert answers(result.stdout)[:, 1] == pytest.approx(hg.read(release).count_polygons(frame))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(shapely.to_geojson(AREAS[0]), id="a geometry"),
        pytest.param(json.dumps(feature(AREAS[0])), id="a feature"),
        pytest.param(
            collection({"type": "Feature", "properties": None, "geometry": json.loads(shapely.to_geojson(AREAS[0]))}),
            id="no properties",
        ),
    ],
)
def test_one_area_may_come_alone(run: Run, release: Path, text: str) -> None:
    """A bare geometry, a single feature, one without properties."""
    result = run("query", release, "--polygons", "-", "--geojson", stdin=text)

    (found,) = json.loads(result.stdout)["features"]
    assert found["properties"]["estimate"] == expected(release)[0, 1]


def test_a_feature_without_a_place_holds_nothing(run: Run, release: Path) -> None:
    """It keeps its row; no features at all give a header."""
    text = collection({"type": "Feature", "properties": {}, "geometry": None}, feature(AREAS[1]))

    assert answers(run("query", release, "--polygons", "-", "--csv", stdin=text).stdout)[:, 1].tolist() == [
        0,
        expected(release)[1, 1],
    ]
    assert len(answers(run("query", release, "--polygons", "-", "--csv", stdin=collection()).stdout)) == 0


BAD_ARGUMENTS = {
    "two sources": (["--polygons", "-", "--rect", "0,0,1,1"], ["--polygons", "--rects"]),
    "GeoJSON of rectangles": (["--rect", "0,0,1,1", "--geojson"], ["--polygons", "--csv"]),
    "a file of rectangles": (["--rect", "0,0,1,1", "-o", "out.geojson"], ["--polygons"]),
    "two formats": (["--polygons", "-", "--geojson", "--csv"], ["--csv", "--geojson"]),
    "a file of an unknown format": (["--polygons", "-", "-o", "out.shp"], [".geojson, .json, .csv, .gpkg", "out.shp"]),
    "whole numbers of rectangles": (["--rect", "0,0,1,1", "--whole"], ["--whole about these or --polygons"]),
    "a folder that does not exist": (["--polygons", "-", "-o", "no/out.geojson"], ["no", "create it first"]),
    "confidence in percent": (["--polygons", "-", "--confidence", "95"], ["confidence", "0.95"]),
}


@pytest.mark.parametrize(("options", "words"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_a_bad_argument_is_refused(run: Run, release: Path, options: list[str], words: list[str]) -> None:
    """A bad argument ends with exit code 2 and one line."""
    assert_refused(run("query", release, *options, stdin=DISTRICTS), 2, *words)


def test_a_file_that_exists_is_kept(run: Run, release: Path) -> None:
    """A file that exists is replaced only with --overwrite."""
    Path("out.geojson").write_text("mine")
    given = ["query", release, "--polygons", "-", "-o", "out.geojson"]

    assert_refused(run(*given, stdin=DISTRICTS), 2, "exists", "--overwrite")
    assert Path("out.geojson").read_text() == "mine"
    assert run(*given, "--overwrite", stdin=DISTRICTS).exit_code == 0
    assert len(json.loads(Path("out.geojson").read_text())["features"]) == 2


OPEN_RING = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1]]]}
BAD_TEXTS = {
    "no JSON": ("PAR1", ["not GeoJSON"]),
    "nothing": ("", ["not GeoJSON"]),
    "no UTF-8": (b"\xff\xfe{}", ["not GeoJSON"]),
    "a list": ("[]", ["not a GeoJSON object"]),
    "NaN": (DISTRICTS.replace("-74.0", "NaN"), ["not GeoJSON"]),
    "a number too large": (DISTRICTS.replace("-74.0", "1e999"), ["feature 0"]),
    "deeper than any feature": ("[" * 100_000, ["not GeoJSON"]),
    "features that are no list": ('{"type": "FeatureCollection", "features": 3}', ["not a list"]),
    "features that are no objects": ('{"type": "FeatureCollection", "features": [3]}', ["not a list of objects"]),
    "properties that are no object": (
        collection({"type": "Feature", "properties": 3, "geometry": None}),
        ["properties of feature 0"],
    ),
    "a point": (collection(feature(AREAS[0]), feature(shapely.Point(0, 0))), ["polygon 1", "Point"]),
    "an open ring": (collection({"type": "Feature", "properties": {}, "geometry": OPEN_RING}), ["feature 0", "closed"]),
    "a geometry of no kind": ('{"type": "Feature", "geometry": {"type": "Blob"}}', ["feature 0"]),
    "a reference system of no name": (collection(crs=3), ["crs"]),
    "an unknown reference system": (
        collection(feature(AREAS[0]), crs={"type": "name", "properties": {"name": "EPSG:1"}}),
        ["reference system"],
    ),
}


@pytest.mark.parametrize(("text", "words"), BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_bad_geojson_is_refused(run: Run, release: Path, text: str | bytes, words: list[str]) -> None:
    """The exit code is 3, and the message says where to look."""
    assert_refused(run("query", release, "--polygons", "-", stdin=text), 3, "standard input", *words)


def _layers(*layers: tuple[str, shapely.Geometry], crs: str | None = "EPSG:4326") -> None:
    for number, (name, geometry) in enumerate(layers):
        geopandas.GeoDataFrame(geometry=[geometry], crs=crs).to_file(
            "areas.gpkg", layer=name, mode="a" if number else "w"
        )


@pytest.mark.filterwarnings("ignore:.*crs.*:UserWarning")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(lambda: None, ["No such file"], id="missing"),
        pytest.param(lambda: Path("areas.gpkg").mkdir(), ["directory"], id="folder"),
        pytest.param(lambda: Path("areas.gpkg").write_bytes(b"SQLite format 3\0no"), ["GDAL"], id="damaged"),
        pytest.param(
            lambda: _layers(("stops", shapely.Point(0, 0))), ["no layer of polygons", "stops (Point)"], id="points"
        ),
        pytest.param(lambda: _layers(("a", AREAS[0]), ("b", AREAS[0])), ["several layers", "a, b"], id="two layers"),
        pytest.param(lambda: _layers(("a", AREAS[0]), crs=None), ["reference system"], id="no reference system"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(run: Run, release: Path, make, words: list[str]) -> None:
    """The exit code is 3, and the message names the file."""
    make()

    assert_refused(run("query", release, "--polygons", "areas.gpkg"), 3, "areas.gpkg", *words)


def test_one_layer_of_polygons_among_others_is_found(run: Run, release: Path) -> None:
    """Points beside it are no question."""
    _layers(("stops", shapely.Point(0, 0)), ("areas", AREAS[0]))

    result = run("query", release, "--polygons", "areas.gpkg", "--csv")
    assert answers(result.stdout)[0, 1] == expected(release)[0, 1]


@pytest.mark.parametrize("missing", ["shapely", "pyogrio"])
def test_a_missing_library_is_named_with_its_extra(
    run: Run, release: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a library of the gis extra, the message names both, and the exit code is 2."""
    _layers(("a", AREAS[0]))
    monkeypatch.setitem(sys.modules, missing, None)

    assert_refused(run("query", release, "--polygons", "areas.gpkg"), 2, missing, "hushgrid[gis]")


def test_a_simulation_is_marked(simulated: Path) -> None:
    """Counts of polygons in a simulation carry the warning that rectangles do."""
    result = CliRunner().invoke(main, ["query", str(simulated), "--polygons", "-", "--csv"], input=DISTRICTS)

    assert "simulation" in result.stderr


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just([0, 0]))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(
            st.sampled_from(["type", "coordinates", "geometry", "geometries", "features", "properties", "crs", "name"]),
            st.one_of(inner, st.sampled_from(["Feature", "FeatureCollection", "Polygon", "MultiPolygon", "Point"])),
        ),
    ),
    max_leaves=25,
)


@settings(deadline=None, max_examples=300)
@given(
    document=TREES,
    whole=st.booleans(),
    damage=st.lists(st.tuples(st.floats(0, 0.999), st.integers(1, 127)), max_size=3),
)
def test_hostile_geojson_is_read_or_refused(tmp_path_factory, document, whole, damage) -> None:
    """Whatever a file holds, the outcome is features or one line of complaint."""
    content = bytearray(json.dumps(document).encode() if whole else DISTRICTS.encode())
    for place, flip in damage:
        content[int(place * len(content))] ^= flip
    path = tmp_path_factory.getbasetemp() / "hostile.geojson"
    path.write_bytes(content)
    try:
        assert len(TOWN.count_polygons(read_polygons(path))) >= 0
    except HushgridError as error:
        assert "\n" not in str(error)  # noqa: PT017  # most of it is refused, some is harmless
