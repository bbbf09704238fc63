"""GeoJSON over the map: read with care."""

import json

import pytest

from hushgrid.errors import HushgridError, InputError
from hushgrid.web.overlay import areas_and_lines, read_overlay

RING = [[0, 0], [2, 0], [1, 1], [0, 0]]
POLYGON = {"type": "Polygon", "coordinates": [RING]}
LINE = {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}


def feature(geometry, **properties):
    """A feature."""
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def test_every_kind_of_area_and_line_is_found():
    """Collections are opened, points and empty features passed over, heights dropped, rings left open."""
    raised = {"type": "MultiPolygon", "coordinates": [[[[*place, 7] for place in RING]], [RING]]}
    lines = {"type": "MultiLineString", "coordinates": [LINE["coordinates"]]}
    geometries = {"type": "GeometryCollection", "geometries": [LINE, {"type": "Point", "coordinates": [0, 0]}]}
    features = [feature(raised, name="One"), feature(POLYGON), feature(lines), feature(geometries), feature(None)]
    features += [feature({"type": "Polygon", "coordinates": []}, name="Nowhere")]

    found = areas_and_lines({"type": "FeatureCollection", "features": features})
    assert [area["name"] for area in found["areas"]] == ["One", "Area 2"]
    assert [len(area["polygons"]) for area in found["areas"]] == [2, 1]
    assert found["areas"][0]["polygons"][0] == [[[0, 0], [2, 0], [1, 1]]]
    assert [line["line"] for line in found["lines"]] == [LINE["coordinates"]] * 2


@pytest.mark.parametrize(
    "overlay",
    [
        {},
        {"type": "Triangle"},
        {"type": "Polygon", "coordinates": None},
        {"type": "Polygon", "coordinates": [[]]},
        {"type": "Polygon", "coordinates": RING},
        {"type": "Polygon", "coordinates": [RING[:3]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, "x"], [1, 1], [0, 0]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, float("nan")], [1, 1], [0, 0]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, True], [1, 1], [0, 0]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 10**400], [1, 1], [0, 0]]]},
        {"type": "LineString", "coordinates": [[1]]},
        {"type": "FeatureCollection", "features": {}},
        {"type": "FeatureCollection", "features": [None]},
        {"type": ["Polygon"], "coordinates": [RING]},
        feature(["Polygon"]),
    ],
    ids=lambda overlay: json.dumps(overlay)[:40],
)
def test_anything_else_is_refused(overlay):
    """The error says that the overlay is not GeoJSON."""
    with pytest.raises(HushgridError, match="overlay is not GeoJSON"):
        areas_and_lines(overlay)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000], ids=["empty", "cut", "a list", "no UTF-8", "deep"]
)
def test_a_file_that_is_no_json_object_is_refused(tmp_path, content):
    """Whatever is in it, the error is one of ours."""
    path = tmp_path / "areas.geojson"
    path.write_bytes(content)

    with pytest.raises(InputError, match="overlay"):
        read_overlay(path)


def test_a_missing_file_is_named(tmp_path):
    """The path stands in the message."""
    with pytest.raises(InputError, match=r"nowhere\.geojson"):
        read_overlay(tmp_path / "nowhere.geojson")


def test_areas_are_called_by_the_property_that_is_named():
    """A number will do; what is no area needs no name."""
    features = [feature(POLYGON, code=7, name="Seven"), feature(LINE, name="a river"), feature(POLYGON, code="B")]

    found = areas_and_lines({"type": "FeatureCollection", "features": features}, area_name="code")
    assert [area["name"] for area in found["areas"]] == ["7", "B"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ({"name": "x"}, "got 'code'; there are: name"),
        ({}, "got 'code'; there are none"),
        ({"code": " "}, "feature 0 of the overlay has no name"),
        ({"code": None}, "feature 0 of the overlay has no name"),
        ({"code": True}, "feature 0 of the overlay has no name"),
    ],
    ids=["missing", "none", "blank", "null", "no text"],
)
def test_areas_without_the_property_are_refused(code, words):
    """The message says which properties there are, or which feature has no name."""
    with pytest.raises(InputError, match=words):
        areas_and_lines(feature(POLYGON, **code), area_name="code")


def test_the_feature_without_a_name_is_told():
    """By its number in the file."""
    overlay = {"type": "FeatureCollection", "features": [feature(POLYGON, code="A"), feature(None), feature(POLYGON)]}

    with pytest.raises(InputError, match="feature 2 of the overlay has no name: its property 'code'"):
        areas_and_lines(overlay, area_name="code")
