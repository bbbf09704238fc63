"""The server under 200 clients at once, every answer compared with Python's."""

import asyncio
import itertools
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil

from benchmarks.queries import adaptive_grid, random_rects, uniform_grid
from benchmarks.row import Row

CLIENTS = 200
SECONDS = 60.0
WARM = 1 / 6  # of the time, after which memory should grow no more
QUESTIONS = 1_000  # different ones, on each release
BATCH, BATCHES = 100, 20  # rectangles; one request in so many is a batch


@dataclass
class Tally:
    """What clients saw: seconds that each answer took, and what was wrong."""

    taken: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def questions(name, synopsis, rects):
    """Requests, and the counts that they should be answered with."""
    counts = synopsis.count(rects).tolist()
    asked = []
    for index, rect in enumerate(rects.tolist()):
        if index % BATCHES:
            address = f"/v1/{name}/count?rect={','.join(map(repr, rect))}"
            asked.append((f"GET {address} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), counts[index : index + 1]))
        else:
            some = np.arange(index, index + BATCH) % len(rects)
            body = json.dumps({"rects": rects[some].tolist()})
            head = f"POST /v1/{name}/count HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            asked.append(((head + body).encode(), [counts[row] for row in some]))
    return asked


async def answer_to(request, reader, writer):
    """Status line and body of the answer to a request, on a connection that stays open."""
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next(line for line in head.lower().splitlines() if line.startswith("content-length:"))
    return head.splitlines()[0], await reader.readexactly(int(length.split(":")[1]))


async def client(place, page, asked, until, tally):
    """One client: the page, then question after question until the time is over."""
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        status, body = await answer_to(f"GET {page} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), reader, writer)
        if "200" not in status or not body.rstrip().endswith(b"</html>"):
            tally.wrong.append(status)
        for request, expected in asked:
            start = time.perf_counter()
            if start > until:
                break
            status, body = await answer_to(request, reader, writer)
            tally.taken.append(time.perf_counter() - start)
            if "200" not in status or [answer["estimate"] for answer in json.loads(body)["answers"]] != expected:
                tally.wrong.append(status)
    except (OSError, asyncio.IncompleteReadError) as error:
        tally.wrong.append(repr(error))
    finally:
        writer.close()


async def load(address, asked, server, seconds):
    """All clients at once; what they saw, and the memory of the server in MB early and late."""
    tally, until = Tally(), time.perf_counter() + seconds
    clients = []
    for number in range(CLIENTS):
        name = list(asked)[number % len(asked)]
        own = itertools.cycle(asked[name][number:] + asked[name][:number])
        clients.append(asyncio.create_task(client(urlsplit(address), f"/{name}/", own, until, tally)))
    await asyncio.sleep(WARM * seconds)
    early = server.memory_info().rss / 1e6
    await asyncio.gather(*clients)
    return tally, early, server.memory_info().rss / 1e6


def rows(seconds=SECONDS):
    """A grid and an adaptive grid, served to all clients by one process beside this one."""
    rng = np.random.default_rng(0)
    releases = {"grid": uniform_grid(rng), "adaptive": adaptive_grid(rng)}
    rects = random_rects(rng, 0.05)[:QUESTIONS]
    asked = {name: questions(name, synopsis, rects) for name, synopsis in releases.items()}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.dp.parquet" for name in releases]
        for file, synopsis in zip(files, releases.values(), strict=True):
            synopsis.save(file)
        command = [sys.executable, "-m", "hushgrid", "serve", *files, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                address = process.stdout.readline().strip()
                tally, early, late = asyncio.run(load(address, asked, psutil.Process(process.pid), seconds))
            finally:
                process.terminate()
    assert not tally.wrong, tally.wrong[:3]
    middle, slow, slowest = 1e3 * np.quantile(tally.taken, [0.5, 0.99, 1])
    name = f"server, {CLIENTS} clients for {seconds:g} s"
    return [
        Row(
            name=f"{name}: answers, all equal to Python's",
            measured=len(tally.taken) / seconds,
            target=200,
            unit="a second",
            note=f"no error in {len(tally.taken):,}; median {middle:.0f} ms, 99 % within {slow:.0f} ms, "
            f"all within {slowest:.0f} ms; one in {BATCHES} a batch of {BATCH}; clients on the same processors",
        ),
        Row(
            name=f"{name}: memory at the end",
            measured=late / early,
            target=1.05,
            unit=f"x that after {WARM * seconds:.0f} s",
            better="lower",
            note=f"{early:.0f} MB, then {late:.0f} MB",
        ),
    ]
