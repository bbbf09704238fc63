"""The page of a series, and what a server says of one: every figure against Python's, without a browser."""

import base64
import gzip
import re
import subprocess
from dataclasses import replace

import httpx
import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.web import openapi
from hushgrid.web.series.page import MOST_MAPS, SERIES_MODULES, THOUSANDTHS, series_page
from hushgrid.web.series.places import WHOLE, counted_places
from hushgrid.web.series.served import MOST_ANSWERS, ServedSeries
from hushgrid.web.server import routes
from hushgrid.web.shelf import Shelf
from tests.districts import SHAPES
from tests.plain import UNIT_SQUARE
from tests.web import test_openapi
from tests.web.pages import MODULES, NODE, block, facts_of, needs_node
from tests.web.servers import serving

HOSTILE = "</script><img src=x onerror=alert(1)>"
SQUARES = [shapely.box(0, 0, 0.4, 0.4), None, shapely.box(0.5, 0.2, 0.9, 0.9)]
NAMES = ["one", "none", HOSTILE]
RECTS = [[0.0, 0.0, 0.5, 0.5], [0.25, 0.5, 1.0, 0.75]]


def release(number, method="ag"):
    """A release of some points, with noise of its own."""
    points = np.random.default_rng(number).random((300 * (2 + number), 2)) ** 2
    return hg.publish(points, domain=UNIT_SQUARE, epsilon=1, method=method, calibrate=False)


@pytest.fixture(scope="module")
def series():
    """January, February and April."""
    return hg.Series({f"trips-2026-{month:02}": release(month) for month in (4, 1, 2)})


@pytest.fixture(scope="module")
def page(series):
    """Their page on two squares."""
    return series_page(series, counted_places(series, polygons=SQUARES, names=NAMES), title=HOSTILE)


def arrays_of(page):
    """The numbers in the payload of a page, read back by hand: planes of bytes, the sign in the lowest bit."""
    content, found = gzip.decompress(base64.b64decode(block(page, "payload"))), {}
    for name, length, planes in facts_of(page)["arrays"]:
        rows = np.frombuffer(content[: length * planes], np.uint8).reshape(planes, length).astype(np.int64)
        coded = sum((row << (8 * number) for number, row in enumerate(rows)), np.zeros(length, np.int64))
        found[name], content = np.where(coded & 1, -(coded >> 1) - 1, coded >> 1), content[length * planes :]
    return found


def test_the_page_holds_the_counts_of_every_release_and_none_of_a_gap(series, page):
    """To a thousandth, period by period and place by place; the square without an outline is left out."""
    facts, arrays = facts_of(page), arrays_of(page)
    kept = [SQUARES[0], SQUARES[2]]
    asked = [synopsis.answer_polygons(kept) for synopsis in series.values()]

    assert facts["periods"] == ["2026-01", "2026-02", "2026-03", "2026-04"]
    assert facts["known"] == [True, True, False, True]
    assert [level["names"] for level in facts["levels"]] == [[WHOLE], ["one", HOSTILE]]
    for name in ("estimate", "low", "high"):
        expected = np.concatenate([getattr(answer, name) for answer in asked])
        np.testing.assert_allclose(arrays[f"{name}1"] / THOUSANDTHS, expected, atol=0.5 / THOUSANDTHS)
    np.testing.assert_array_equal(arrays["usable1"], np.concatenate([answer.usable for answer in asked]))


def test_each_release_has_a_picture_of_its_own(series, page):
    """Those of areas have none, and are filled by their counts."""
    on_areas = hg.Series({f"2026-0{month}": release(month, _areas()) for month in (1, 2)})

    assert sorted(facts_of(page)["pictures"]) == ["0-", "1-", "3-"]
    assert len({tuple(arrays_of(page)[f"{side}-pictureCodes"]) for side in (0, 1, 3)}) == len(series)
    assert facts_of(series_page(on_areas, counted_places(on_areas), title="x"))["pictures"] is None


