"""The server on areas and polygons: Python's numbers, names kept, and a sentence for all that is refused."""

import json

import httpx
import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.geometry.grid import Grid
from hushgrid.web.polygons import polygons_in_body
from hushgrid.web.questions import LARGEST_GEOJSON, MOST_OF_ONE
from hushgrid.web.shelf import Shelf
from tests.synopses import synopsis_on
from tests.web.districts import DOMAIN, HOSTILE, district_release, frame
from tests.web.servers import serving

METRES = hg.Domain(west=4e5, south=1e5, east=5e5, north=2e5, crs="EPSG:27700")
SYNOPSES = {
    "districts": district_release(),
    "grid": synopsis_on(Grid(domain=DOMAIN, rows=7, columns=9)),
    "metres": synopsis_on(Grid(domain=METRES, rows=4, columns=4)),
}
SQUARE = {"type": "Polygon", "coordinates": [[[-99, 31], [-92, 31], [-92, 38], [-99, 38], [-99, 31]]]}
BOW_TIE = {"type": "Polygon", "coordinates": [[[-99, 31], [-92, 38], [-92, 31], [-99, 38], [-99, 31]]]}


@pytest.fixture(scope="module")
def client():
    """A client of a server for all of them."""
    with serving(Shelf(SYNOPSES.items())) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def feature(geometry, **properties):
    """A feature."""
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def collection(*features):
    """A collection of features."""
    return {"type": "FeatureCollection", "features": list(features)}


def refusal(answer, status=400):
    """The one sentence of a refusal; nothing in it is of the machine."""
    assert answer.status_code == status, answer.text
    (reason,) = answer.json().values()
    for inner in ("Traceback", ".py", "shapely", "GEOS", "0x"):
        assert inner not in reason
    return reason


@pytest.mark.parametrize("level", [None, "region", "state", "county"])
def test_a_level_is_listed_as_by_python(client, level):
    """Names, estimates, intervals and whether they are usable, bit for bit, in the order of the file."""
    found = client.get("/v1/districts/areas", params={"level": level} if level else {}).raise_for_status().json()

    assert found["areas"] == SYNOPSES["districts"].table(level).to_pylist()
    assert found["level"] == (level or "county")
    assert found["levels"] == ["region", "state", "county"]
    assert found["next"] is None
    assert HOSTILE in [area["name"] for area in found["areas"]] or level in ("region", "state")


def test_areas_come_in_parts_with_the_confidence_asked_for(client):
    """The address of the next ones keeps level and confidence."""
    rows, address = [], "/v1/districts/areas?limit=2&level=state&confidence=0.5"
    while address:
        part = client.get(address).raise_for_status().json()
        rows += part["areas"]
        address = part["next"] and f"/v1/districts/{part['next']}"

    assert rows == SYNOPSES["districts"].table("state", confidence=0.5).to_pylist()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("level=land", "level must be one of region, state, county"),
        ("level=state&level=county", "level may be given once"),
        ("confidence=1", "confidence must be a number from"),
        ("confidence=.9&confidence=.8", "confidence may be given once"),
        ("limit=0", "limit must be a whole number from 1"),
        ("name=x", "there are level, confidence, first and limit"),
    ],
)
def test_a_bad_question_about_areas_is_refused_in_words(client, asked, words):
    """Each is one sentence that says what would work."""
    assert words in refusal(client.get(f"/v1/districts/areas?{asked}"))


def test_a_release_on_cells_has_no_areas(client):
    """The reason names the way to count districts."""
    assert "POST /v1/grid/polygons" in refusal(client.get("/v1/grid/areas"), 404)


@pytest.mark.parametrize("name", ["districts", "grid"])
def test_polygons_are_answered_as_by_python(client, name):
    """A collection comes back with its ids, names and outlines, and Python's numbers among the properties."""
    given = json.loads(frame().to_json())
    given["features"][5]["bbox"] = [1, 2, 3, 4]
    found = client.post(f"/v1/{name}/polygons?confidence=0.8", json=given)
    answer = SYNOPSES[name].answer_polygons(frame().geometry, confidence=0.8)

    assert found.headers["content-type"] == "application/geo+json"
    values = found.raise_for_status().json()
    assert (values["type"], values["release"], values["confidence"]) == ("FeatureCollection", name, 0.8)
    for number, (sent, got) in enumerate(zip(given["features"], values["features"], strict=True)):
        assert got["properties"].items() >= sent["properties"].items()
        assert {key: got[key] for key in sent if key != "properties"} == {
            key: sent[key] for key in sent if key != "properties"
        }
        for column in ("estimate", "low", "high", "noise_std", "spread_std", "usable"):
            assert got["properties"][column] == getattr(answer, column)[number]


def test_longitude_and_latitude_are_taken_to_the_system_of_the_release(client):
    """A release in metres is asked in degrees, as GeoJSON has it."""
    shape = shapely.box(-2, 51, -1.5, 51.5)
    found = client.post("/v1/metres/polygons", content=shapely.to_geojson(shape)).raise_for_status().json()

    class Frame:
        geometry, crs = np.array([shape]), "OGC:CRS84"

    expected = SYNOPSES["metres"].answer_polygons(Frame()).estimate[0]
    assert expected != 0
    assert found["features"][0]["properties"]["estimate"] == pytest.approx(expected)


