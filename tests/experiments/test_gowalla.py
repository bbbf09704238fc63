"""Fetching Gowalla, from a server of our own."""

import gzip
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pyarrow.parquet as pq
import pytest

from experiments.datasets.gowalla import fetch_gowalla
from hushgrid.errors import InputError

CHECKINS = "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n1\t2010-10-18T22:17:43Z\t\t\t420315\n"


@pytest.fixture
def server():
    """An address whose content is what its `content` says."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.server.content)

        def log_message(self, *arguments):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.content = gzip.compress(CHECKINS.encode(), mtime=0)
    server.address = f"http://127.0.0.1:{server.server_port}/checkins.txt.gz"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_longitudes_and_latitudes_are_kept(server, tmp_path):
    """One row a line, null where a line has none; the hash beside it, and nothing else."""
    path = fetch_gowalla(tmp_path / "data", address=server.address, lines=2)

    assert pq.read_table(path).to_pydict() == {"lon": [-97.7951395833, None], "lat": [30.2359091167, None]}
    assert sorted(file.name for file in path.parent.iterdir()) == ["gowalla.parquet", "gowalla.sha256"]


def test_a_file_that_was_cut_short_is_refused(server, tmp_path):
    """Nothing is kept of it."""
    with pytest.raises(InputError, match="should have 3 lines, and has 2"):
        fetch_gowalla(tmp_path, address=server.address, lines=3)

    assert list(tmp_path.iterdir()) == []


def test_another_file_than_the_first_is_refused(server, tmp_path):
    """A download that changed is refused, and the file that is there stays."""
    fetch_gowalla(tmp_path, address=server.address, lines=2)
    server.content = gzip.compress(CHECKINS.replace("30.2", "31.2").encode(), mtime=0)
    with pytest.raises(InputError, match=r"gowalla\.sha256 states another"):
        fetch_gowalla(tmp_path, address=server.address, lines=2)

    assert pq.read_table(tmp_path / "gowalla.parquet")["lat"][0].as_py() == 30.2359091167


def test_without_a_network_there_is_a_way_out(tmp_path):
    """The message says what works without one."""
    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        address = f"http://127.0.0.1:{closed_soon.getsockname()[1]}/checkins.txt.gz"
    with pytest.raises(InputError, match=r"cannot be reached.*every other data set works"):
        fetch_gowalla(tmp_path, address=address)