def _areas():
    columns = {"geometry": list(SHAPES.values()), "side": ["w", "e", "e", "w", "e"], "area": list("abcde")}
    return hg.Areas(columns, levels=["side", "area"])


def test_areas_of_the_releases_come_with_all_levels_in_the_order_of_their_outlines():
    """The numbers of an area lie beside its own outline."""
    series = hg.Series({f"2026-0{month}": release(month, _areas()) for month in (1, 3)})
    sides, areas = counted_places(series)
    table = series.table()
    by_name = {row["name"]: row["estimate"] for row in table.to_pylist() if row["period"] == "2026-03"}

    assert [sides.noun, areas.noun] == ["side", "area"]
    assert sorted(areas.names) == sorted(by_name)
    for name, estimate, bounds in zip(areas.names, areas.counts.estimate[2], areas.bounds, strict=True):
        assert estimate == by_name[name]
        np.testing.assert_allclose(bounds, list(SHAPES.values())["abcde".index(name.split(" / ")[-1])].bounds)


def test_without_areas_there_are_the_domain_and_its_blocks(series):
    """Which together hold what the domain holds."""
    whole, blocks = counted_places(series)

    assert (whole.names, blocks.names) == ([WHOLE], None)
    np.testing.assert_allclose(blocks.counts.estimate.sum(axis=1), whole.counts.estimate[:, 0])
    np.testing.assert_allclose(whole.counts.estimate[[0, 1, 3], 0], [each.total for each in series.values()])
    np.testing.assert_array_equal(whole.bounds, [UNIT_SQUARE.bounds])


def test_what_somebody_in_all_periods_bears_is_said_aloud(series, page):
    """Beside the guarantee of one release, and as large as it."""
    assert series.everyone in page
    assert series.everyone.startswith("Someone with a record in all 3 months: epsilon 3 by these 3 releases,")
    assert series.everyone.endswith("such as one that was corrected, add to it.")
    assert f"2026-04</bdi>: {series.last.claim.sentence}" in page


def test_hostile_names_are_text_and_nothing_can_be_asked_of_the_network(page):
    """They cannot end the block that they stand in; the policy allows what the page brings along."""
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]

    assert "<img" not in page
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert not re.search(r'(?:src|href)="(?!#|data:)', page.partition("<script")[0])


def test_a_long_series_has_maps_of_its_last_periods(series):
    """Charts and tables have all of them."""
    one = series["2026-01"]
    days = {f"2026-01-{day:02}": replace(one, counts=one.counts + day) for day in range(1, MOST_MAPS + 4)}
    long = hg.Series(days)
    facts = facts_of(series_page(long, counted_places(long), title="Days"))

    assert facts["maps"] == list(range(3, MOST_MAPS + 3))
    assert sorted(facts["pictures"], key=lambda side: int(side[:-1]))[0] == "3-"
    assert len(facts["periods"]) == MOST_MAPS + 3


def test_a_simulation_is_marked(series):
    """If only one of the releases is one; none of them, and it is not."""
    one = series["2026-02"]
    seeded = replace(one, claim=replace(one.claim, simulation=True))
    mixed = hg.Series({**series, "2026-02": seeded})

    assert 'class="simulation"' in series_page(mixed, counted_places(mixed), title="x")
    assert 'class="simulation"' not in series_page(series, counted_places(series), title="x")


