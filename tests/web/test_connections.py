"""Clients that hold connections without asking: they are given up, and others are answered meanwhile."""

import contextlib
import itertools
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest

from hushgrid.web import questions as limits
from hushgrid.web.connections import Connection
from hushgrid.web.shelf import Page, Shelf
from tests.web.servers import serving, some_synopses

SHELF = Shelf([("trips", some_synopses()["trips"])])
HEAD = b"GET /v1/ HTTP/1.1\r\nHost: x\r\n"
HALF_A_BODY = b'POST /v1/trips/count HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"rects": '
PATIENCE = 30  # seconds, after which a test gives up
HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"
needs_addresses = pytest.mark.skipif(sys.platform != "linux", reason="one loopback address only")


@contextlib.contextmanager
def connected(address, count, *, says=b"", source=HERE):
    """Connections that stay open, each of which has said the same."""
    place = urlsplit(address)
    with contextlib.ExitStack() as stack:
        sockets = []
        for _ in range(count):
            client = socket.create_connection((place.hostname, place.port), PATIENCE, source_address=(source, 0))
            sockets.append(stack.enter_context(client))
            if says:
                client.sendall(says)
        yield sockets


def status(address, *, source=HERE):
    """Status of an honest request on a connection of its own."""
    with httpx.Client(transport=httpx.HTTPTransport(local_address=source), timeout=PATIENCE) as client:
        return client.get(f"{address}v1/").status_code


def is_closed(client):
    """Whether the server ends a connection before the test runs out of patience."""
    with contextlib.suppress(ConnectionError):
        while client.recv(4096):
            pass
    return True


def say(client, words, *, pause=0.0):
    """Send words one by one and read nothing; an endless number of them ends when the connection does."""
    for word in words:
        client.sendall(word)
        time.sleep(pause)


def held(client):
    """Whether a connection is open, and nothing was said on it."""
    client.setblocking(False)
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    finally:
        client.settimeout(PATIENCE)


@pytest.mark.parametrize(
    "says", [b"", b"GET", HEAD, HALF_A_BODY], ids=["nothing", "a word", "half a head", "half a body"]
)
def test_an_unfinished_request_is_given_up(monkeypatch, says):
    """Whichever part of it the client keeps back."""
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.2)
    with serving(SHELF) as address, connected(address, 3, says=says) as clients:
        assert all(map(is_closed, clients))
        assert status(address) == 200


@pytest.mark.parametrize("after", [b"", b"GET /v1/ HTTP/1.1\r\n"], ids=["idle", "half a head"])
def test_a_connection_is_given_up_after_an_answer(monkeypatch, after):
    """When no other request follows, or not the whole of it."""
    monkeypatch.setattr("hushgrid.web.server.IDLE_SECONDS", 0.2)
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.4)
    with serving(SHELF) as address, connected(address, 1, says=HEAD + b"\r\n") as (client,):
        assert client.recv(4096).startswith(b"HTTP/1.1 200")
        client.sendall(after)
        assert is_closed(client)


@pytest.mark.parametrize("before", [HEAD, HALF_A_BODY], ids=["head", "body"])
def test_single_bytes_buy_no_time(monkeypatch, before):
    """A client that sends one now and then is given up like one that sends none."""
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.3)
    with serving(SHELF) as address, connected(address, 1, says=before) as (client,):
        letters = (bytes([letter]) for letter in itertools.cycle(b"x: y\r\n"))
        with pytest.raises(ConnectionError):
            say(client, letters, pause=0.02)


def test_an_answer_nobody_reads_is_given_up(monkeypatch):
    """The server drops a reader that reads nothing, so that pages do not pile up in memory."""
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(limits, "READER_SECONDS", 0.2)
    dropped = threading.Event()
    monkeypatch.setattr(Connection, "drop", lambda self: (dropped.set(), self.transport.abort()))
    question = b"GET /v1/trips/cells HTTP/1.1\r\nHost: x\r\n\r\n"
    with serving(SHELF) as address, connected(address, 1) as (client,):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(0.5)
        with contextlib.suppress(OSError):  # a full buffer, or the end
            say(client, itertools.repeat(question * 100))
        assert dropped.wait(PATIENCE)


def test_a_slow_reader_gets_its_answer(monkeypatch):
    """A page far larger than the buffers, read far more slowly than the deadlines, but read."""
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(limits, "READER_SECONDS", 0.5)
    shelf = Shelf([("trips", some_synopses()["trips"])])
    shelf.pages["trips"] = page = Page("a long page " * 1_000_000)
    with serving(shelf) as address, connected(address, 1) as (client,):
        client.sendall(b"GET /trips/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        read = bytearray()
        while piece := client.recv(50_000):
            read += piece
            time.sleep(0.005)
    assert read.endswith(page.content)


@needs_addresses
def test_one_client_cannot_take_every_place(monkeypatch):
    """Those that wait longest make room, here and elsewhere, and what is under way goes on."""
    monkeypatch.setattr(limits, "MOST_CONNECTIONS", 12)
    monkeypatch.setattr(limits, "MOST_OF_ONE_CLIENT", 8)
    with (
        serving(SHELF) as address,
        connected(address, 3, says=HEAD, source=ELSEWHERE) as others,
        connected(address, 40, says=HALF_A_BODY) as clients,
    ):
        assert [status(address, source=source) for source in (HERE, ELSEWHERE, HERE)] == [200, 200, 200]
        assert sum(map(held, clients)) <= 8
        assert not any(map(held, clients[:30]))
        assert all(map(held, others))


def test_what_is_being_answered_is_not_given_up(monkeypatch):
    """A client with all its places under way is told so by 503, and its answers arrive."""
    monkeypatch.setattr(limits, "MOST_OF_ONE_CLIENT", 4)
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.3)
    begin, entered = threading.Event(), threading.Semaphore(0)

    def slow_answers(*_):
        entered.release()
        assert begin.wait(PATIENCE)
        return {"slow": True}

    monkeypatch.setattr("hushgrid.web.server.answers", slow_answers)
    asked = b"GET /v1/trips/count?rect=-100,30,-90,40 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with serving(SHELF) as address, connected(address, 4, says=asked) as clients:
        assert all(entered.acquire(timeout=PATIENCE) for _ in clients)
        assert status(address) == 503
        time.sleep(1)  # longer than a client may take
        begin.set()
        assert [client.recv(4096)[:15] for client in clients] == [b"HTTP/1.1 200 OK"] * 4
        assert all(map(is_closed, clients))
        assert status(address) == 200


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on files")
def test_there_is_a_file_for_every_connection():
    """The limit of open files is raised where it is lower than the number of connections."""
    program = (
        "import resource; from hushgrid.web.server import raise_file_limit; "
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]; "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)); raise_file_limit(); "
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], hard)"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    soft, hard = map(int, made.stdout.split())

    assert soft > limits.MOST_CONNECTIONS or soft == hard
