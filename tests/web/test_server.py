"""The server: Python's numbers, strict headers, and a reason for everything it refuses."""

import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.synopsis.answer import Answer
from hushgrid.web.page import map_page
from hushgrid.web.questions import LARGEST_BATCH, LARGEST_BODY, LONGEST_QUERY
from hushgrid.web.server import address_of, application, is_open, listen
from hushgrid.web.shelf import Shelf
from tests.web.pages import some_rects
from tests.web.servers import raw_get, serving, some_synopses

SYNOPSES = some_synopses()
ADDRESSES = ["/", "/healthz", "/openapi.json", "/v1/", "/v1/trips/count?rect=0,0,1,1", "/v1/trips/cells", "/trips/"]
NUMBERS = [field.name for field in fields(Answer)]


@pytest.fixture(scope="module")
def address():
    """Where three synopses are served."""
    with serving(Shelf(SYNOPSES.items())) as address:
        yield address


@pytest.fixture(scope="module")
def client(address):
    """A client of that server."""
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def refusal(answer, status):
    """The reason in a refusal, which is JSON and nothing else."""
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    (reason,) = answer.json().values()
    return reason


def expect_same(answers, expected):
    """Every number is the one Python gives, bit for bit."""
    for name in NUMBERS:
        assert [answer[name] for answer in answers] == np.atleast_1d(getattr(expected, name)).tolist()


@pytest.mark.parametrize("name", SYNOPSES)
def test_a_batch_is_answered_as_by_python(client, name):
    """Hundreds of rectangles, in the order asked, with the rectangles beside them."""
    rects = some_rects(200)
    answer = client.post(f"/v1/{name}/count", json={"rects": rects.tolist(), "confidence": 0.8}).raise_for_status()

    values = answer.json()
    assert [[answer[side] for side in ("west", "south", "east", "north")] for answer in values["answers"]] == (
        rects.tolist()
    )
    assert (values["release"], values["confidence"]) == (name, 0.8)
    assert values["simulation"] == (name == "simulated")
    expect_same(values["answers"], SYNOPSES[name].answer(rects, confidence=0.8))


@pytest.mark.parametrize("name", SYNOPSES)
def test_an_address_is_answered_as_by_python(client, name):
    """One rectangle or several, with a confidence or without."""
    rects = [[-110.5, 30.25, -90, 45.125], [-70, 20, -66, 22]]
    texts = [",".join(map(repr, rect)) for rect in rects]
    one = client.get(f"/v1/{name}/count", params={"rect": texts[0]}).json()
    both = client.get(f"/v1/{name}/count", params={"rect": texts, "confidence": ".5"}).json()

    expect_same(one["answers"], SYNOPSES[name].answer(rects[:1]))
    expect_same(both["answers"], SYNOPSES[name].answer(rects, confidence=0.5))


def test_nothing_is_asked_and_nothing_answered(client):
    """An empty batch is no mistake."""
    assert client.post("/v1/trips/count", json={"rects": []}).json()["answers"] == []


@pytest.mark.parametrize("name", SYNOPSES)
def test_all_cells_come_in_parts(client, name):
    """Following the addresses of the next ones, every cell comes once, in order, as Python has it."""
    rows, address = [], f"/v1/{name}/cells?limit=20"
    while address:
        part = client.get(address).raise_for_status().json()
        assert (part["first"], part["total"]) == (len(rows), SYNOPSES[name].partition.cells)
        rows += part["cells"]
        address = part["next"] and f"/v1/{name}/{part['next']}"

    assert rows == SYNOPSES[name].cells().to_pylist()
    assert client.get(f"/v1/{name}/cells?first=10000000").json()["cells"] == []


def test_the_list_says_what_each_release_promises(client):
    """Releases are listed in the order given, with the claim and the mark of a simulation."""
    listed = client.get("/v1/").json()["releases"]

    assert [release["release"] for release in listed] == list(SYNOPSES)
    for release, synopsis in zip(listed, SYNOPSES.values(), strict=True):
        assert release["guarantee"] == synopsis.claim.sentence
        assert release["simulation"] == synopsis.simulation
        assert release["cells"] == synopsis.partition.cells
        assert tuple(release["domain"].values()) == (*synopsis.domain.bounds, synopsis.domain.crs)


