"""The server on slices: Python's numbers for each of them and for sums, and a sentence for all that is refused."""

import json

import httpx
import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.geometry.grid import Grid
from hushgrid.web.api import ANSWER
from hushgrid.web.questions import LARGEST_BATCH, MOST_VERTICES
from hushgrid.web.shelf import Shelf
from tests.slices import SQUARE, some_slices
from tests.synopses import synopsis_on
from tests.web.servers import serving

RECTS = [[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], [0.6, 0, 2, 0.4]]
RING = [[0.1, 0.1], [0.9, 0.2], [0.5, 0.8], [0.1, 0.1]]
CHOICES = [[], ["bike"], ["=bus", "car"], ["car", "bike", "=bus"]]


@pytest.fixture(scope="module")
def slices(tmp_path_factory):
    """Slices by kind, as they were written and read again; the total makes the sum of all another question."""
    folder = tmp_path_factory.mktemp("releases")
    for kind in ("nested", "areas"):
        some_slices(kind).save(folder / f"{kind}.dp.parquet")
    return {kind: hg.read(folder / f"{kind}.dp.parquet") for kind in ("nested", "areas")}


@pytest.fixture(scope="module")
def client(slices):
    """A client of a server for them, and for a release without slices."""
    whole = synopsis_on(Grid(domain=SQUARE, rows=2, columns=3))
    shelf = Shelf([*slices.items(), ("whole", whole)])
    with serving(shelf) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def rows_of(answer, columns=ANSWER):
    """An answer as the server lists it, bit for bit."""
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*(getattr(answer, n).tolist() for n in columns), strict=True)
    ]


def numbers_of(found, columns=ANSWER):
    return [{name: row[name] for name in columns} for row in found]


def refusal(answer, status=400):
    """The one sentence of a refusal."""
    assert answer.status_code == status, answer.text
    (reason,) = answer.json().values()
    assert "Traceback" not in reason
    return reason


@pytest.mark.parametrize("kind", ["nested", "areas"])
@pytest.mark.parametrize("names", CHOICES, ids=len)
def test_sums_over_slices_are_pythons(client, slices, kind, names):
    """By address and by body; without a name, of all slices together."""
    expected = rows_of(slices[kind].answer(RECTS, slices=names or slices[kind].names, confidence=0.9))
    texts = [",".join(map(str, rect)) for rect in RECTS]
    by_address = client.get(f"/v1/{kind}/count", params={"rect": texts, "confidence": 0.9, "slice": names})
    by_body = client.post(f"/v1/{kind}/count", json={"rects": RECTS, "confidence": 0.9, "slices": names})

    for answer in (by_address, by_body):
        found = answer.raise_for_status().json()
        assert numbers_of(found["answers"]) == expected
        assert found["slices"] == (names or list(slices[kind].names))


def test_every_slice_has_an_answer_of_its_own(client, slices):
    """In the order of the slices, below each rectangle."""
    answer = slices["nested"].answer(RECTS)
    by_address = client.get("/v1/nested/count", params={"rect": "0.1,0.2,0.7,0.9", "each": "true"})
    by_body = client.post("/v1/nested/count", json={"rects": RECTS, "each": True})

    found = by_body.raise_for_status().json()["answers"]
    for number, name in enumerate(slices["nested"]):
        rows = [row["by_slice"][number] for row in found]
        assert {row["slice"] for row in rows} == {name}
        assert [[row[column] for column in ANSWER] for row in rows] == [
            [getattr(answer, column)[number][rect].item() for column in ANSWER] for rect in range(len(RECTS))
        ]
    assert by_address.json()["answers"][0] == found[0]
    assert [row["west"] for row in found] == [rect[0] for rect in RECTS]


@pytest.mark.parametrize("kind", ["nested", "areas"])
def test_polygons_are_answered_for_sums_and_for_each(client, slices, kind):
    """What a feature was called stays beside the numbers."""
    shape = shapely.Polygon(RING)
    body = {"type": "Feature", "properties": {"name": "Centre"}, "geometry": {"type": "Polygon", "coordinates": [RING]}}

    def ask(**parameters):
        answer = client.post(f"/v1/{kind}/polygons", content=json.dumps(body), params=parameters)
        return answer.raise_for_status().json()["features"][0]["properties"]

    both, each = ask(slice=["car", "=bus"]), ask(each="true")
    assert numbers_of([both]) == rows_of(slices[kind].answer_polygons([shape], slices=["car", "=bus"]))
    own = slices[kind].answer_polygons([shape])
    assert [row["estimate"] for row in each["by_slice"]] == own.estimate[:, 0].tolist()
    assert [row["high"] for row in each["by_slice"]] == own.high[:, 0].tolist()
    assert both["name"] == each["name"] == "Centre"
    assert "estimate" not in each


