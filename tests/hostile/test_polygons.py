"""Polygons and overlays: GeoJSON and what GDAL reads, answered or drawn, or refused in one line."""

import json
import math
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.conftest import Tried
from tests.hostile.outcomes import STRANGE, command, limited, mutants, strange_paths
from tests.hostile.releases import small_release

TRIANGLE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}
FEATURE = {"type": "Feature", "id": 1, "properties": {"name": "Delta"}, "geometry": TRIANGLE}
CRS = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
COLLECTION = {"type": "FeatureCollection", "crs": CRS, "features": [FEATURE, {**FEATURE, "geometry": None}]}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release to ask."""
    return small_release(tmp_path_factory.mktemp("release"))


def use(release: Path, areas: Path, tried: Tried) -> None:
    """Ask about the areas in every form, and draw them."""
    with tried.one():
        out = areas.with_suffix(".out.gpkg")
        for options in ([], ["--json"], ["--csv"], ["--whole", "-o", out, "--overwrite"], ["--geojson"]):
            answer = command("query", release, "--polygons", areas, *options)
        if answer.exit_code == 0:
            json.loads(answer.stdout)
        if areas.suffix == ".geojson":
            command("map", release, "--overlay", areas, "-o", areas.with_suffix(".html"), "--overwrite")


def strange_values(release: Path, step: int, folder: Path, tried: Tried) -> None:
    """Replace a value of a collection, wherever it stands, by every strange one."""
    path = folder / "a.geojson"
    text = json.dumps(COLLECTION)
    places = [json.dumps(part) for part in (*walk(COLLECTION),)]
    cases = [(part, json.dumps(strange)) for part in dict.fromkeys(places) for strange in STRANGE]
    for part, strange in cases[::step]:
        path.write_text(text.replace(part, strange, 1))
        use(release, path, tried)


def walk(value: Any) -> Any:
    """Every value inside a JSON value."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield inner
        yield from walk(inner)


def test_strange_values(release: Path, tmp_path: Path, tried: Tried) -> None:
    """Numbers without end, half surrogate pairs, lists for objects and objects for lists; one case of 7."""
    strange_values(release, 7, tmp_path, tried)
    tried.at_least(60)


@pytest.mark.slow
def test_every_strange_value(release: Path, tmp_path: Path, tried: Tried) -> None:
    """Every strange value in every place is read or refused."""
    strange_values(release, 1, tmp_path, tried)
    tried.at_least(500)


def test_mutated_files(release: Path, tmp_path: Path, tried: Tried) -> None:
    """Bytes flipped, cut out, doubled and overwritten."""
    path = tmp_path / "a.geojson"
    for mutant in mutants(json.dumps(COLLECTION).encode(), 60, seed=3):
        path.write_bytes(mutant)
        use(release, path, tried)
    tried.at_least(60)


NESTS = {
    "features in features": ('{"type":"Feature","geometry":', "}"),
    "collections in collections": ('{"type":"GeometryCollection","geometries":[', "]}"),
    "lists as a type": ('{"type":[', "]}"),
    "lists as a name": ('{"type":"Feature","geometry":null,"properties":{"name":[', "]}}"),
    "lists as coordinates": ('{"type":"Polygon","coordinates":[', "]}"),
}


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_deep_nesting(nest: tuple[str, str], release: Path, tmp_path: Path, tried: Tried) -> None:
    """At depths around the limit of recursion, and far beyond it."""
    path = tmp_path / "a.geojson"
    opening, closing = nest
    for depth in (*range(300, 1000, 71), 985, 990, 995, 10**5):
        path.write_text(opening * depth + json.dumps(TRIANGLE) + closing * depth)
        use(release, path, tried)
    tried.at_least(14)


def ring(places: list[tuple[float, float]]) -> list[list[float]]:
    """A closed ring."""
    return [[x, y] for x, y in [*places, places[0]]]


def tangled(corners: int) -> dict[str, Any]:
    """A polygon whose corners follow each other at random."""
    rng = random.Random(5)
    return {"type": "Polygon", "coordinates": [ring([(rng.random(), rng.random()) for _ in range(corners)])]}


def same_holes(number: int) -> dict[str, Any]:
    """A polygon with one hole many times."""
    square = ring([(0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)])
    return {"type": "Polygon", "coordinates": [ring([(0, 0), (1, 0), (1, 1), (0, 1)]), *[square] * number]}