def test_each_page_is_that_of_the_map_with_a_switch(client):
    """The bytes are those of the library, given the addresses of all pages."""
    titles = {"../trips/": "trips", "./": "nested", "../simulated/": "simulated (simulation)"}

    assert client.get("/nested/").text == map_page(SYNOPSES["nested"], title="nested", releases=titles)
    assert "Simulation" in client.get("/simulated/").text


def test_a_release_alone_needs_no_switch():
    """Its page is the one that `hushgrid map` makes."""
    shelf = Shelf([("trips", SYNOPSES["trips"])])

    assert shelf.pages["trips"].content.decode() == map_page(SYNOPSES["trips"], title="trips")


@pytest.mark.parametrize(("asked", "where"), [("/", "/trips/"), ("/nested", "/nested/")])
def test_short_addresses_lead_to_pages(client, asked, where):
    """Relative to where they are asked, whatever host the client names."""
    answer = client.get(asked, headers={"Host": "elsewhere.example"})

    assert answer.status_code == 307
    assert "elsewhere" not in answer.headers["location"]
    assert str(answer.url.join(answer.headers["location"])).endswith(where)


def test_a_page_is_sent_once(client):
    """A client that has it is told so; one that has another gets this one."""
    tag = client.get("/trips/").headers["etag"]
    again = client.get("/trips/", headers={"If-None-Match": tag})

    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/nested/", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("asked", [*ADDRESSES, "/nothing/here", "/v1/nothing/count", "/v1/trips/count"])
def test_every_answer_has_strict_headers(client, asked):
    """Pages, JSON, redirects and refusals: no sniffing, no frames, no cookies, no other sites, no name of a server."""
    headers = client.get(asked, headers={"Origin": "http://elsewhere.example"}).headers

    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == ("no-cache" if asked == "/trips/" else "no-store")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert not {"set-cookie", "server", "access-control-allow-origin"} & headers.keys()


