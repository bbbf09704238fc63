"""The server beside a thousand clients that stall: how long honest requests take meanwhile."""

import contextlib
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.queries import uniform_grid
from benchmarks.row import Row

STALLING = 1_000  # connections of the attack, opened again whenever the server ends one
SECONDS = 15.0  # of each attack: longer than the server waits for a head
PATIENCE = 5.0  # seconds, after which an honest request has failed
PAUSE = 0.05  # between two of them
ATTACKER, SAME_CLIENT, OTHER_CLIENT = "127.0.0.1", "127.0.0.1", "127.0.0.2"
QUESTION = b"GET /v1/grid/count?rect=-100,30,-90,40 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
ATTACKS = {  # what each says at first, and what it adds bit by bit
    "say nothing": (b"", b""),
    "send a head slowly": (b"GET /v1/ HTTP/1.1\r\nHost: x\r\n", b"a: b\r\n"),
    "send a body slowly": (b"POST /v1/grid/count HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n", b" "),
    "stay after an answer": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b""),
}


class Attack(threading.Thread):
    """As many connections as can be had from one address, held until `done` is set."""

    def __init__(self, place, first, more):
        super().__init__()
        self.place, self.first, self.more = place, first, more
        self.done, self.opened = threading.Event(), 0

    def run(self):
        """Open what is missing, say a little on each, and notice which have ended."""
        with selectors.DefaultSelector() as watched:
            while not self.done.is_set():
                self._open(watched)
                for key, _ in watched.select(timeout=0.2):
                    self._read(watched, key.fileobj)
                for key in list(watched.get_map().values()):
                    with contextlib.suppress(OSError):
                        key.fileobj.send(self.more)
            for key in list(watched.get_map().values()):
                key.fileobj.close()

    def _open(self, watched):
        for _ in range(min(STALLING - len(watched.get_map()), 200)):
            client = socket.socket()
            client.settimeout(1)
            try:
                client.bind((ATTACKER, 0))
                client.connect((self.place.hostname, self.place.port))
                client.sendall(self.first)
            except OSError:
                client.close()
                return
            client.setblocking(False)
            watched.register(client, selectors.EVENT_READ)
            self.opened += 1

    @staticmethod
    def _read(watched, client):
        try:
            ended = client.recv(65_536) == b""
        except OSError:
            ended = True
        if ended:
            watched.unregister(client)
            client.close()


def honest(place, source):
    """Seconds of an honest request on a connection of its own, infinite if it is not answered."""
    start = time.perf_counter()
    try:
        with socket.create_connection((place.hostname, place.port), PATIENCE, source_address=(source, 0)) as client:
            client.sendall(QUESTION)
            answer = b"".join(iter(lambda: client.recv(65_536), b""))
    except OSError:
        return np.inf
    return time.perf_counter() - start if answer.startswith(b"HTTP/1.1 200") else np.inf


def under(attack, place, seconds):
    """Seconds of honest requests while an attack goes on: from another address, and from the attacker's own."""
    taken = {OTHER_CLIENT: [], SAME_CLIENT: []}
    attack.start()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for source, times in taken.items():
            times.append(honest(place, source))
            time.sleep(PAUSE)
    attack.done.set()
    attack.join()
    return taken


def rows(seconds=SECONDS):
    """Each attack on a server of its own, which runs in a process beside this one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 3 * STALLING)), hard))
    made = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grid.dp.parquet"
        uniform_grid(np.random.default_rng(0)).save(file)
        command = [sys.executable, "-m", "hushgrid", "serve", file, "--port", "0"]
        for name, (first, more) in ATTACKS.items():
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                try:
                    place = urlsplit(process.stdout.readline().strip())
                    attack = Attack(place, first, more)
                    made += _rows(name, attack, under(attack, place, seconds))
                finally:
                    process.terminate()
    return made


def _rows(name, attack, taken):
    for source, times in taken.items():
        answered = np.array([seconds for seconds in times if np.isfinite(seconds)])
        whose = "another address" if source == OTHER_CLIENT else "the same address"
        middle, slowest = 1e3 * np.quantile(answered if len(answered) else [np.inf], [0.5, 1])
        yield Row(
            name=f"server, {STALLING:,} clients {name}: requests answered from {whose}",
            measured=100 * len(answered) / len(times),
            target=95,
            unit="%",
            note=f"of {len(times):,}; median {middle:.0f} ms, slowest {slowest:.0f} ms; "
            f"{attack.opened:,} connections were opened to stall",
        )