def test_one_feature_a_bare_geometry_and_nothing_are_answered(client):
    """What crosses itself is repaired; what has no place counts nothing; half a surrogate comes back."""
    synopsis = SYNOPSES["grid"]
    post = "/v1/grid/polygons"
    inside = synopsis.count_polygons(shapely.geometry.shape(SQUARE))

    assert client.post(post, json=feature(SQUARE)).json()["features"][0]["properties"]["estimate"] == inside
    assert client.post(post, json=SQUARE).json()["features"][0]["properties"]["estimate"] == inside
    assert client.post(post, json=collection()).json()["features"] == []
    nowhere = client.post(post, json=collection(feature(None), feature({"type": "Polygon", "coordinates": []})))
    assert [each["properties"]["estimate"] for each in nowhere.json()["features"]] == [0, 0]
    tie = client.post(post, json=BOW_TIE).json()["features"][0]["properties"]["estimate"]
    assert tie == pytest.approx(synopsis.count_polygons(shapely.make_valid(shapely.geometry.shape(BOW_TIE))))
    half = json.dumps(feature(SQUARE, name="\ud800")).encode()
    assert client.post(post, content=half).json()["features"][0]["properties"]["name"] == "\ud800"


def ring(count):
    """A polygon of so many vertices, as GeoJSON."""
    angles = np.linspace(0, 2 * np.pi, count)
    places = np.stack([-95 + 3 * np.cos(angles), 35 + 3 * np.sin(angles)], axis=1).round(6).tolist()
    places[-1] = places[0]
    return {"type": "Polygon", "coordinates": [places]}


def bare(coordinates):
    """Coordinates as the text of a polygon."""
    return f'{{"type":"Polygon","coordinates":{coordinates}}}'.encode()


REFUSED = {
    "nothing": (b"", "must be a GeoJSON object"),
    "a list": (b"[]", "must be a GeoJSON object"),
    "no UTF-8": (b'{"type":"\xff"}', "must be a GeoJSON object"),
    "deep": (b"[" * 100_000, "must be a GeoJSON object"),
    "NaN": (bare("[[[NaN,1],[1,1],[1,2],[NaN,1]]]"), "must be a GeoJSON object"),
    "infinite": (bare("[[[1e999,1],[1,1],[1,2],[1e999,1]]]"), "must be a GeoJSON object"),
    "infinite property": (b'{"type":"Feature","properties":{"a":1e999},"geometry":null}', "must be a GeoJSON object"),
    "huge": (bare(f"[[[1{'0' * 400},1],[1,1],[1,2],[1,1]]]"), "feature 0 has no geometry that can be read"),
    "far": (bare("[[[1e200,1],[1,1],[1,2],[1e200,1]]]"), "polygon 0 has a coordinate"),
    "no features": (b'{"type":"FeatureCollection"}', "its features are not a list"),
    "properties": (b'{"type":"Feature","properties":[],"geometry":null}', "the properties of feature 0"),
    "a line": (b'{"type":"LineString","coordinates":[[0,0],[1,1]]}', "feature 0 is not a Polygon"),
    "no geometry": (b'{"type":"Feature","geometry":7}', "feature 0 is not a Polygon"),
    "odd type": (b'{"type":["Polygon"],"coordinates":[]}', "feature 0 is not a Polygon"),
    "open ring": (bare("[[[0,0],[1,1],[2,0],[3,3]]]"), "feature 0 has no geometry that can be read"),
    "short ring": (bare("[[[0,0],[0,0]]]"), "feature 0 has no geometry that can be read"),
    "text": (bare('[[["0","0"],[1,1],[2,0],["0","0"]]]'), "feature 0 has a position that is not two numbers"),
    "truth": (bare("[[[true,0],[1,1],[2,0],[true,0]]]"), "feature 0 has a position that is not two numbers"),
    "flat": (bare("[[0,0],[1,1]]"), "feature 0 has a position that is not two numbers"),
    "empty ring": (bare("[[]]"), "feature 0 has no geometry that can be read"),
    "hole in nothing": (bare("[[],[[0,0],[1,1],[1,0],[0,0]]]"), "feature 0 has no geometry that can be read"),
    "other system": (json.dumps({**SQUARE, "crs": {"type": "name"}}).encode(), "longitude and latitude"),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("name", ["districts", "grid"])
def test_what_is_no_polygon_is_refused_in_words(client, name, kind):
    """One sentence, with the number of the feature where there is one."""
    body, words = REFUSED[kind]
    assert words in refusal(client.post(f"/v1/{name}/polygons", content=body))


def test_too_much_is_refused_before_any_work(client):
    """Bytes, vertices, vertices of one feature, features: each with its limit."""
    post = "/v1/grid/polygons"
    many = collection(*(feature(ring(9_900)) for _ in range(11)))

    assert f"{LARGEST_GEOJSON:,} bytes" in refusal(client.post(post, content=b" " * (LARGEST_GEOJSON + 1)), 413)
    assert "vertices fit in one request" in refusal(client.post(post, json=many), 413)
    assert "feature 0 has" in refusal(client.post(post, json=ring(MOST_OF_ONE + 1)), 413)
    assert "10,000 features" in refusal(client.post(post, json=collection(*[feature(None)] * 10_001)), 413)
    assert "there are confidence, slice" in refusal(client.post(f"{post}?rect=1", json=SQUARE))
    assert refusal(client.get(post), 405) == "this address is asked by POST only."


def test_the_page_of_a_release_on_areas_is_served(client):
    """Beside the others, with a switch; the list tells its levels."""
    assert "region" in client.get("/districts/").raise_for_status().text
    levels = {each["release"]: each["levels"] for each in client.get("/v1/").json()["releases"]}
    assert levels == {"districts": ["region", "state", "county"], "grid": [], "metres": []}


def test_heights_are_left_out():
    """A third number is no part of a place."""
    raised = {"type": "Polygon", "coordinates": [[[*place, 7] for place in SQUARE["coordinates"][0]]]}

    (found,) = polygons_in_body(json.dumps(raised).encode()).geometry
    assert shapely.equals(found, shapely.geometry.shape(SQUARE))
    assert not shapely.has_z(found)