@pytest.mark.parametrize("asked", ["/v1/other/count?rect=0,0,1,1", "/v1/other/cells", "/other/", "/other"])
def test_an_unknown_release_is_named_beside_the_known_ones(client, asked):
    """An unknown release is status 404, with the names of the others."""
    assert "'other'" in refusal(client.get(asked), 404)
    assert "trips, nested, simulated" in refusal(client.get(asked), 404)


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/v1/../../etc/passwd/count?rect=0,0,1,1",
        "/v1/%2e%2e%2f%2e%2e%2fetc%2fpasswd/cells",
        "/v1/trips.dp.parquet/cells",
        "//etc/passwd",
        "/trips/../../pyproject.toml",
        "/trips%00/",
        "/assets/page.html",
    ],
)
def test_no_path_leads_to_a_file(address, path):
    """Names are looked up in a list, never in a folder."""
    status, body = raw_get(address, path)

    assert status == 404
    assert list(json.loads(body)) == ["error"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "rect=W,S,E,N"),
        ("rect=", "rectangle 0 must be four finite numbers"),
        ("rect=1,2,3", "rectangle 0 must be four finite numbers"),
        ("rect=0,0,1,1&rect=1,2,3,4,5", "rectangle 1 must be four finite numbers"),
        ("rect=0,0,1,nan", "four finite numbers"),
        ("rect=0,0,1,inf", "four finite numbers"),
        ("rect=0,0,1,1e999", "four finite numbers"),
        ("rect=0,0,1_0,1", "four finite numbers"),
        ("rect=1,0,0,1", "inverted: east is below west"),
        ("rect=0,0,0,1", "empty: west equals east"),
        ("rect=0,0,1,1&confidence=1", "confidence must be a number from 0.01 to 0.9999"),
        ("rect=0,0,1,1&confidence=0", "confidence must be"),
        ("rect=0,0,1,1&confidence=nan", "confidence must be"),
        ("rect=0,0,1,1&confidence=.9&confidence=.8", "given once"),
        ("rects=0,0,1,1", "unknown parameter 'rects'"),
    ],
)
def test_a_bad_address_is_refused_with_a_reason(client, query, words):
    """A bad query string is status 400, with what is wrong in it."""
    assert words in refusal(client.get(f"/v1/trips/count?{query}"), 400)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "must be JSON in UTF-8"),
        (b"{", "must be JSON in UTF-8"),
        (b"\xff\xfe", "must be JSON in UTF-8"),
        (b'{"rects": [[0, 0, 1, NaN]]}', "must be JSON in UTF-8"),
        (b'{"rects": [[0, 0, 1, Infinity]]}', "must be JSON in UTF-8"),
        (b"[" * 100_000, "must be JSON in UTF-8"),
        (b'{"rects": [[0, 0, 1, ' + b"9" * 5000 + b"]]}", "must be JSON in UTF-8"),
        (b'{"rects": [[0, 0, 1, ' + b"9" * 400 + b"]]}", "rectangle 0 must be four finite numbers"),
        (b'{"rects": [[0, 0, 1, 1e999]]}', "rectangle 0 must be four finite numbers"),
        (b'{"rects": [[0, 0, 1, true]]}', "rectangle 0 must be four finite numbers"),
        (b'{"rects": [[0, 0, 1, "1"]]}', "rectangle 0 must be four finite numbers"),
        (b'{"rects": [[0, 0, 1, 1], [0, 0, 1]]}', "rectangle 1 must be four finite numbers"),
        (b'{"rects": [0, 0, 1, 1]}', "rectangle 0 must be four finite numbers"),
        (b'{"rects": {"0": [0, 0, 1, 1]}}', "an object with a list of rects"),
        (b"[[0, 0, 1, 1]]", "an object with a list of rects"),
        (b'{"rects": [], "seed": 1}', "nothing else"),
        (b'{"rects": [], "confidence": "0.95"}', "confidence must be a number"),
        (b'{"rects": [], "confidence": null}', "confidence must be a number"),
        (b'{"rects": [], "confidence": true}', "confidence must be a number"),
        (b'{"rects": [[0, 1, 1, 0]]}', "inverted: north is below south"),
    ],
)
def test_a_bad_body_is_refused_with_a_reason(client, body, words):
    """A bad body is status 400, with what is wrong in it."""
    assert words in refusal(client.post("/v1/trips/count", content=body), 400)


@pytest.mark.parametrize("query", ["first=-1", "limit=0", "limit=10001", "first=x", "first=1e3", "limit=٣", "page=2"])
def test_a_bad_part_is_refused(client, query):
    """A bad part is status 400, and the message names the parameter."""
    assert query.split("=")[0] in refusal(client.get(f"/v1/trips/cells?{query}"), 400)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["rects", "confidence", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(body=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_body_is_answered_or_refused(client, body):
    """Never an error of the server, and always JSON."""
    answer = client.post("/v1/trips/count", content=body)

    assert answer.status_code in (200, 400)
    assert set(answer.json()) >= ({"answers"} if answer.status_code == 200 else {"error"})


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=4), confidence=st.floats())
def test_any_address_is_answered_or_refused(client, texts, confidence):
    """Any query string is status 200 or 400, and never an error of the server."""
    answer = client.get("/v1/trips/count", params={"rect": texts, "confidence": confidence})

    assert answer.status_code in (200, 400)


def test_a_batch_has_a_limit(client):
    """As many as fit are answered, one more is refused with status 413."""
    rect = [0, 0, 1, 1]

    assert len(client.post("/v1/trips/count", json={"rects": [rect] * LARGEST_BATCH}).json()["answers"]) == (
        LARGEST_BATCH
    )
    over = client.post("/v1/trips/count", json={"rects": [rect] * (LARGEST_BATCH + 1)})
    assert "at most 10,000 rectangles" in refusal(over, 413)


