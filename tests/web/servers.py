"""A real server in a thread, on a free port of this machine, that stops by itself."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import httpx

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.server import address_of, listen, server
from hushgrid.web.shelf import Shelf
from tests.synopses import synopsis_on

DOMAIN = Domain(west=-126, south=17, east=-66, north=57)
GRID = Grid(domain=DOMAIN, rows=6, columns=9)
NESTED = NestedGrid(grid=GRID, sides=[1 + cell % 4 for cell in range(GRID.cells)])


def some_synopses() -> dict[str, Synopsis]:
    """A flat release, a nested one and a simulation, by the names they are served under."""
    flat = synopsis_on(GRID)
    return {
        "trips": flat,
        "nested": synopsis_on(NESTED),
        "simulated": replace(flat, claim=replace(flat.claim, simulation=True)),
    }


@contextmanager
def serving(shelf: Shelf) -> Iterator[str]:
    """The address of a server that runs as long as the block."""
    listener = listen("127.0.0.1", 0)
    address, running = address_of(listener), server(shelf)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        httpx.get(f"{address}healthz").raise_for_status()
        yield address
    finally:
        running.should_exit = True
        thread.join()


def raw_get(address: str, path: str) -> tuple[int, bytes]:
    """Status and body of a path sent as it is, dots and all."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