@needs_node
def test_the_modules_make_one_valid_script(page, tmp_path):
    """Names do not clash when all share a scope, and every module of the folder is there."""
    script = tmp_path / "page.mjs"
    script.write_text(re.findall(r"<script type=\"module\">(.*?)</script>", page, re.DOTALL)[0])

    done = subprocess.run([NODE, "--check", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    own = {name.removeprefix("../series/") for name in SERIES_MODULES if name.startswith("../series/")}
    assert {path.stem for path in (MODULES.parent / "series").glob("*.mjs")} == own


@pytest.fixture(scope="module")
def shelf(series):
    """The releases and what they are together."""
    served = ServedSeries(title="months", series=series, levels=counted_places(series, polygons=SQUARES, names=NAMES))
    return Shelf([("series", series["2026-01"]), ("trips", series["2026-02"])], series=served)


@pytest.fixture(scope="module")
def client(shelf):
    """A client of a server for them; it follows nothing."""
    with serving(shelf) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_the_page_of_a_series_is_where_a_visit_begins(client):
    """It leads to the releases, and they lead to it; a release of the same name makes room."""
    assert client.get("/").headers["location"] == "series/"
    assert client.get("/series").headers["location"] == "series/"
    page = client.get("/series/")
    assert re.findall(r'<li><a href="([^"]+)"', page.text) == ["./", "../series-2/", "../trips/"]
    assert '<a href="../series/">All 3 together</a>' in client.get("/trips/").text
    again = client.get("/series/", headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert page.headers["x-frame-options"] == "DENY"


def test_places_over_time_are_pythons_bit_for_bit(client, series):
    """With null in a gap."""
    told = client.get("/v1/series").json()
    _, squares = told["levels"]
    found = series.answer_polygons([SQUARES[0], SQUARES[2]])

    assert told["periods"] == list(series.periods)
    assert told["epsilon_of_all"] == 3
    assert told["everyone"] == series.everyone
    assert [place["name"] for place in squares["places"]] == ["one", HOSTILE]
    for number, place in enumerate(squares["places"]):
        for name in ("estimate", "low", "high", "usable"):
            assert place[name][2] is None
            assert [place[name][period] for period in (0, 1, 3)] == getattr(found, name)[[0, 1, 3], number].tolist()


@pytest.mark.parametrize("method", ["get", "post"])
def test_rectangles_over_time_are_pythons_bit_for_bit(client, series, method):
    """Asked in the address or in a body."""
    if method == "get":
        rects = [("rect", ",".join(map(str, rect))) for rect in RECTS]
        answer = client.get("/v1/series/count", params=[*rects, ("confidence", "0.8")])
    else:
        answer = client.post("/v1/series/count", json={"rects": RECTS, "confidence": 0.8})
    found = series.answer(RECTS, confidence=0.8)

    assert answer.json()["confidence"] == 0.8
    for number, place in enumerate(answer.json()["answers"]):
        assert [place[name] for name in ("west", "south", "east", "north")] == RECTS[number]
        assert place["low"] == [None if np.isnan(low) else low for low in found.low[:, number].tolist()]


def test_too_much_at_once_is_refused(client, series):
    """Periods times rectangles, with what would fit."""
    most = MOST_ANSWERS // len(series.periods)
    served = ServedSeries(title="", series=hg.Series({f"{year}": each for year, each in _many(series)}), levels=())
    with pytest.raises(hg.HushgridError, match=r"at most \d[\d,]* rectangles of 20 periods"):
        served.answers(test_openapi.question_in_body(b'{"rects": [' + b",".join([b"[0,0,1,1]"] * 5001) + b"]}"))
    assert most > 10_000
    assert client.get("/v1/series/count").status_code == 400


def _many(series):
    one = series["2026-01"]
    return [(2000 + number, replace(one, counts=one.counts + number)) for number in range(20)]


def test_a_series_is_described_where_there_is_one(client, shelf, monkeypatch):
    """Its routes and no others; every answer looks as the description says. Others know nothing of it."""
    described = client.get("/openapi.json").json()
    monkeypatch.setattr(test_openapi, "DESCRIPTION", described)
    served = {(route.path, method.lower()) for route in routes(shelf) for method in route.methods - {"HEAD"}}

    assert served == {(path, method) for path, method, _ in test_openapi.operations()}
    assert "series" not in repr(openapi.description(["trips"])).lower()
    for path, schema in {"/v1/series": "SeriesPlaces", "/v1/series/count": "SeriesAnswers"}.items():
        answer = client.get(path, params={"rect": "0,0,1,1"} if path.endswith("count") else {})
        assert test_openapi.faults(answer.json(), openapi.reference(schema)) == []
        assert test_openapi.faults({**answer.json(), "more": 1}, openapi.reference(schema)) != []