def apart(number: int) -> dict[str, Any]:
    """Many small triangles that do not meet."""
    side = math.isqrt(number)
    corners = [(i % side / side, i // side / side) for i in range(number)]
    small = 0.4 / side
    triangles = [[ring([(x, y), (x + small, y), (x, y + small)])] for x, y in corners]
    return {"type": "MultiPolygon", "coordinates": triangles}


@pytest.mark.parametrize("shape", [tangled(400), same_holes(3_000)], ids=["random corners", "a hole 3,000 times"])
def test_tangles_are_refused_before_they_are_repaired(
    shape: dict[str, Any], release: Path, tmp_path: Path, tried: Tried
) -> None:
    """Polygons of a few kilobytes whose repair takes minutes and gigabytes."""
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps(shape))
    with tried.one():
        result = limited("query", release, "--polygons", path)
    assert result.returncode == 3
    assert "crosses itself" in result.stderr
    tried.at_least(1)


@pytest.mark.slow
def test_a_million_rings(release: Path, tmp_path: Path, tried: Tried) -> None:
    """One area of a quarter of a million triangles, each with four corners, is simply answered."""
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps(apart(250_000)))
    with tried.one():
        assert limited("query", release, "--polygons", path).returncode == 0
    tried.at_least(1)


def test_names_in_files_are_no_paths(release: Path, tmp_path: Path, tried: Tried) -> None:
    """A virtual file that points to another, under any name, and reference systems that would open a pipe."""
    os.mkfifo(tmp_path / "pipe")
    secret = tmp_path / "secret.csv"
    secret.write_text('WKT,name\n"POLYGON((0 0,1 0,0 1,0 0))",topsecret\n')
    layer = '<GeometryField encoding="WKT" field="WKT"/><GeometryType>wkbPolygon</GeometryType><LayerSRS>EPSG:4326'
    virtual = f"<SrcDataSource>{secret}</SrcDataSource>{layer}</LayerSRS></OGRVRTLayer></OGRVRTDataSource>"
    for name in ("a.vrt", "a.gpkg", "a.xml"):
        path = tmp_path / name
        path.write_text(f'<OGRVRTDataSource><OGRVRTLayer name="secret">{virtual}')
        with tried.one():
            result = limited("query", release, "--polygons", path, "--geojson")
        assert result.returncode == 3
        assert "topsecret" not in result.stdout
    path = tmp_path / "a.geojson"
    for crs in (f"+init={tmp_path / 'pipe'}:x", f"+proj=lonlat +nadgrids={tmp_path / 'pipe'}"):
        path.write_text(json.dumps({**COLLECTION, "crs": {"properties": {"name": crs}}}))
        with tried.one():
            assert limited("query", release, "--polygons", path).returncode == 3
    tried.at_least(5)


def test_paths_that_are_no_files(release: Path, tmp_path: Path, tried: Tried) -> None:
    """Folders, pipes, devices, links to themselves and to nowhere, and names too long."""
    for name in ("a.geojson", "a.gpkg"):
        folder = tmp_path / name
        folder.mkdir()
        for path in strange_paths(folder, name).values():
            with tried.one():
                assert command("query", release, "--polygons", path).exit_code == 3
                assert command("map", release, "--overlay", path, "-o", tmp_path / "m.html").exit_code == 3
    tried.at_least(20)


FORMATS = {"a.gpkg": "GPKG", "a.fgb": "FlatGeobuf", "a.kml": "KML", "a.shp": "ESRI Shapefile"}


def test_mutated_files_of_gdal(release: Path, tmp_path: Path, tried: Tried) -> None:
    """GeoPackages, FlatGeobuf, KML and shapefiles with bytes changed."""
    import geopandas
    import shapely

    frame = geopandas.GeoDataFrame({"name": ["Delta"]}, geometry=[shapely.box(0, 0, 1, 1)], crs="EPSG:4326")
    for name, driver in FORMATS.items():
        path = tmp_path / name
        frame.to_file(path, driver=driver)
        for mutant in mutants(path.read_bytes(), 30, seed=4):
            path.write_bytes(mutant)
            with tried.one():
                command("query", release, "--polygons", path, "--geojson")
    tried.at_least(120)