def test_areas_are_listed_for_sums_and_for_each(client, slices):
    """As `Slices.table` has them, page by page."""
    found = client.get("/v1/areas/areas", params={"slice": ["car", "bike"], "level": "state"}).json()
    assert found["areas"] == slices["areas"].table("state", slices=["car", "bike"]).to_pylist()

    rows, address = [], "/v1/areas/areas?each=true&limit=2"
    while address:
        part = client.get(address).raise_for_status().json()
        rows += part["areas"]
        address = part["next"] and f"/v1/areas/{part['next']}"
    listed = [{"slice": each["slice"], "name": row["name"], **each} for row in rows for each in row["by_slice"]]
    assert sorted(listed, key=str) == sorted(slices["areas"].table().to_pylist(), key=str)


def test_cells_are_those_of_one_slice(client, slices):
    """The address of the next ones keeps the slice, whose name may hold anything."""
    counts, address = [], "/v1/nested/cells?slice=%3Dbus&limit=2"
    while address:
        part = client.get(address).raise_for_status().json()
        counts += [cell["count"] for cell in part["cells"]]
        address = part["next"] and f"/v1/nested/{part['next']}"

    assert counts == slices["nested"]["=bus"].counts.tolist()
    assert "cells are those of one slice" in refusal(client.get("/v1/nested/cells"))
    assert "Try slice='car'" in refusal(client.get("/v1/nested/cells?slice=car&slice=bike"))


def test_a_release_is_described_with_its_slices(client, slices):
    """The guarantee is that of all slices and the total together."""
    nested, _, whole = client.get("/v1/").json()["releases"]

    assert nested["slices"] == list(slices["nested"].names)
    assert nested["sliced"] == slices["nested"].by.words()
    assert nested["epsilon"] == 1.0
    assert nested["cells"] == sum(each.partition.cells for each in slices["nested"].values())
    assert (whole["slices"], whole["sliced"]) == ([], None)


def test_the_page_of_slices_is_served(client):
    """With the switch to the others."""
    page = client.get("/nested/")

    assert page.status_code == 200
    assert '"kind":"slices"' in page.text
    assert 'href="../whole/"' in page.text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("slice=cars", "there is no slice 'cars'. The slices are: car, bike, =bus. Try slice='car'."),
        ("slice=car&slice=car", "none twice"),
        ("slice=", "there is no slice ''"),
        ("each=yes", "each must be true or false"),
        ("each=true&each=true", "given once"),
        ("slice=car&each=true", "not both"),
        ("slices=car", "unknown parameter 'slices'; there are"),
    ],
)
def test_bad_choices_are_refused(client, asked, words):
    """With what would work; the same for polygons."""
    assert words in refusal(client.get(f"/v1/nested/count?rect=0,0,1,1&{asked}"))
    ring = json.dumps({"type": "Polygon", "coordinates": [RING]})
    assert words in refusal(client.post(f"/v1/nested/polygons?{asked}", content=ring))


@pytest.mark.parametrize("body", [{"slices": "car"}, {"slices": [1]}, {"each": 1}, {"slices": ["car"], "each": True}])
def test_bad_choices_in_a_body_are_refused(client, body):
    """Types as well as contradictions."""
    assert "slices" in refusal(client.post("/v1/nested/count", json={"rects": RECTS, **body}))


@pytest.mark.parametrize("path", ["count?rect=0,0,1,1&slice=car", "count?rect=0,0,1,1&each=true", "cells?slice=car"])
def test_a_release_without_slices_says_so(client, path):
    assert "'whole' has no slices" in refusal(client.get(f"/v1/whole/{path}"))


def test_limits_count_every_slice(client):
    """Three slices together are three times the work; one of them is not."""
    rects = np.tile([0.0, 0.0, 1.0, 1.0], (LARGEST_BATCH // 2, 1)).tolist()
    assert "ask in several" in refusal(client.post("/v1/nested/count", json={"rects": rects}), 413)
    assert client.post("/v1/nested/count", json={"rects": rects, "slices": ["car"]}).status_code == 200

    circle = shapely.Point(0.5, 0.5).buffer(0.1, quad_segs=MOST_VERTICES // 400)
    shapes = json.dumps({"type": "MultiPolygon", "coordinates": [[list(circle.exterior.coords)]]})
    feature = f'{{"type": "Feature", "properties": {{}}, "geometry": {shapes}}}'
    body = f'{{"type": "FeatureCollection", "features": [{", ".join([feature] * 50)}]}}'
    assert "vertices of 3 slices make" in refusal(client.post("/v1/nested/polygons", content=body), 413)


def test_a_page_of_areas_by_slice_is_bounded(client):
    """The limit on rows holds for all slices together, whatever the address asks."""
    assert "limit must be a whole number from 1 to 3,333" in refusal(client.get("/v1/areas/areas?each=true&limit=5000"))