@pytest.mark.parametrize("declared", [True, False], ids=["length declared", "in chunks"])
def test_a_body_has_a_limit(client, declared):
    """White space makes a body of exactly the limit, and one byte more is refused with status 413."""
    body = b'{"rects": []}'.ljust(LARGEST_BODY)

    def sent(content):
        return client.post("/v1/trips/count", content=content if declared else iter([content[:9], content[9:]]))

    assert sent(body).status_code == 200
    assert "1,000,000 bytes" in refusal(sent(body + b" "), 413)


@pytest.mark.parametrize("asked", ["count", "cells"])
def test_an_address_has_a_limit(client, asked):
    """A long address is status 414, and the message names POST."""
    assert "by POST" in refusal(client.get(f"/v1/trips/{asked}?rect={'1' * LONGEST_QUERY}"), 414)


@pytest.mark.parametrize(("method", "asked"), [("DELETE", "/v1/trips/count"), ("POST", "/trips/"), ("PUT", "/v1/")])
def test_other_methods_are_refused(client, method, asked):
    """Other methods are status 405, with those that are allowed."""
    answer = client.request(method, asked)

    assert answer.headers["allow"] in refusal(answer, 405)


def test_preflights_of_other_sites_are_refused(client):
    """No other site is told that it may ask."""
    headers = {"Origin": "http://elsewhere.example", "Access-Control-Request-Method": "POST"}
    answer = client.options("/v1/trips/count", headers=headers)

    assert answer.status_code == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_client_that_leaves_is_no_error(client, address, capfd):
    """Half a body, and gone: nothing is said, and the next one is answered."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port)) as leaver:
        leaver.sendall(b"POST /v1/trips/count HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")

    assert client.get("/healthz").json() == {"status": "ok"}
    assert capfd.readouterr().err == ""


def test_a_fault_of_the_server_tells_nothing(capfd):
    """A fault is status 500 with strict headers and no trace of the exception; the log tells the rest."""
    shelf = Shelf([("trips", SYNOPSES["trips"])])
    shelf.pages.clear()
    with serving(shelf) as address:
        answer = httpx.get(f"{address}trips/")

    assert "went wrong" in refusal(answer, 500)
    assert "KeyError" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "KeyError" in capfd.readouterr().err


def test_many_clients_are_answered_at_once(client):
    """Forty connections, each with a question of its own, on every synopsis."""
    rects = some_rects(20)[:40]

    def ask(index):
        name = list(SYNOPSES)[index % 3]
        answer = client.get(f"/v1/{name}/count", params={"rect": ",".join(map(repr, rects[index].tolist()))})
        expect_same(answer.json()["answers"], SYNOPSES[name].answer(rects[index : index + 1]))
        return answer.status_code

    with ThreadPoolExecutor(40) as pool:
        assert set(pool.map(ask, range(40))) == {200}


def test_a_port_that_is_taken_is_refused():
    """The message names the port, and says that port 0 is any free one."""
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ArgumentError, match=f"port {port}.*port 0 is any free one"):
            listen("127.0.0.1", port)


def test_small_answers_are_sent_at_once():
    """The listener knows its protocol, without which asyncio leaves Nagle's delay of 40 ms on."""
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7", "a" * 300, "\ud800"])
def test_a_host_that_is_none_is_refused(host):
    """A host that cannot be listened on is refused at once."""
    with pytest.raises(ArgumentError, match="cannot listen on"):
        listen(host, 0)


@pytest.mark.parametrize(("host", "reachable"), [("127.0.0.1", False), ("0.0.0.0", True), ("localhost", False)])
def test_a_listener_knows_who_may_reach_it(host, reachable):
    """A listener knows whether others may reach it, and its address names its port."""
    with listen(host, 0) as listener:
        assert is_open(listener) == reachable
        assert urlsplit(address_of(listener)).port == listener.getsockname()[1]


def test_a_missing_extra_is_named(monkeypatch):
    """Without starlette, the message says what to install."""
    monkeypatch.setitem(sys.modules, "starlette.applications", None)

    with pytest.raises(MissingExtraError, match=r"needs starlette and uvicorn: pip install 'hushgrid\[server\]'"):
        application(Shelf([("trips", SYNOPSES["trips"])]))
